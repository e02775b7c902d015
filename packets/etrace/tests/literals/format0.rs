//! Format 0: predicted-branch counts and jump target cache indices.

use crate::{branches, rv32, rv64};
use hartrace_bits::{BitReader, Tail};
use hartrace_etrace::{
    AddressReport, BranchCount, BranchFmt, History, Ioptions, JumpTarget, Layout, Params,
    ParamsError, ParseError, Payload, Records, Unit,
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

fn history() -> Ioptions {
    Ioptions { history_prediction: true, ..Ioptions::default() }
}

fn records(bits: &str) -> Records {
    let digits = bits.chars().filter(|c| !c.is_whitespace());
    Records::new(digits.map(|c| c == '1')).unwrap()
}

// format=0:2 stop=1:1 half_words=18:20 records: a wrong prediction after one that was right, a run
// without a wrong one
codec_test!(
    history_that_stops,
    layout(0, Params { hpred_size_p: 5, ..rv64(1) }),
    history(),
    243,
    [0x94, 0x00, 0x00, 0xff],
    Payload::History(History { stop: Some(18), records: records("01 1") })
);

// format=0:2 stop=0:1 records: a wrong prediction after one that was right, a jump that was
// predicted wrongly at once, no place; near address=0x10008
codec_test!(
    history_with_an_address,
    layout(0, Params { hpred_size_p: 5, ..rv64(1) }),
    history(),
    243,
    [0x10, 0x10, 0x00, 0x02],
    Payload::History(History { stop: None, records: records("01 00 0  0 0001000000000000100") })
);

// format=0:2 subformat=2:2 stop=0:1 records: all ones
codec_test!(
    history_with_a_subformat,
    layout(2, Params { hpred_size_p: 9, bpred_size_p: 6, ..rv64(1) }),
    Ioptions { branch_prediction: true, ..history() },
    245,
    [0xe8],
    Payload::History(History { stop: None, records: records("1") })
);

#[test]
fn history_needs_a_subformat_of_its_own() {
    for (f0s_width_p, bpred_size_p, good) in
        [(0, 0, true), (1, 0, false), (2, 0, true), (0, 6, false), (1, 6, false), (2, 6, true)]
    {
        let params = Params { hpred_size_p: 5, bpred_size_p, ..rv64(1) };
        let refused = layout(f0s_width_p, params).err();
        let expected = (!good).then_some(ParamsError::NoHistorySubformat);
        assert_eq!(refused, expected, "{f0s_width_p} {bpred_size_p}");
    }
    let params = Params { hpred_size_p: 5, ..rv64(1) };
    assert_eq!(params.layout(Unit::RvTracer).err(), Some(ParamsError::NoHistory));
}

/// Records continue with copies of the last bit, and more of them than fit are refused.
#[test]
fn records_are_a_number_with_a_sign() {
    let some = records("0110 1");
    assert_eq!([some.get(0, 4), some.get(1, 3), some.get(60, 8)], [0b0110, 0b011, 0xff]);
    assert_eq!((some.get(300, 5), some.bit(1000), some.to_string()), (31, true, "01101".into()));
    assert_eq!(records("0110 1111"), some);
    assert_eq!(Records::new([]), Some(Records::EMPTY));
    assert!(Records::new([true; 240]).is_some());
    assert_eq!(Records::new([true; 241]), None);
}
