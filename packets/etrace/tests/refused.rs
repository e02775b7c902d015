//! Instruction payloads that emit refuses, each with its own error.

use hartrace_bits::{BitWriter, mask};
use hartrace_etrace::{
    AddressReport, Branch, BranchCount, BranchFmt, BranchMap, Context, DataSupport, EmitError,
    FieldName, Ioptions, JumpTarget, Params, Payload, Start, Support, Trap, Unit,
};

fn emit(payload: Payload, params: Params, unit: Unit, options: Ioptions) -> Result<(), EmitError> {
    let layout = params.layout(unit).unwrap();
    payload.emit(&layout, options, &mut BitWriter::new(&mut [0; 64]))
}

/// With the default parameters: 32-bit addresses without their lowest bit, no time, no context.
fn small(payload: Payload) -> Result<(), EmitError> {
    emit(payload, Params::default(), Unit::Reference, Ioptions::default())
}

fn branch(branches: u8, address: Option<AddressReport>) -> Payload {
    Payload::Branch(Branch { map: BranchMap::new(branches, 0).unwrap(), address })
}

#[test]
fn values_wider_than_their_field() {
    use FieldName as N;
    let address = |address| Payload::Address(AddressReport::new(address));
    assert_eq!(small(address(mask(31))), Ok(()));
    let depth = AddressReport { irdepth: Some(1), ..AddressReport::new(0) };
    let privilege = Context { privilege: 4, ..Context::default() };
    let trap = Trap { address: Some(0), tval: Some(1 << 32), ..Trap::default() };
    let cases = [
        (address(1 << 31), N::Address),
        (Payload::Address(depth), N::Irdepth),
        (Payload::Context(privilege), N::Privilege),
        (Payload::Start(Start { time: 1, ..Start::default() }), N::Time),
        (Payload::Start(Start { context: 1, ..Start::default() }), N::Context),
        (Payload::Trap(trap), N::Tval),
        (Payload::Trap(Trap { ecause: 16, tval: Some(0), ..trap }), N::Ecause),
        (Payload::Support(Support { encoder_mode: 2, ..Support::default() }), N::EncoderMode),
    ];
    for (payload, field) in cases {
        assert_eq!(small(payload), Err(EmitError::TooWide(field)), "{payload}");
    }
}

#[test]
fn modes_and_fields_the_unit_does_not_have() {
    let options = Ioptions { sequentially_inferred_jump: true, ..Ioptions::default() };
    let support = Support { ioptions: options, ..Support::default() };
    let try_unit =
        |support, unit| emit(Payload::Support(support), Params::default(), unit, options);
    let too_wide = Err(EmitError::TooWide(FieldName::Ioptions));
    assert_eq!(try_unit(support, Unit::Reference), too_wide);
    assert_eq!(try_unit(support, Unit::Hartrace), Ok(()));
    assert_eq!(try_unit(support, Unit::RvTracer), Ok(()));
    let data = DataSupport { denable: true, ..DataSupport::default() };
    let too_wide = Err(EmitError::TooWide(FieldName::Denable));
    assert_eq!(try_unit(Support { data, ..support }, Unit::RvTracer), too_wide);
}

#[test]
fn branches_decide_about_the_address() {
    let address = Some(AddressReport::new(0));
    assert_eq!(small(branch(0, address)), Err(EmitError::Branches(0)));
    assert_eq!(small(branch(1, address)), Ok(()));
    assert_eq!(small(branch(31, address)), Ok(()));
    assert_eq!(small(branch(30, None)), Err(EmitError::Branches(30)));
    assert_eq!(small(branch(0, None)), Err(EmitError::Branches(0)));
    assert_eq!(small(branch(31, None)), Ok(()));
}

#[test]
fn trap_fields_follow_the_flags() {
    use EmitError::{Missing, Unexpected};
    let exception = Trap { address: Some(0), tval: Some(0), ..Trap::default() };
    let interrupt = Trap { interrupt: true, tval: None, ..exception };
    let try_trap = |trap| small(Payload::Trap(trap));
    assert_eq!(try_trap(exception), Ok(()));
    assert_eq!(try_trap(interrupt), Ok(()));
    let address = FieldName::Address;
    let tval = FieldName::Tval;
    assert_eq!(try_trap(Trap { tval: None, ..exception }), Err(Missing(tval)));
    assert_eq!(try_trap(Trap { tval: Some(0), ..interrupt }), Err(Unexpected(tval)));
    assert_eq!(try_trap(Trap { address: None, ..exception }), Err(Missing(address)));
    let implicit = Ioptions { implicit_exception: true, ..Ioptions::default() };
    let handler = Trap { thaddr: true, ..exception };
    let result = emit(Payload::Trap(handler), Params::default(), Unit::Reference, implicit);
    assert_eq!(result, Err(Unexpected(address)));
    let rv_tracer = emit(Payload::Trap(interrupt), Params::default(), Unit::RvTracer, implicit);
    assert_eq!(rv_tracer, Err(Missing(tval)));
}

#[test]
fn format_0_needs_its_extension() {
    let count = BranchCount { branch_count: 0, branch_fmt: BranchFmt::NoAddress };
    let count = Payload::BranchCount(count);
    let index = JumpTarget { index: 0, map: BranchMap::EMPTY, irdepth: None };
    let index = Payload::JumpTarget(index);
    let none = Ioptions::default();
    let predict = Ioptions { branch_prediction: true, ..none };
    let cache = Ioptions { jump_target_cache: true, ..none };
    let both = Ioptions { branch_prediction: true, ..cache };
    for f0s_width_p in [0, 1] {
        let params = Params { f0s_width_p, ..Params::default() };
        let try_with = |payload, options| emit(payload, params, Unit::Reference, options);
        for (payload, right, wrong) in [(count, predict, cache), (index, cache, predict)] {
            assert_eq!(try_with(payload, right), Ok(()));
            assert_eq!(try_with(payload, wrong), Err(EmitError::NoExtension));
            assert_eq!(try_with(payload, none), Err(EmitError::NoExtension));
            let ambiguous = f0s_width_p == 0;
            let expected = if ambiguous { Err(EmitError::AmbiguousExtension) } else { Ok(()) };
            assert_eq!(try_with(payload, both), expected);
        }
    }
}

#[test]
fn rv_tracer_addresses_have_a_width_too() {
    let params = Params { iaddress_width_p: 32, ..Params::default() };
    let try_with = |payload| emit(payload, params, Unit::RvTracer, Ioptions::default());
    let start = |address| Payload::Start(Start { address, ..Start::default() });
    let difference = |n: i64| Payload::Address(AddressReport::new(n as u64));
    let too_wide = Err(EmitError::TooWide(FieldName::Address));
    assert_eq!(try_with(start(mask(32))), Ok(()));
    assert_eq!(try_with(start(1 << 32)), too_wide);
    assert_eq!(try_with(difference(-(1 << 32))), Ok(()));
    assert_eq!(try_with(difference(-(1 << 32) - 1)), too_wide);
    assert_eq!(try_with(difference((1 << 32) - 1)), Ok(()));
    assert_eq!(try_with(difference(1 << 32)), too_wide);
}
