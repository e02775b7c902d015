//! One small case for each difference.
//!
//! Streams come from the golden encoder (or the peer's generator) and the golden decoder follows
//! them exactly; the predicates of the random tests must recognise each case.

use crate::difference::{P, Tally, Verdict};
use crate::script::Do::{Fault, Interrupt, Run};
use crate::script::{Do, JUMP, MRET, NOP, RET, bne, jal, jalr, lui, script};
use crate::{convert, frames, generator, golden, packets, tracer};
use hartrace_etrace::ingress::{CType, Privilege};
use hartrace_etrace::{
    AddressReport, BranchCount, BranchFmt, BranchMap, Ioptions, JumpTarget, Mode, Params, Payload,
    Start, Support, Trap, Unit,
};
use hartrace_tests::case::Case;
use riscv_etrace::generator::Generator;
use riscv_etrace::packet::unit::ReferenceIOptions;

/// Runs all cases.
pub(crate) fn all() -> Tally {
    let mut tally = Tally::new("directed");
    let mut expect = |p: P, verdict: Verdict| {
        let verdict = match verdict {
            Verdict::Known(other) if other == p => verdict,
            other => Verdict::Unknown(format!("{p} expected: {other:?}")),
        };
        tally.add(p as u64, verdict);
    };
    payloads(&mut expect);
    expect(P::Modes, modes());
    expect(P::EcauseWidth, ecause_width());
    frames::directed(&mut expect);
    for (p, case) in traces().into_iter().chain(returns()) {
        expect(p, tracer::verdict(&case));
    }
    expect(P::NoEnd, no_end());
    for (p, case, resync) in generated() {
        let resyncs: Vec<bool> = (0..case.rows.len()).map(|row| Some(row) == resync).collect();
        expect(p, generator::verdict(&case, &resyncs));
    }
    tally
}

/// The bytes of a payload.
pub(crate) fn bytes(params: &Params, options: Ioptions, payload: &Payload) -> Vec<u8> {
    let layout = params.layout(Unit::Reference).expect("legal parameters");
    let mut buffer = [0; 64];
    let mut out = hartrace_bits::BitWriter::new(&mut buffer);
    payload.emit(&layout, options, &mut out).expect("it fits");
    let len = out.finish_compressed();
    buffer[..len].to_vec()
}

fn payloads(expect: &mut impl FnMut(P, Verdict)) {
    let count = Payload::BranchCount(BranchCount {
        branch_count: 5,
        branch_fmt: BranchFmt::Address(AddressReport::new(0x10)),
    });
    let wide = Params { f0s_width_p: 1, bpred_size_p: 4, cache_size_p: 4, ..Params::default() };
    let options = Ioptions { branch_prediction: true, ..Ioptions::default() };
    expect(P::NoSubformat, packets::written(&wide, &count, &bytes(&wide, options, &count)));

    let index = Payload::JumpTarget(JumpTarget { index: 3, map: BranchMap::EMPTY, irdepth: None });
    let cache = Params { cache_size_p: 4, ..Params::default() };
    let options = Ioptions { jump_target_cache: true, ..Ioptions::default() };
    expect(P::OnlyCache, packets::read(&cache, &index, &bytes(&cache, options, &index)));

    let trap = Payload::Trap(Trap {
        privilege: 3,
        ecause: 2,
        thaddr: true,
        address: None,
        tval: Some(0x1234),
        ..Trap::default()
    });
    let options = Ioptions { implicit_exception: true, ..Ioptions::default() };
    let params = Params::default();
    expect(P::ImplicitException, packets::read(&params, &trap, &bytes(&params, options, &trap)));
}

