//! Formats 1 and 2: branch maps and addresses.

use crate::{branches, rv32, rv64};
use hartrace_bits::{BitReader, Tail};
use hartrace_etrace::{
    AddressReport, Branch, Ioptions, Layout, Params, ParamsError, Payload, Unit,
};

const DELTA: Ioptions = Ioptions {
    implicit_return: false,
    implicit_exception: false,
    full_address: false,
    jump_target_cache: false,
    branch_prediction: false,
    sequentially_inferred_jump: false,
    delta_address: false,
    history_prediction: false,
};

fn layout(params: Params) -> Result<Layout, ParamsError> {
    params.layout(Unit::Reference)
}

fn with_depth(params: Params) -> Result<Layout, ParamsError> {
    Params { call_counter_size_p: 2, ..params }.layout(Unit::Hartrace)
}

fn map(n: u8, map: u32, address: AddressReport) -> Payload {
    Payload::Branch(Branch { map: branches(n, map), address: Some(address) })
}

// format=1:2 branches=0:5 branch_map=0x2aaaaaaa:31
codec_test!(
    full_map_without_address,
    layout(rv32(1)),
    DELTA,
    38,
    [0x01, 0x55, 0x55, 0x55, 0x15],
    Payload::Branch(Branch { map: branches(31, 0x2aaa_aaaa), address: None })
);

// format=1:2 branches=0:5 branch_map=0x7fffffff:31
codec_test!(
    full_map_none_taken,
    layout(rv64(0)),
    DELTA,
    38,
    [0x81],
    Payload::Branch(Branch { map: branches(31, 0x7fff_ffff), address: None })
);

// format=1:2 branches=0x1f:5 branch_map=0x7ffffffe:31 address=0x12:31 notify=0:1 updiscon=0:1
// irreport=0:1
codec_test!(
    full_map_with_address,
    layout(rv32(1)),
    DELTA,
    72,
    [0x7d, 0xff, 0xff, 0xff, 0xbf, 0x04],
    map(31, 0x7fff_fffe, AddressReport::new(0x12))
);

// format=1:2 branches=1:5 branch_map=1:1 address=0x3ffffffd:30 notify=1:1 updiscon=1:1
// irreport=1:1
codec_test!(
    one_branch_backwards_lsb_2,
    layout(rv32(2)),
    DELTA,
    41,
    [0x85, 0xfd],
    map(1, 1, AddressReport::new(0x3fff_fffd))
);

// format=1:2 branches=2:5 branch_map=2:3 address=0x40:31 notify=0:1 updiscon=0:1 irreport=0:1
codec_test!(
    two_branches_round_up_to_three_bits,
    layout(rv32(1)),
    DELTA,
    44,
    [0x09, 0x01, 0x01],
    map(2, 0b10, AddressReport::new(0x40))
);

// format=1:2 branches=7:5 branch_map=0x55:7 address=0x40:63 notify=0:1 updiscon=1:1 irreport=1:1
codec_test!(
    seven_branches_updiscon,
    layout(rv64(1)),
    DELTA,
    80,
    [0x9d, 0x2a, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc0],
    map(7, 0x55, AddressReport { updiscon: true, ..AddressReport::new(0x40) })
);

// format=1:2 branches=0x10:5 branch_map=0x8001:31 address=0x7fffffffffffffff:63 notify=1:1
// updiscon=1:1 irreport=0:1 irdepth=2:2
codec_test!(
    sixteen_branches_with_depth,
    with_depth(rv64(1)),
    DELTA,
    106,
    [0xc1, 0x00, 0x40, 0x00, 0xc0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xfe],
    map(16, 0x8001, AddressReport { irdepth: Some(2), ..AddressReport::new((1 << 63) - 1) })
);

// format=2:2 address=0x3f:63 notify=0:1 updiscon=0:1 irreport=0:1
codec_test!(
    address_forwards,
    layout(rv64(1)),
    DELTA,
    68,
    [0xfe, 0x00],
    Payload::Address(AddressReport::new(0x3f))
);

