//! Format 3: synchronisation, traps, context and support.

use crate::{rv32, rv64};
use hartrace_etrace::{
    Context, DataSupport, Ioptions, Layout, Params, ParamsError, Payload, QualStatus, Start,
    Support, Trap, Unit,
};

fn none() -> Ioptions {
    Ioptions::default()
}

fn implicit() -> Ioptions {
    Ioptions { implicit_exception: true, ..Ioptions::default() }
}

fn layout(params: Params) -> Result<Layout, ParamsError> {
    params.layout(Unit::Reference)
}

fn timed(params: Params) -> Result<Layout, ParamsError> {
    let params = Params { time_width_p: 16, notime_p: false, ..params };
    Params { context_width_p: 8, nocontext_p: false, ..params }.layout(Unit::Hartrace)
}

fn support(unit: Unit) -> Result<Layout, ParamsError> {
    rv64(1).layout(unit)
}

// format=3:2 subformat=0:2 branch=0:1 privilege=0:2 address=0x40000000:31
codec_test!(
    start_small,
    layout(rv32(1)),
    none(),
    38,
    [0x03, 0x00, 0x00, 0x00, 0xe0],
    Payload::Start(Start { address: 0x4000_0000, ..Start::default() })
);

// format=3:2 subformat=0:2 branch=1:1 privilege=1:2 time=0xbeef:16 context=0xa5:8
// address=0x20000100:62
codec_test!(
    start_with_time_and_context,
    timed(rv64(2)),
    none(),
    93,
    [0xb3, 0x77, 0xdf, 0x52, 0x80, 0x00, 0x00, 0x10],
    Payload::Start(Start {
        branch: true,
        privilege: 1,
        time: 0xbeef,
        context: 0xa5,
        address: 0x2000_0100
    })
);

// format=3:2 subformat=0:2 branch=1:1 privilege=5:3 time=0xffffffffffffffff:64
// address=0x7fffffff:31
codec_test!(
    start_wide_privilege_time_only,
    Params { privilege_width_p: 3, time_width_p: 64, notime_p: false, ..rv32(1) }
        .layout(Unit::Reference),
    none(),
    103,
    [0xb3],
    Payload::Start(Start {
        branch: true,
        privilege: 5,
        time: u64::MAX,
        context: 0,
        address: 0x7fff_ffff
    })
);

// format=3:2 subformat=0:2 branch=0:1 privilege=3:2 context=0x8000000000000001:64
// address=0x40000001:63
codec_test!(
    start_context_of_64_bits,
    Params { context_width_p: 64, nocontext_p: false, ..rv64(1) }.layout(Unit::Reference),
    none(),
    134,
    [0xe3, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc0, 0x00, 0x00, 0x00, 0x20],
    Payload::Start(Start {
        branch: false,
        privilege: 3,
        time: 0,
        context: 0x8000_0000_0000_0001,
        address: 0x4000_0001
    })
);

// format=3:2 subformat=1:2 branch=1:1 privilege=3:2 time=1:16 context=2:8 ecause=0xf:4
// interrupt=0:1 thaddr=1:1 address=0x40000080:31 tval=0x80001234:32
codec_test!(
    trap_exception_rv32,
    timed(rv32(1)),
    none(),
    100,
    [0xf7, 0x00, 0x00, 0x81, 0x17, 0x10, 0x00, 0x00, 0x48, 0x23, 0x01, 0x00, 0xf8],
    Payload::Trap(Trap {
        branch: true,
        privilege: 3,
        time: 1,
        context: 2,
        ecause: 0xf,
        interrupt: false,
        thaddr: true,
        address: Some(0x4000_0080),
        tval: Some(0x8000_1234)
    })
);

// format=3:2 subformat=1:2 branch=1:1 privilege=0:2 ecause=0xb:4 interrupt=1:1 thaddr=0:1
// address=0x20000001:30
codec_test!(
    trap_interrupt_rv32,
    layout(rv32(2)),
    none(),
    43,
    [0x97, 0x2d, 0x00, 0x00, 0x00, 0xfc],
    Payload::Trap(Trap {
        branch: true,
        ecause: 0xb,
        interrupt: true,
        address: Some(0x2000_0001),
        ..Trap::default()
    })
);