/// The tracer rejects support packets with these modes, the generator one more.
fn modes() -> Verdict {
    let case = script(&[(0x1000, &[NOP])], &[Run(0x1000)]);
    let refused = [Mode::ImplicitException, Mode::BranchPrediction, Mode::JumpTargetCache];
    for mode in [Mode::ImplicitReturn, Mode::FullAddress].into_iter().chain(refused) {
        let mut ioptions = Ioptions::default();
        ioptions.set(mode, true);
        let support = Payload::Support(Support { ienable: true, ioptions, ..Support::default() });
        let theirs = convert::payload(&case.encoder.params, &support).expect("a support packet");
        let traced = tracer::tracer(&case).process_te_inst(&theirs).is_ok();
        let Some(options) = theirs.as_support().map(|support| support.ioptions) else {
            return Verdict::Unknown(format!("{theirs:?}"));
        };
        let mut generator: Generator<generator::Row, ReferenceIOptions> =
            riscv_etrace::generator::builder().build().expect("the defaults");
        let generated = generator.begin_qualification(options, Default::default()).is_ok();
        let expected = (!refused.contains(&mode), mode == Mode::FullAddress);
        if (traced, generated) != expected {
            return Verdict::Unknown(format!("{}: {traced}, {generated}", mode.name()));
        }
    }
    Verdict::Known(P::Modes)
}

fn ecause_width() -> Verdict {
    let theirs = riscv_etrace::config::Parameters::default().ecause_width_p.get();
    match (theirs, Params::default().ecause_width_p) {
        (6, 4) => Verdict::Known(P::EcauseWidth),
        other => Verdict::Unknown(format!("{other:?}")),
    }
}

fn traces() -> Vec<(P, Case)> {
    let mut list = Vec::new();
    let start: (u64, &[u32]) = (0xffc, &[NOP, NOP, NOP, JUMP, NOP]);
    let handler: (u64, &[u32]) = (0x3000, &[NOP, MRET]);
    let target: (u64, &[u32]) = (0x4000, &[NOP, NOP]);

    let code = [(0x1000, &[NOP, bne(8), NOP, NOP][..]), handler];
    let way = [0x1000, 0x1004].map(Run).into_iter().chain([Interrupt(0x100c)]);
    let way = way.chain([0x3000, 0x3004, 0x100c].map(Run)).collect::<Vec<_>>();
    list.push((P::PendingBranch, script(&code, &way)));

    let way = [Fault(0x1000), Run(0x3000), Run(0x3004), Run(0x1000)];
    list.push((P::TrapFirst, script(&code, &way)));

    let code = [(0x40, &[NOP][..]), (0x1000, &[jalr(0, 0, 0x40), NOP][..])];
    list.push((P::AbsoluteJump, script(&code, &[Run(0x1000), Run(0x40)])));

    let code = [(0x1000, &[NOP, bne(0), NOP][..])];
    let way = [0x1000, 0x1004, 0x1004, 0x1004, 0x1008].map(Run);
    list.push((P::BranchToItself, script(&code, &way)));

    let code = [(0x8000_0000, &[NOP, NOP, NOP, NOP][..])];
    let mut case = script(&code, &[0x8000_0000, 0x8000_0004].map(Run));
    case.encoder.params.iaddress_width_p = 32;
    case.encoder.options.full_address = true;
    list.push((P::AddressWidth, case));

    let code = [(0x1000, &[lui(10, 0x4000), jalr(0, 10, 1)][..]), target];
    let case = script(&code, &[0x1000, 0x1004, 0x4000].map(Run));
    list.push((P::OddTarget, sequential(case)));

    let code = [(0x1000, &[lui(10, 0x4000), jalr(0, 10, 0)][..]), target];
    let mut case = script(&code, &[0x1000, 0x1004, 0x4000].map(Run));
    case.walk.rows[1].ctype = CType::Precise;
    set_context(&mut case, 1);
    list.push((P::LookBack, sequential(case)));

    let case = script(&code, &[0x1000, 0x1004, 0x4000].map(Run));
    list.push((P::InferredTarget, sequential(case)));

    let way = [0xffc, 0x1000, 0x1004, 0x1008, 0x1000, 0x1004, 0x1008, 0x4000].map(Run);
    let mut case = script(&[start, target], &way);
    case.walk.rows[5].ctype = CType::Imprecise;
    set_context(&mut case, 5);
    list.push((P::ContextForgets, case));

    let code = [(0xffc, &[NOP, NOP, MRET][..])];
    let mut case = script(&code, &[0xffc, 0x1000, 0x1004, 0x1000, 0x1004].map(Run));
    set_user(&mut case, 3);
    list.push((P::SyncPrivilege, case));

    let code = [(0x1000, &[NOP][..]), handler];
    let way = [Run(0x1000), Fault(0x1004), Run(0x3000), Run(0x3004), Run(0x1000)];
    list.push((P::EpcWithoutCode, script(&code, &way)));
    list
}