// format=2:2 address=0x3fffffffffffffe0:62 notify=1:1 updiscon=1:1 irreport=1:1
codec_test!(
    address_backwards,
    layout(rv64(2)),
    DELTA,
    67,
    [0x82],
    Payload::Address(AddressReport::new(0x3fff_ffff_ffff_ffe0))
);

// format=2:2 address=0x8000000000000000:64 notify=1:1 updiscon=1:1 irreport=1:1
codec_test!(
    address_of_64_bits,
    layout(rv64(0)),
    DELTA,
    69,
    [0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xfe],
    Payload::Address(AddressReport::new(1 << 63))
);

// format=2:2 address=0x10:31 notify=1:1 updiscon=1:1 irreport=1:1
codec_test!(
    notify,
    layout(rv32(1)),
    DELTA,
    36,
    [0x42, 0x00, 0x00, 0x00, 0xfe],
    Payload::Address(AddressReport { notify: true, ..AddressReport::new(0x10) })
);

// format=2:2 address=0x10:31 notify=0:1 updiscon=1:1 irreport=1:1
codec_test!(
    updiscon,
    layout(rv32(1)),
    DELTA,
    36,
    [0x42, 0x00, 0x00, 0x00, 0xfc],
    Payload::Address(AddressReport { updiscon: true, ..AddressReport::new(0x10) })
);

// format=2:2 address=0x10:31 notify=0:1 updiscon=0:1 irreport=1:1 irdepth=1:2
codec_test!(
    irreport,
    with_depth(rv32(1)),
    DELTA,
    38,
    [0x42, 0x00, 0x00, 0x00, 0x18],
    Payload::Address(AddressReport { irdepth: Some(1), ..AddressReport::new(0x10) })
);

// format=2:2 address=0x10:31 notify=0:1 updiscon=0:1 irreport=1:1
codec_test!(
    irreport_without_depth_bits,
    layout(rv32(1)),
    DELTA,
    36,
    [0x42, 0x00, 0x00, 0x00, 0xf8],
    Payload::Address(AddressReport { irdepth: Some(0), ..AddressReport::new(0x10) })
);

// format=2:2 address=0x10:31 notify=0:1 updiscon=1:1 irreport=1:1 irdepth=3:2
codec_test!(
    unused_depth_repeats_updiscon,
    with_depth(rv32(1)),
    DELTA,
    38,
    [0x42, 0x00, 0x00, 0x00, 0xfc],
    Payload::Address(AddressReport { updiscon: true, ..AddressReport::new(0x10) })
);

// format=2:2 address=0x40000000:31 notify=0:1 updiscon=1:1 irreport=0:1 irdepth=3:2
codec_test!(
    all_flags_backwards,
    with_depth(rv32(1)),
    DELTA,
    38,
    [0x02, 0x00, 0x00, 0x00, 0xf5],
    Payload::Address(AddressReport {
        address: 0x4000_0000,
        notify: true,
        updiscon: true,
        irdepth: Some(3)
    })
);

#[test]
fn filler_of_the_map_is_ignored() {
    // format=1:2 branches=2:5 branch_map=0b111:3 address=0x40:31, of which the map's top bit is
    // filler: as in two_branches_round_up_to_three_bits but 1.
    let bytes = [0x89, 0x03, 0x01, 0x00];
    let mut bits = BitReader::new(&bytes, Tail::Sign);
    let payload = Payload::parse(&layout(rv32(1)).unwrap(), DELTA, &mut bits).unwrap();
    assert_eq!(payload, map(2, 0b11, AddressReport::new(0x40)));
}

#[test]
fn unused_depth_is_ignored() {
    // format=2:2 address=0x10:31 notify=0:1 updiscon=0:1 irreport=0:1 irdepth=3:2
    let bytes = [0x42, 0, 0, 0, 0xf0];
    let mut bits = BitReader::new(&bytes, Tail::Sign);
    let payload = Payload::parse(&with_depth(rv32(1)).unwrap(), DELTA, &mut bits).unwrap();
    assert_eq!(
        payload,
        Payload::Address(AddressReport { updiscon: false, ..AddressReport::new(0x10) })
    );
}
