//! The worked bytes of the notes: RV64 unless said otherwise, full address.

use crate::{branches, rv32, rv64};
use hartrace_etrace::{
    AddressReport, Branch, Ioptions, Layout, Params, ParamsError, Payload, Start, Support, Trap,
    Unit,
};

const FULL: Ioptions = Ioptions {
    implicit_return: false,
    implicit_exception: false,
    full_address: true,
    jump_target_cache: false,
    branch_prediction: false,
    sequentially_inferred_jump: false,
    delta_address: false,
    history_prediction: false,
};

fn layout(params: Params) -> Result<Layout, ParamsError> {
    let params = Params { context_width_p: 32, nocontext_p: false, ecause_width_p: 5, ..params };
    params.layout(Unit::Reference)
}

// format=3:2 subformat=3:2 ienable=1:1 encoder_mode=0:1 qual_status=0:2 ioptions=4:5 denable=0:1
// dloss=0:1 doptions=0:4
codec_test!(
    support_enabled,
    layout(rv64(0)),
    FULL,
    19,
    [0x1f, 0x04],
    Payload::Support(Support { ienable: true, ioptions: FULL, ..Support::default() })
);

// format=3:2 subformat=0:2 branch=1:1 privilege=3:2 context=0:32 address=0x20010522:32
codec_test!(
    start_rv32,
    layout(rv32(0)),
    FULL,
    71,
    [0x73, 0x00, 0x00, 0x00, 0x00, 0x91, 0x82, 0x00, 0x10],
    Payload::Start(Start { branch: true, privilege: 3, address: 0x2001_0522, ..Start::default() })
);

// format=2:2 address=0x8000010c:64 notify=0:1 updiscon=0:1 irreport=0:1
codec_test!(
    address_full,
    layout(rv64(0)),
    FULL,
    69,
    [0x32, 0x04, 0x00, 0x00, 0x02],
    Payload::Address(AddressReport::new(0x8000_010c))
);

// format=1:2 branches=1:5 branch_map=0:1 address=0x80000104:64 notify=0:1 updiscon=0:1
// irreport=0:1
codec_test!(
    branch_taken,
    layout(rv64(0)),
    FULL,
    75,
    [0x05, 0x04, 0x01, 0x00, 0x80, 0x00],
    Payload::Branch(Branch { map: branches(1, 0), address: Some(AddressReport::new(0x8000_0104)) })
);

// format=3:2 subformat=1:2 branch=1:1 privilege=3:2 context=0:32 ecause=2:5 interrupt=0:1
// thaddr=0:1 address=0x80000222:64 tval=0:64
codec_test!(
    trap_exception,
    layout(rv64(0)),
    FULL,
    174,
    [0x77, 0x00, 0x00, 0x00, 0x00, 0x81, 0x88, 0x00, 0x00, 0x20],
    Payload::Trap(Trap {
        branch: true,
        privilege: 3,
        ecause: 2,
        address: Some(0x8000_0222),
        tval: Some(0),
        ..Trap::default()
    })
);

// format=3:2 subformat=1:2 branch=1:1 privilege=3:2 context=0:32 ecause=7:5 interrupt=1:1
// thaddr=1:1 address=0x800001b0:64
codec_test!(
    trap_interrupt,
    layout(rv64(0)),
    FULL,
    110,
    [0x77, 0x00, 0x00, 0x00, 0x80, 0x33, 0x6c, 0x00, 0x00, 0x20],
    Payload::Trap(Trap {
        branch: true,
        privilege: 3,
        ecause: 7,
        interrupt: true,
        thaddr: true,
        address: Some(0x8000_01b0),
        ..Trap::default()
    })
);

// format=1:2 branches=0xf:5 branch_map=0x5555:15 address=0x800001a2:64 notify=0:1 updiscon=0:1
// irreport=0:1
codec_test!(
    branch_map_of_15,
    layout(rv64(0)),
    FULL,
    89,
    [0xbd, 0xaa, 0xaa, 0x68, 0x00, 0x00, 0x20],
    Payload::Branch(Branch {
        map: branches(15, 0x5555),
        address: Some(AddressReport::new(0x8000_01a2))
    })
);