fn returns() -> Vec<(P, Case)> {
    let mut list = Vec::new();
    let leaf: (u64, &[u32]) = (0x2000, &[NOP, RET]);
    let target: (u64, &[u32]) = (0x5000, &[NOP, RET]);

    // The handler returns elsewhere, with nothing on its own stack.
    let code = [(0x1000, &[jal(1, 0x1000)][..]), leaf, (0x3000, &[RET]), target];
    let way = [Run(0x1000), Run(0x2000), Interrupt(0x2004), Run(0x3000), Run(0x5000)];
    list.push((P::StaleReturns, stack(script(&code, &way))));

    // The second return from the leaf is mispredicted; a branch was executed after the first.
    let code = [(0x1000, &[jal(1, 0x1000), bne(8), jal(1, 0xff8)][..]), leaf, target];
    let way = [0x1000, 0x2000, 0x2004, 0x1004, 0x1008, 0x2000, 0x2004, 0x5000].map(Run);
    list.push((P::DepthTooEarly, stack(script(&code, &way))));

    // The leaf is called, then jumped to: notify refers to depth 0.
    let code = [(0x1000, &[jal(1, 0x1000), jal(0, 0xffc)][..]), leaf, target];
    let mut case = script(&code, &[0x1000, 0x2000, 0x2004, 0x1004, 0x2000].map(Run));
    case.walk.rows[4].trigger.notify = true;
    list.push((P::NotifyDepth, stack(case)));

    // The inner return is mispredicted, the outer one is not.
    let code =
        [(0x1000, &[jal(1, 0x1000), NOP][..]), (0x2000, &[jal(1, 0x1000), NOP]), (0x3000, &[RET])];
    let code = [code[0], code[1], code[2], target];
    let way = [0x1000, 0x2000, 0x3000, 0x5000, 0x5004, 0x1004].map(Run);
    list.push((P::KeptReturns, stack(script(&code, &way))));

    // A counter of one bit counts one call: the outer return is reported.
    let way = [0x1000, 0x2000, 0x3000, 0x2004, 0x2008, 0x1004].map(Run);
    let code = [code[0], (0x2000, &[jal(1, 0x1000), NOP, RET]), code[2]];
    let mut case = stack(script(&code, &way));
    case.encoder.params.return_stack_size_p = 0;
    case.encoder.params.call_counter_size_p = 1;
    list.push((P::CallCounter, case));

    // The return is mispredicted and leads to where the call led.
    let code = [(0x1000, &[jal(1, 0x1000), NOP][..]), leaf, target];
    let way = [0x1000, 0x2000, 0x2004, 0x2000, 0x2004, 0x5000].map(Run);
    list.push((P::DepthInDoubt, stack(script(&code, &way))));

    // The leaf is called twice, first directly; 31 branches follow.
    let caller = [jal(1, 0x1000), NOP, jalr(1, 10, 0), NOP, bne(-4), NOP];
    let called = [0x1000, 0x2000, 0x2004, 0x1004, 0x1008, 0x2000, 0x2004];
    let looped = [0x100c, 0x1010].repeat(40);
    let way: Vec<Do> = called.into_iter().chain(looped).chain([0x1014]).map(Run).collect();
    list.push((P::MapAfterDoubt, stack(script(&[(0x1000, &caller), leaf], &way))));

    // A correctly predicted return leads to the last instruction.
    let way = [0x1000, 0x2000, 0x2004, 0x1004].map(Run);
    list.push((P::InferredTarget, stack(script(&code, &way))));
    list
}

