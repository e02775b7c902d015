//! Format 0: predicted-branch counts and jump target cache indices.

use crate::{branches, rv32, rv64};
use hartrace_bits::{BitReader, Tail};
use hartrace_etrace::{
    AddressReport, BranchCount, BranchFmt, Ioptions, JumpTarget, Layout, Params, ParamsError,
    ParseError, Payload, Unit,
};

fn predict() -> Ioptions {
    Ioptions { branch_prediction: true, ..Ioptions::default() }
}

fn cache() -> Ioptions {
    Ioptions { jump_target_cache: true, ..Ioptions::default() }
}

fn both() -> Ioptions {
    Ioptions { branch_prediction: true, jump_target_cache: true, ..Ioptions::default() }
}

fn layout(f0s_width_p: u8, params: Params) -> Result<Layout, ParamsError> {
    Params { f0s_width_p, ..params }.layout(Unit::Hartrace)
}

fn predictor() -> Params {
    Params { bpred_size_p: 6, ..rv32(1) }
}

fn with_cache() -> Params {
    Params { cache_size_p: 7, ..rv32(1) }
}

// format=0:2 branch_count=0x123:32 branch_fmt=0:2
codec_test!(
    count_without_address,
    layout(0, predictor()),
    predict(),
    36,
    [0x8c, 0x04],
    Payload::BranchCount(BranchCount { branch_count: 0x123, branch_fmt: BranchFmt::NoAddress })
);

// format=0:2 branch_count=0xfffffffe:32 branch_fmt=2:2 address=0x7ffffff8:31 notify=1:1
// updiscon=1:1 irreport=1:1
codec_test!(
    count_with_address,
    layout(0, predictor()),
    predict(),
    70,
    [0xf8, 0xff, 0xff, 0xff, 0x8b],
    Payload::BranchCount(BranchCount {
        branch_count: 0xffff_fffe,
        branch_fmt: BranchFmt::Address(AddressReport::new(0x7fff_fff8))
    })
);

// format=0:2 subformat=0:1 branch_count=0:32 branch_fmt=3:2 address=0x20:31 notify=0:1
// updiscon=1:1 irreport=0:1 irdepth=5:3
codec_test!(
    count_with_mispredicted_address,
    layout(1, Params { call_counter_size_p: 3, ..predictor() }),
    both(),
    74,
    [0x00, 0x00, 0x00, 0x00, 0x18, 0x04, 0x00, 0x00, 0xa0, 0xfe],
    Payload::BranchCount(BranchCount {
        branch_count: 0,
        branch_fmt: BranchFmt::MispredictedAddress(AddressReport {
            address: 0x20,
            notify: false,
            updiscon: true,
            irdepth: Some(5)
        })
    })
);

// format=0:2 subformat=0:2 branch_count=0xffffffff:32 branch_fmt=2:2 address=0x20000040:62
// notify=1:1 updiscon=1:1 irreport=1:1
codec_test!(
    count_saturated_rv64,
    layout(2, Params { bpred_size_p: 6, ..rv64(2) }),
    predict(),
    103,
    [0xf0, 0xff, 0xff, 0xff, 0x2f, 0x10, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0xf0],
    Payload::BranchCount(BranchCount {
        branch_count: u32::MAX,
        branch_fmt: BranchFmt::Address(AddressReport {
            notify: true,
            ..AddressReport::new(0x2000_0040)
        })
    })
);

// format=0:2 subformat=1:1 index=0x55:7 branches=0:5 irreport=0:1
codec_test!(
    index_without_map,
    layout(1, with_cache()),
    cache(),
    16,
    [0xac, 0x02],
    Payload::JumpTarget(JumpTarget { index: 0x55, map: branches(0, 0), irdepth: None })
);

// format=0:2 subformat=1:1 index=0x7f:7 branches=0:5 irreport=1:1 irdepth=3:4
codec_test!(
    index_without_map_with_depth,
    layout(1, Params { return_stack_size_p: 3, ..with_cache() }),
    both(),
    20,
    [0xfc, 0x83, 0x03],
    Payload::JumpTarget(JumpTarget { index: 0x7f, map: branches(0, 0), irdepth: Some(3) })
);

// format=0:2 index=1:7 branches=3:5 branch_map=5:3 irreport=1:1 irdepth=0xf:4
codec_test!(
    index_with_map,
    layout(0, Params { return_stack_size_p: 3, ..with_cache() }),
    cache(),
    22,
    [0x04, 0x46, 0xff],
    Payload::JumpTarget(JumpTarget { index: 1, map: branches(3, 0b101), irdepth: None })
);

// format=0:2 index=1:7 branches=4:5 branch_map=0xf:7 irreport=1:1 irdepth=9:4
codec_test!(
    index_with_filler_in_the_map,
    layout(0, Params { return_stack_size_p: 3, ..with_cache() }),
    cache(),
    26,
    [0x04, 0xc8, 0x63, 0xfe],
    Payload::JumpTarget(JumpTarget { index: 1, map: branches(4, 0b1111), irdepth: Some(9) })
);

// format=0:2 subformat=1:1 index=0x40:7 branches=0x1f:5 branch_map=0x40000001:31 irreport=1:1
codec_test!(
    index_with_31_branches,
    layout(1, with_cache()),
    cache(),
    47,
    [0x04, 0xfe, 0x00, 0x00, 0x00, 0xe0],
    Payload::JumpTarget(JumpTarget { index: 0x40, map: branches(31, 0x4000_0001), irdepth: None })
);

fn parse(layout: Result<Layout, ParamsError>, options: Ioptions, bytes: &[u8]) -> ParseError {
    let mut bits = BitReader::new(bytes, Tail::Sign);
    let err = Payload::parse(&layout.unwrap(), options, &mut bits).unwrap_err();
    assert_eq!(bits.position().0, 0, "the reader must not move");
    err
}

#[test]
fn format_0_needs_an_extension() {
    let none = Ioptions::default();
    assert_eq!(parse(layout(0, rv32(1)), none, &[0]), ParseError::NoExtension);
    assert_eq!(parse(layout(0, rv32(1)), both(), &[0]), ParseError::AmbiguousExtension);
}

#[test]
fn subformat_must_be_on() {
    // format=0:2 subformat=0:1, format=0:2 subformat=1:1, format=0:2 subformat=2:2
    assert_eq!(parse(layout(1, rv32(1)), cache(), &[0b000]), ParseError::Subformat(0));
    assert_eq!(parse(layout(1, rv32(1)), predict(), &[0b100]), ParseError::Subformat(1));
    assert_eq!(parse(layout(2, rv32(1)), both(), &[0b01000]), ParseError::Subformat(2));
}

#[test]
fn branch_fmt_1_is_reserved() {
    // format=0:2 branch_count=0:32 branch_fmt=1:2
    let bytes = [0, 0, 0, 0, 0b0100];
    assert_eq!(parse(layout(0, predictor()), predict(), &bytes), ParseError::BranchFmt(1));
}