// format=3:2 subformat=1:2 branch=1:1 privilege=3:2 ecause=0xd:4 interrupt=0:1 thaddr=1:1
// tval=0xffffffffffffff00:64
codec_test!(
    trap_implicit_exception,
    layout(rv64(1)),
    implicit(),
    77,
    [0xf7, 0x16, 0xe0],
    Payload::Trap(Trap {
        branch: true,
        privilege: 3,
        ecause: 0xd,
        thaddr: true,
        tval: Some(!0xff),
        ..Trap::default()
    })
);

// format=3:2 subformat=1:2 branch=1:1 privilege=3:2 ecause=7:4 interrupt=1:1 thaddr=1:1
codec_test!(
    trap_implicit_interrupt,
    layout(rv64(1)),
    implicit(),
    13,
    [0xf7, 0xfb],
    Payload::Trap(Trap {
        branch: true,
        privilege: 3,
        ecause: 7,
        interrupt: true,
        thaddr: true,
        ..Trap::default()
    })
);

// format=3:2 subformat=1:2 branch=0:1 privilege=0:2 ecause=2:4 interrupt=0:1 thaddr=0:1
// address=0x8000:63 tval=0:64
codec_test!(
    trap_implicit_but_no_handler,
    layout(rv64(1)),
    implicit(),
    140,
    [0x07, 0x01, 0x00, 0x10],
    Payload::Trap(Trap { ecause: 2, address: Some(0x8000), tval: Some(0), ..Trap::default() })
);

// format=3:2 subformat=2:2 privilege=1:2
codec_test!(
    context_alone,
    layout(rv32(1)),
    none(),
    6,
    [0x1b],
    Payload::Context(Context { privilege: 1, time: 0, context: 0 })
);

// format=3:2 subformat=2:2 privilege=3:2 time=0x8000:16 context=0x7f:8
codec_test!(
    context_with_time,
    timed(rv32(1)),
    none(),
    30,
    [0x3b, 0x00, 0xe0, 0x1f],
    Payload::Context(Context { privilege: 3, time: 0x8000, context: 0x7f })
);

// format=3:2 subformat=3:2 ienable=1:1 encoder_mode=0:1 qual_status=2:2 ioptions=0x13:5
// denable=1:1 dloss=0:1 doptions=9:4
codec_test!(
    support_reference,
    support(Unit::Reference),
    none(),
    19,
    [0x9f, 0xb3, 0xfc],
    Payload::Support(Support {
        ienable: true,
        encoder_mode: 0,
        qual_status: QualStatus::TraceLost,
        ioptions: Ioptions {
            implicit_return: true,
            implicit_exception: true,
            branch_prediction: true,
            ..none()
        },
        data: DataSupport { denable: true, dloss: false, doptions: 9 }
    })
);

// format=3:2 subformat=3:2 ienable=0:1 encoder_mode=1:1 qual_status=1:2 ioptions=0xc:5
// denable=0:1 dloss=1:1 doptions=6:4
codec_test!(
    support_reference_other_bits,
    support(Unit::Reference),
    none(),
    19,
    [0x6f, 0x4c, 0x03],
    Payload::Support(Support {
        ienable: false,
        encoder_mode: 1,
        qual_status: QualStatus::EndedRep,
        ioptions: Ioptions { full_address: true, jump_target_cache: true, ..none() },
        data: DataSupport { denable: false, dloss: true, doptions: 6 }
    })
);

// format=3:2 subformat=3:2 ienable=1:1 encoder_mode=0:1 qual_status=3:2 ioptions=0x21:6
// denable=0:1 dloss=0:1 doptions=0:4
codec_test!(
    support_hartrace,
    support(Unit::Hartrace),
    none(),
    20,
    [0xdf, 0x21],
    Payload::Support(Support {
        ienable: true,
        encoder_mode: 0,
        qual_status: QualStatus::EndedNtr,
        ioptions: Ioptions { implicit_return: true, sequentially_inferred_jump: true, ..none() },
        data: DataSupport::default()
    })
);

// format=3:2 subformat=3:2 ienable=1:1 encoder_mode=0:1 qual_status=0:2 ioptions=0x2a:7
codec_test!(
    support_rv_tracer,
    support(Unit::RvTracer),
    none(),
    15,
    [0x1f, 0x2a],
    Payload::Support(Support {
        ienable: true,
        ioptions: Ioptions {
            branch_prediction: true,
            sequentially_inferred_jump: true,
            full_address: true,
            ..none()
        },
        ..Support::default()
    })
);
