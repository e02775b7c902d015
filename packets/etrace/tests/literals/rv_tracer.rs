//! rv_tracer payloads: all but the trap are from a capture of the unit.
//!
//! The length of a payload decides how wide its address is, so a shorter payload is another payload
//! and prefixes are not incomplete.

use crate::{branches, rv64};
use hartrace_bits::{BitReader, Tail};
use hartrace_etrace::{
    AddressReport, Branch, Ioptions, Layout, Params, ParamsError, Payload, Start, Support, Trap,
    Unit,
};

fn delta() -> Ioptions {
    Ioptions { delta_address: true, ..Ioptions::default() }
}

fn layout() -> Result<Layout, ParamsError> {
    Params { ecause_width_p: 64, ..rv64(0) }.layout(Unit::RvTracer)
}

/// An address that follows an indirect jump.
fn updiscon(address: i64) -> AddressReport {
    AddressReport { updiscon: true, ..AddressReport::new(address as u64) }
}

fn map(n: u8, map: u32, address: AddressReport) -> Payload {
    Payload::Branch(Branch { map: branches(n, map), address: Some(address) })
}

// format=3:2 subformat=3:2 ienable=0:1 encoder_mode=0:1 qual_status=0:2 ioptions=0x40:7
padded_test!(
    support,
    layout(),
    delta(),
    15,
    [0x0f, 0x40],
    Payload::Support(Support { ioptions: delta(), ..Support::default() })
);

// format=3:2 subformat=0:2 branch=1:1 privilege=3:2 address=0x80000e6e:41
padded_test!(
    start,
    layout(),
    delta(),
    48,
    [0x73, 0x37, 0x07, 0x00, 0x40, 0x00],
    Payload::Start(Start { branch: true, privilege: 3, address: 0x8000_0e6e, ..Start::default() })
);

// format=1:2 branches=2:5 branch_map=0:3 address=0x1c:9 notify=0:1 updiscon=1:1 irreport=1:1
padded_test!(branches_2, layout(), delta(), 22, [0x09, 0x70, 0x30], map(2, 0, updiscon(0x1c)));

// format=1:2 branches=3:5 branch_map=6:3 address=0:9 notify=0:1 updiscon=1:1 irreport=1:1
padded_test!(branches_3, layout(), delta(), 22, [0x0d, 0x03, 0x30], map(3, 0b110, updiscon(0)));

// format=1:2 branches=4:5 branch_map=0xd:7 address=0x19212:17 notify=0:1 updiscon=1:1
// irreport=1:1
padded_test!(
    branches_4_far_back,
    layout(),
    delta(),
    34,
    [0x91, 0x86, 0x84, 0x64, 0x03],
    map(4, 0b1101, updiscon(-0x6dee))
);

// format=1:2 branches=1:5 branch_map=0:1 address=0x1ff72:17 notify=0:1 updiscon=1:1 irreport=1:1
padded_test!(
    branch_back,
    layout(),
    delta(),
    28,
    [0x05, 0x72, 0xff, 0x0d],
    map(1, 0, updiscon(-0x8e))
);

// format=1:2 branches=1:5 branch_map=1:1 address=0x1f99a:17 notify=0:1 updiscon=0:1 irreport=0:1
padded_test!(
    branch_without_updiscon,
    layout(),
    delta(),
    28,
    [0x85, 0x9a, 0xf9, 0x01],
    map(1, 1, AddressReport::new(-0x666_i64 as u64))
);

// format=2:2 address=0x74:9 notify=0:1 updiscon=1:1 irreport=1:1
padded_test!(address, layout(), delta(), 14, [0xd2, 0x31], Payload::Address(updiscon(0x74)));

// format=2:2 address=0x7516:17 notify=0:1 updiscon=1:1 irreport=1:1
padded_test!(
    address_far,
    layout(),
    delta(),
    22,
    [0x5a, 0xd4, 0x31],
    Payload::Address(updiscon(0x7516))
);

// format=3:2 subformat=1:2 branch=0:1 privilege=3:2 ecause=7:64 interrupt=1:1 thaddr=1:1
// address=0x80000100:41 tval=0x1234:64
padded_test!(
    trap,
    layout(),
    delta(),
    178,
    [
        0xe7, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x02, 0x00, 0x00, 0x01, 0xd0,
        0x48, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00
    ],
    Payload::Trap(Trap {
        privilege: 3,
        ecause: 7,
        interrupt: true,
        thaddr: true,
        address: Some(0x8000_0100),
        tval: Some(0x1234),
        ..Trap::default()
    })
);

// format=2:2 address=0x18000000000000000:65 notify=1:1 updiscon=1:1 irreport=1:1
padded_test!(
    address_of_eight_bytes,
    layout(),
    delta(),
    70,
    [0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x3e],
    Payload::Address(AddressReport { notify: true, ..AddressReport::new(1 << 63) })
);

#[test]
fn an_address_has_eight_bytes_at_most() {
    // As address_of_eight_bytes, but padded by more than a byte.
    let mut bytes = [0; 20];
    bytes[..9].copy_from_slice(&[0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x3e]);
    let mut bits = BitReader::new(&bytes, Tail::Zero);
    let payload = Payload::parse(&layout().unwrap(), delta(), &mut bits).unwrap();
    let report = AddressReport { notify: true, ..AddressReport::new(1 << 63) };
    assert_eq!(payload, Payload::Address(report));
    assert_eq!(bits.position().0, 70);
}

/// The unit sends a full map as 31 branches, without an address; the standard's form is 0.
#[test]
fn full_map_as_31_branches() {
    let layout = layout().expect("legal");
    // format=1:2 branches=31:5 branch_map=1:31
    let bytes = [0xfd, 0x00, 0x00, 0x00, 0x00];
    let parsed = Payload::parse(&layout, delta(), &mut BitReader::new(&bytes, Tail::Zero));
    let full = Payload::Branch(Branch { map: branches(31, 1), address: None });
    assert_eq!(parsed, Ok(full));
}
