//! Coordinates several requests to flush.

use crate::transport::{DrainOut, drain};
use hartrace_rtl::{Component, Module, zero};

/// Flushes a packer for several requesters: `te_flush_{askers}x{width}`, where `width` is that of
/// the number of packets before the packer.
///
/// `request_i` has a bit for each requester, which is set for one cycle. `asked_o` is set from the
/// next cycle up to and including the cycle of `done_o`: everything that was before the packer at
/// the request has passed, and the packer is flushed. A requester that asks again in the meantime
/// gets another flush. `waiting_i taken_i flush_o flushed_i` are those of [`drain`].
pub(crate) fn flush(askers: u32, width: u32) -> Component {
    let m = Module::new(
        &format!("te_flush_{askers}x{width}"),
        "Flushes a packer for several that ask. A flush is for those that asked before it began.",
    )
    .clocked();
    let request_i = m.input("request_i", askers, "one bit each, for a cycle");
    let asked_o = m.output("asked_o", askers, "until done");
    let done_o = m.output("done_o", askers, "for a cycle");
    let waiting_i = m.input("waiting_i", width, "packets before the packer");
    let taken_i = m.input("taken_i", 1, "the packer takes one");
    let flush_o = m.output("flush_o", 1, "to the packer, until flushed");
    let flushed_i = m.input("flushed_i", 1, "");

    let pending = m.reg("pending", zero(askers));
    let served = m.reg("served", zero(askers));
    let busy = m.let_("busy", served.q.any());
    let drained = DrainOut::of(&m.inst(
        "i_drain",
        &drain(width),
        &[
            ("request_i", &busy),
            ("waiting_i", &waiting_i),
            ("taken_i", &taken_i),
            ("flush_o", &flush_o),
            ("flushed_i", &flushed_i),
        ],
    ));
    let done = &drained.done;
    m.comb(|b| {
        b.when(&busy, |b| {
            b.set(&pending.d, &pending.q | &request_i);
            b.when(done, |b| b.set(&served.d, zero(askers)));
        })
        .otherwise(|b| {
            b.set(&pending.d, &request_i);
            b.set(&served.d, &pending.q);
        });
    });
    m.assign(&asked_o, &pending.q | &served.q);
    m.assign(&done_o, done.repeat(askers) & &served.q);
    m.finish()
}

#[cfg(test)]
mod tests {
    use super::flush;
    use hartrace_rtl::{Bits, Interpreter};

    const ASKERS: u32 = 3;
    const WIDTH: u32 = 4;

    /// A requester that has asked: the number of packets that were waiting then, and whether a
    /// flush has begun since they passed.
    #[derive(Clone, Copy)]
    struct Asked {
        left: u64,
        flushes: bool,
    }

    /// Every requester gets a flush that begins after the packets that were waiting at the request,
    /// and gets one answer, however requests overlap.
    #[test]
    fn nobody_is_told_too_early() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut sim = Interpreter::new(&flush(ASKERS, WIDTH));
        let mut asked: [Option<Asked>; ASKERS as usize] = [None; ASKERS as usize];
        let (mut waiting, mut flushing, mut served, mut longest) = (0u64, false, [0; 3], 0);
        let mut age = 0;
        for cycle in 0..30_000 {
            let busy = rng.u8(..10);
            let taken = !flushing && waiting > 0 && rng.u8(..10) < busy;
            let flushed = flushing && rng.u8(..4) == 0;
            let requests: [bool; 3] =
                std::array::from_fn(|i| asked[i].is_none() && rng.u8(..20) == 0);
            let bits = requests.iter().rev().fold(0u64, |bits, bit| bits << 1 | u64::from(*bit));
            sim.set_all([
                ("request_i", Bits::new(ASKERS, bits.into())),
                ("waiting_i", Bits::new(WIDTH, waiting.into())),
                ("taken_i", Bits::new(1, taken.into())),
                ("flushed_i", Bits::new(1, flushed.into())),
            ]);
            let get = |port: &str| sim.get(port).to_u128().expect("narrow") as u64;
            let (now, done, flush) = (get("asked_o"), get("done_o"), get("flush_o") == 1);
            for (i, slot) in asked.iter_mut().enumerate() {
                assert_eq!(now >> i & 1 == 1, slot.is_some(), "cycle {cycle}");
                if done >> i & 1 == 1 {
                    let ends = slot.take().expect("has asked");
                    assert!(ends.left == 0 && ends.flushes && flushed, "cycle {cycle}");
                    served[i] += 1;
                }
                if let Some(slot) = slot {
                    slot.left -= u64::from(taken && slot.left > 0);
                }
                if requests[i] {
                    let left = waiting - u64::from(taken);
                    *slot = Some(Asked { left, flushes: false });
                }
            }
            age = if asked.iter().all(Option::is_none) { 0 } else { age + 1 };
            longest = longest.max(age);
            // The packer begins a flush between two packets.
            let begins = flush && !flushing && !flushed;
            flushing = (flushing || begins) && !flushed;
            for slot in asked.iter_mut().flatten().filter(|slot| begins && slot.left == 0) {
                slot.flushes = true;
            }
            waiting = (waiting - u64::from(taken) + u64::from(rng.u8(..10) < 3)).min(15);
            assert!(sim.clock().is_empty());
        }
        assert!(served.iter().all(|count| *count > 100), "{served:?}");
        assert!(longest < 2_000, "{longest}");
    }
}
