//! The conformance kit, decoded by the peer from its files alone: it reads the ELF file, the frames and the payloads
//! with code of its own.

use crate::convert;
use elf::ElfBytes;
use elf::endian::LittleEndian;
use hartrace_etrace::Params;
use hartrace_executions::scenario::{BUNDLED, Entry, Scenario};
use riscv_etrace::binary::elf::Elf;
use riscv_etrace::packet::payload::Payload;
use riscv_etrace::tracer::{self, item};
use riscv_etrace::types::stack::VecStack;
use std::collections::BTreeMap;

/// What the peer has no support for.
const UNIT: &str = "support packets of another unit";
const MODE: &str = "modes that it does not have";
const COMPAT: &str = "habits of a reference model";
const GAPS: &str = "damaged on purpose";

/// Scenarios with another result, and the entry of `docs/peer-differences.md` or `docs/deviations.md` that is about
/// them.
const DIFFERENT: [(&str, &str); 18] = [
    ("31st-branch-is-the-last-instruction", "P13"),
    ("31st-branch-then-trap", "P13"),
    ("branch-map-full", "P13"),
    ("c-jr-t0-is-a-return", "implicit returns: P22 to P28"),
    ("call-counter-limit", "P26"),
    ("coroutine-swap", "implicit returns: P22 to P28"),
    ("exception-at-the-first-traced-instruction", "P11"),
    ("interrupt-directly-after-a-branch", "P10"),
    ("jalr-from-x0", "P12"),
    ("jalr-from-x0-negative", "P12"),
    ("map-full-at-the-same-time-as-a-resync", "P13"),
    ("rv32-c-jal", "implicit returns: P22 to P28"),
    ("second-visit-then-context-packet", "P18"),
    ("sijump-lui", "P17"),
    ("stream-withdrawn-synchronisation", "E2: only our decoder withdraws it"),
    ("trap-at-the-target-of-a-jump", "P20"),
    ("trap-return-to-a-page-fault-as-charted", "E2: only our decoder withdraws it"),
    ("trap-return-to-an-address-seen-before", "P19"),
];

/// The peer returns the expected addresses wherever it supports what the scenario asks for.
#[test]
fn the_peer_decodes_the_kit() {
    let (mut equal, mut without, mut different) = (0, BTreeMap::new(), BTreeMap::new());
    for (name, text) in &BUNDLED {
        let scenario = Scenario::parse(name, text).expect("another test reads them");
        let run = scenario.run().expect("another test runs them");
        let Ok(entry) = scenario.entry(&run) else { continue };
        let summary = &entry.summary;
        let unsupported = ["ie", "bp", "jtc"];
        let reason = match () {
            () if summary.unit != "reference" => Some(UNIT),
            () if summary.modes.split('+').any(|mode| unsupported.contains(&mode)) => Some(MODE),
            () if summary.compat.is_some() => Some(COMPAT),
            () if summary.gaps > 0 => Some(GAPS),
            () => None,
        };
        if let Some(reason) = reason {
            *without.entry(reason).or_insert(0) += 1;
            continue;
        }
        match decode(&scenario.setup.encoder.params, &entry) {
            Ok(addresses) if addresses == entry.addresses => equal += 1,
            other => drop(different.insert(*name, format!("{other:x?}"))),
        }
    }
    println!("{equal} equal, {} different, without {without:?}", different.len());
    assert!(different.keys().eq(DIFFERENT.iter().map(|(name, _)| name)), "{different:#?}");
    assert!(equal >= 94, "only {equal} are equal");
}

fn decode(params: &Params, entry: &Entry) -> Result<Vec<u64>, String> {
    let file = ElfBytes::<LittleEndian>::minimal_parse(&entry.elf).map_err(|e| e.to_string())?;
    let program = Elf::<_, _>::new(&file).map_err(|e| e.to_string())?;
    let mut tracer: tracer::Tracer<_, VecStack> = tracer::builder()
        .with_binary(program)
        .with_params(&convert::parameters(params))
        .build()
        .map_err(|e| e.to_string())?;
    let mut addresses = Vec::new();
    let mut frames = convert::builder(params).decoder(&entry.capture);
    while frames.bytes_left() > 0 {
        let packet = frames.decode_encap_packet().map_err(|e| e.to_string())?;
        let Some(packet) = packet.into_normal() else { continue };
        let payload = packet.decode_payload().map_err(|e| e.to_string())?;
        let Payload::InstructionTrace(payload) = payload else {
            return Err("data trace".to_owned());
        };
        tracer.process_te_inst(&payload).map_err(|e| e.to_string())?;
        // The items may be endless.
        for item in tracer.by_ref().take(entry.addresses.len() + 8) {
            let item = item.map_err(|e| e.to_string())?;
            if matches!(item.kind(), item::Kind::Regular(_)) {
                addresses.push(item.pc());
            }
        }
    }
    Ok(addresses)
}
