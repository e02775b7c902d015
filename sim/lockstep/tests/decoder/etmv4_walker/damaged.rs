//! Damaged streams: walker and software report the same, and find the way back at the same byte.

use super::traced::{Traced, Variant, bench, registers};
use super::walk::Walk;
use super::{STEPS, variants};
use fastrand::Rng;
use hartrace_decoder_hdl::walker::Cause;
use hartrace_lockstep::decoder::FollowerBench;
use libtest_mimic::Failed;

/// Streams that are damaged, per kind of program.
const DAMAGED: u64 = 60;

/// Gaps after which software goes on, and reports what it should not.
pub(super) const BEYOND: [Cause; 3] = [Cause::NoOutcome, Cause::InsideInstruction, Cause::NoCode];

/// An alignment synchronisation.
const ASYNC: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80];

/// Inverts a bit, replaces, removes or inserts a byte; returns where, and what was done.
fn damage(bytes: &mut Vec<u8>, rng: &mut Rng) -> (usize, String) {
    // Not in the first synchronisation.
    let at = rng.usize(40..bytes.len() / 2);
    let (bit, byte) = (rng.u8(..8), rng.u8(..));
    let what = match rng.u8(..6) {
        0 => {
            bytes[at] = byte;
            format!("byte {at} is {byte:02x}")
        }
        1 => {
            bytes.remove(at);
            format!("byte {at} is missing")
        }
        2 => {
            bytes.insert(at, byte);
            format!("{byte:02x} before byte {at}")
        }
        _ => {
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at} is inverted")
        }
    };
    (at, what)
}

/// What was found in all streams.
#[derive(Debug, Default)]
struct Totals {
    gaps: usize,
    /// Streams after which both are where they should be at the end.
    again: usize,
    /// Streams in which both find the way back with an outcome.
    same_byte: usize,
}

/// Damaged packets: the same instructions as those of software, gaps where there are some, and right again after
/// the next synchronisation.
pub(super) fn damaged(wide: bool) -> Result<(), Failed> {
    let bench = bench(registers(None).config())?;
    let (mut totals, mut rng) = (Totals::default(), Rng::with_seed(7));
    for seed in 0..DAMAGED {
        // With a return stack, as the walker has one: without, both drop outcomes in other places.
        let variant = Variant { stack: true, ..variants(wide, None, seed) };
        let traced = Traced::new(seed, &variant, STEPS);
        // Some walks end soon.
        if traced.bytes.len() >= 200 {
            one(&bench, &traced, &mut rng, &mut totals)
                .map_err(|error| format!("seed {seed}, {}", error.message().unwrap_or_default()))?;
        }
    }
    // Otherwise, this does not test what it should.
    match totals {
        Totals { gaps: 10.., again: 20.., same_byte: 5.. } => Ok(()),
        other => Err(format!("only {other:?}").into()),
    }
}

fn one(
    bench: &FollowerBench,
    traced: &Traced,
    rng: &mut Rng,
    totals: &mut Totals,
) -> Result<(), Failed> {
    let mut bytes = traced.bytes.clone();
    let (at, what) = damage(&mut bytes, rng);
    let walk = Walk::new(bench, &traced.code, &bytes)?;
    let software = traced.software(&bytes);
    totals.gaps += walk.gaps.len();
    // Not all of them have a context after the next synchronisation.
    totals.again += usize::from(walk.addresses.last() == traced.executed().last());
    // Damage may swallow the synchronisation after it, but not the next one. From there on, what was before hardly counts.
    let mut later =
        bytes.windows(ASYNC.len()).enumerate().filter(|(n, it)| *n > at && *it == ASYNC);
    if let Some((start, _)) = later.nth(1) {
        let rest = traced.software(&bytes[start..]).addresses;
        if software.addresses.ends_with(&rest) && !walk.addresses.ends_with(&rest) {
            let count = rest.len();
            return Err(
                format!("{what}: not the last {count} instructions; {:?}", walk.gaps).into()
            );
        }
    }
    let beyond =
        software.is_other(&traced.code) || walk.gaps.iter().any(|cause| BEYOND.contains(cause));
    if beyond {
        // Software follows code that the trace contradicts, such as branches without an outcome. Up to there, both are
        // the same.
        let (found, wanted) = (&walk.addresses, &software.addresses);
        let before = walk.before.unwrap_or(0);
        if wanted.get(..before) != Some(&found[..before]) {
            return Err(format!("{what}: not the same before {:?}", walk.gaps).into());
        }
        return Ok(());
    }
    if walk.gaps.is_empty() && software.gaps > 0 {
        return Err(format!("{what}: {} gaps in software, none here", software.gaps).into());
    }
    walk.is(&software.addresses, &what)?;
    // Byte for byte: nothing before the packet with which software goes on after a gap, and the same with it. What ends the
    // stream for a walker must not end a packet, so packets of more than a byte are left out.
    let Some(resumes) = software.resumes.map(|byte| byte as usize) else { return Ok(()) };
    let [before, with] = [resumes, resumes + 1].map(|end| traced.software(&bytes[..end]).addresses);
    if before.len() < with.len() {
        totals.same_byte += 1;
        for (end, wanted) in [(resumes, before), (resumes + 1, with)] {
            let walk = Walk::new(bench, &traced.code, &bytes[..end])?;
            walk.is(&wanted, &format!("{what}, up to byte {end}"))?;
        }
    }
    Ok(())
}