/// Cases for the generator, with a row at which to resynchronise.
fn generated() -> Vec<(P, Case, Option<usize>)> {
    let mut list = Vec::new();
    let code: [(u64, &[u32]); 3] =
        [(0xffc, &[NOP, NOP, JUMP, NOP]), (0x3000, &[NOP, MRET]), (0x4000, &[NOP, NOP, NOP])];

    let way = [Run(0x3000), Run(0x3004), Fault(0x4000), Run(0x3000)];
    let mut case = script(&code, &way);
    let row = &mut case.walk.rows[2];
    // An illegal instruction: our decoder withdraws the instruction if its fetch failed (D2).
    (row.privilege, row.cause, row.tval) = (Privilege::U, 2, 0);
    list.push((P::SyncUnretired, resettled(case), None));

    list.push((P::TrapLast, script(&code, &[Run(0xffc), Run(0x1000), Interrupt(0x1004)]), None));

    let way = [Run(0x1000), Run(0x1004), Fault(0x4000), Interrupt(0x3000), Run(0x3000)];
    list.push((P::TrapTwice, script(&code, &way), None));

    let lui_jump: (u64, &[u32]) = (0x1000, &[lui(10, 0x4000), jalr(0, 10, 0)]);
    let way: [Do; 5] = [0x1000, 0x1004, 0x4000, 0x4004, 0x4008].map(Run);
    list.push((P::SequentialSync, sequential(script(&[lui_jump, code[2]], &way)), Some(1)));

    let way = [0xffc, 0x1000, 0x1004, 0x1000, 0x1004, 0x4000].map(Run);
    list.push((P::DoubtfulVisit, script(&code, &way), Some(3)));
    list
}

/// With sequentially inferable jumps.
fn sequential(mut case: Case) -> Case {
    case.encoder.options.sequentially_inferred_jump = true;
    case.encoder.params.sijump_p = true;
    resettled(case)
}

/// With implicit returns and a return stack.
fn stack(mut case: Case) -> Case {
    case.encoder.options.implicit_return = true;
    case.encoder.params.return_stack_size_p = 2;
    resettled(case)
}

/// Applies the edited rows of the walk to the case.
fn resettled(mut case: Case) -> Case {
    case.rows = case.walk.rows.clone();
    case
}

/// Another context from this row on.
fn set_context(case: &mut Case, first: usize) {
    for row in &mut case.walk.rows[first..] {
        row.context = 1;
    }
    case.rows = case.walk.rows.clone();
}

/// User mode from this row on.
fn set_user(case: &mut Case, first: usize) {
    for row in &mut case.walk.rows[first..] {
        row.privilege = Privilege::U;
    }
    case.rows = case.walk.rows.clone();
}

/// A loop without branches, and an address that it never reaches.
fn no_end() -> Verdict {
    const MANY: usize = 1 << 20;
    let case = script(&[(0x1000, &[NOP, jal(0, -4)]), (0x5000, &[NOP])], &[Run(0x1000)]);
    let params = &case.encoder.params;
    let payloads = [
        Payload::Support(Support { ienable: true, ..Support::default() }),
        Payload::Start(Start { branch: true, privilege: 3, address: 0x800, ..Start::default() }),
        Payload::Address(AddressReport::new(0x2000)),
    ];
    let bytes: Vec<Vec<u8>> =
        payloads.iter().map(|payload| bytes(params, Ioptions::default(), payload)).collect();
    let mut tracer = tracer::tracer(&case);
    let mut items = 0;
    for bytes in &bytes {
        let payload = convert::parse(params, bytes).expect("it is legal");
        tracer.process_te_inst(&payload).expect("it is plausible");
        items = tracer.by_ref().take(MANY).filter(|item| item.is_ok()).count();
    }
    let ours = golden::decode(&case, bytes.iter().map(Vec::as_slice));
    if items == MANY && ours.gaps.len() == 1 && ours.traced.len() < 10 {
        return Verdict::Known(P::NoEnd);
    }
    Verdict::Unknown(format!("{items} items, ours {ours:?}"))
}
