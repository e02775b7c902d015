//! Registers of a bridge to ATB.

use super::{component, versions};
use crate::registers::table::{Enable, Input, Kind, Register, Table};

const DOC: &str = "\
The bridge is in use from the moment that `trAtbBridgeEnable` is set until it is cleared and everything \
has left. While it is in use, writes of other fields are ignored.";

/// The registers of a bridge to ATB.
///
/// Spec: Trace Control Interface 1.0, "ATB Bridge".
#[must_use]
pub fn atb_bridge() -> Table {
    let input = |name, width, doc| Input { name, width, doc };
    let control = Register::new("trAtbBridgeControl", 0x000, "Switches the bridge on and off.")
        .field((0, 0), "trAtbBridgeActive", Kind::Active, "Switches the bridge on. While this reads as 0, the bridge is in reset, and so are its other fields: they cannot be written. A write that sets this sets nothing else.")
        .field((1, 1), "trAtbBridgeEnable", Kind::Enable(Enable::Flushed { stop: None, refuse: None }), "The bridge is in use. Clearing it flushes what waits.")
        .field((3, 3), "trAtbBridgeEmpty", Kind::Empty, "Everything has left.")
        .field((14, 8), "trAtbBridgeID", Kind::stored(7), "ATID of the trace. ATB reserves 0x00 and 0x70 to 0x7f; they are not refused.");
    let names = ["trAtbBridgeVerMajor", "trAtbBridgeVerMinor", "trAtbBridgeCompType"];
    let implementation = Register::new("trAtbBridgeImpl", 0x004, "What this is.");
    let implementation = versions(implementation, names, component::ATB_BRIDGE).field(
        (14, 12),
        "trAtbBridgeAsyncFreq",
        Kind::Fixed(0),
        "How often alignment packets are put in: never.",
    );
    Table {
        title: "ATB bridge",
        name: "atb_bridge",
        doc: DOC,
        inputs: vec![
            input("empty", 1, "everything has left"),
            input("flushed", 1, "the flush is done"),
        ],
        registers: vec![control, implementation],
    }
}
