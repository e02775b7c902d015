//! Programs and traces by hand, for what random ones hardly ever do.

use super::traced::{Listing, bench, registers, software};
use super::walk::{TRACE_ON, Walk};
use hartrace_arm_decoder::Memory;
use hartrace_arm_decoder::block_table::Code;
use hartrace_decoder_hdl::walker::Cause;
use hartrace_isa::arm::{Arch, Isa, Rules, Spaces};
use hartrace_lockstep::decoder::FollowerBench;
use libtest_mimic::Failed;

/// Where programs start.
const BASE: u64 = 0x1000;

/// An alignment synchronisation and TraceInfo.
const SYNC: [u8; 14] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0x00];

/// One outcome, not taken and taken; and three that are taken.
const N: [u8; 1] = [0xf6];
const E: [u8; 1] = [0xf7];
const EEE: [u8; 1] = [0xff];

/// An address of A64 with a context.
fn arrive(at: u64) -> Vec<u8> {
    let part = |low: u32, mask: u64| (at >> low & mask) as u8;
    vec![0x82, part(2, 0x7f), part(9, 0x7f), part(16, 0xff), part(24, 0xff), 0x30]
}

/// A program, and what is compared.
struct Program {
    code: Code,
    memory: Memory,
}

impl Program {
    /// Pieces of code, one after the other.
    fn new(pieces: &[(&[u8], Isa)]) -> Self {
        let mut code = Code::new(Rules { arch: Arch::V8, barriers: false, wfx: false });
        let mut bytes = Vec::new();
        for (piece, isa) in pieces {
            code.add(BASE + bytes.len() as u64, piece, *isa);
            bytes.extend_from_slice(piece);
        }
        bytes.extend([0; 4]);
        let mut memory = Memory::new();
        memory.add(BASE, bytes, Spaces::ALL);
        Self { code, memory }
    }

    fn a64(words: &[u32]) -> Self {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Self::new(&[(&bytes, Isa::A64)])
    }

    /// The walker reports these instructions and gaps, and so does software.
    fn is(
        &self,
        bench: &FollowerBench,
        what: &str,
        packets: &[&[u8]],
        (executed, gaps): (&[u64], &[Cause]),
    ) -> Result<(), Failed> {
        let bytes = [&SYNC, &TRACE_ON[..], &packets.concat()].concat();
        let walk = Walk::new(bench, &self.code, &bytes)?;
        walk.is(executed, what)?;
        let mut listing = Listing::default();
        software(&bytes, registers(None).config(), Arch::V8, &self.memory, &mut listing);
        if walk.gaps != gaps || listing.gaps != gaps.len() {
            return Err(format!("{what}: {:?}, {} in software", walk.gaps, listing.gaps).into());
        }
        walk.is(&listing.addresses, what)
    }
}

/// Jumps that are not taken: with a condition, to the next instruction, in an IT block; and one that cannot be.
pub(super) fn conditional() -> Result<(), Failed> {
    let bench = bench(registers(None).config())?;
    // bleq 0x1008, bxeq lr, b 0x100c, bx lr
    let a32 =
        [0x0b00_0000_u32, 0x012f_ff1e, 0xeaff_ffff, 0xe12f_ff1e].map(u32::to_le_bytes).concat();
    // bx lr, b 0x1012
    let t32 = [0x4770_u16, 0xe7fe].map(u16::to_le_bytes).concat();
    let program = Program::new(&[(&a32, Isa::A32), (&t32, Isa::T32)]);
    let (at_1000, at_1010) = ([0x82, 0, 0x08, 0, 0, 0x20], [0x83, 0x08, 0x10, 0, 0, 0x20]);
    for (address, count, executed, gaps) in [
        (at_1000, 3, &[0x1000, 0x1004, 0x1008][..], &[][..]),
        (at_1000, 4, &[0x1000, 0x1004, 0x1008], &[Cause::NotTaken]),
        (at_1010, 2, &[0x1010, 0x1012], &[]),
    ] {
        let what = format!("{count} outcomes from {address:x?}");
        program.is(&bench, &what, &[&address, &N.repeat(count)], (executed, gaps))?;
    }
    Ok(())
}

/// bl to the next word but one, ret, blr x0
const BL: u32 = 0x9400_0002;
const RET: u32 = 0xd65f_03c0;
const BLR: u32 = 0xd63f_0000;

/// Calls that are nested more deeply than the return stack is.
const CALLS: usize = 17;

/// A trace unit has up to 16 entries. One of 16 that are nested returns, but not the one before them.
fn depth(bench: &FollowerBench) -> Result<(), Failed> {
    let mut words = [BL, RET].repeat(CALLS);
    words.push(RET);
    let program = Program::a64(&words);
    let call = |number: usize| BASE + 8 * number as u64;
    for calls in [1, 15, 16, 17] {
        let first = CALLS - calls;
        let mut executed: Vec<u64> = (first..=CALLS).map(call).collect();
        executed.extend((first..CALLS).rev().map(|number| call(number) + 4));
        let all = executed.len();
        let (executed, gaps) = match calls {
            17 => (&executed[..all - 1], &[Cause::NoReturn][..]),
            _ => (&executed[..], &[][..]),
        };
        for packets in [E.repeat(all), [EEE.repeat(all / 3), E.repeat(all % 3)].concat()] {
            let what = format!("{calls} calls, {} packets", packets.len());
            program.is(bench, &what, &[&arrive(call(first)), &packets], (executed, gaps))?;
        }
    }
    Ok(())
}

/// What the return stack knows after tracing started again, and after a synchronisation.
fn known_calls(bench: &FollowerBench) -> Result<(), Failed> {
    let program = Program::a64(&[BL, RET, RET]);
    let lost = (&[0x1000, 0x1008][..], &[Cause::NoReturn][..]);
    let back = (&[0x1000, 0x1008, 0x1004][..], &[][..]);
    let (start, function) = (arrive(0x1000), arrive(0x1008));
    for (what, packets, expected) in [
        ("a return", vec![&start[..], &EEE], back),
        ("a return, outcome by outcome", vec![&start, &E, &E, &E], back),
        ("tracing starts again after a call", vec![&start, &E, &TRACE_ON, &function, &E, &E], lost),
        (
            "the same in the function",
            vec![&start, &E, &function, &TRACE_ON, &function, &E, &E],
            lost,
        ),
        ("a synchronisation after a call", vec![&start, &E, &SYNC, &function, &E, &E], lost),
        ("a call after a synchronisation", vec![&start, &SYNC, &E, &E, &E], lost),
        ("all in one packet", vec![&start, &SYNC, &EEE], lost),
        ("an address between them", vec![&start, &SYNC, &start, &EEE], back),
    ] {
        program.is(bench, what, &packets, expected)?;
    }
    Ok(())
}

/// A call to where it returns to, without an address: it pushes before its target is popped.
fn call_to_the_next(bench: &FollowerBench) -> Result<(), Failed> {
    let program = Program::a64(&[BL, RET, BLR, RET]);
    let expected = (&[0x1000, 0x1008, 0x100c, 0x1004][..], &[][..]);
    for packets in [&[EEE[0], E[0]], &E.repeat(4)[..]] {
        let what = format!("a call that returns at once, {packets:x?}");
        program.is(bench, &what, &[&arrive(0x1000), packets], expected)?;
    }
    Ok(())
}

/// The return stack.
pub(super) fn returns() -> Result<(), Failed> {
    let bench = bench(registers(None).config())?;
    depth(&bench)?;
    known_calls(&bench)?;
    call_to_the_next(&bench)
}
