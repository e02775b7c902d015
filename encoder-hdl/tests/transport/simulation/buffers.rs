//! FIFO, spill register, funnel.

use crate::streams::{Receiver, STALLS, Sender, Words, build, noise, pack, packet, unpack};
use fastrand::Rng;
use hartrace_encoder_hdl::transport::{fifo, funnel, spill};
use hartrace_rtl::Component;
use libtest_mimic::{Failed, Trial};
use std::collections::VecDeque;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (width, depth) in [(1, 2), (8, 3), (70, 5), (261, 16), (33, 17)] {
        let name = format!("fifo/{width}x{depth}");
        trials.push(Trial::test(name, move || passes(&fifo(width, depth), width, Some(depth))));
    }
    for width in [1, 65] {
        trials.push(Trial::test(format!("spill/{width}"), move || {
            passes(&spill(width), width, None)
        }));
    }
    for sources in [2, 3, 5] {
        let name = format!("funnel/{sources}");
        trials.push(Trial::test(name, move || merges(sources, 11)));
    }
    trials
}

/// All words leave as they entered, and a buffer of `depth` reports how many it holds.
fn passes(block: &Component, width: u32, depth: Option<u32>) -> Result<(), Failed> {
    let mut sim = build(block)?;
    let mut input = Sender::new(&sim, ["valid_i", "ready_o"], &["data_i"])?;
    let mut output = Receiver::new(&sim, ["valid_o", "ready_i"], &["data_o"])?;
    let usage = depth.map(|_| sim.output("usage_o")).transpose()?;
    for (seed, (send, receive)) in STALLS.into_iter().enumerate() {
        let mut rng = Rng::with_seed(seed as u64);
        let words: Vec<Words> = (0..500).map(|_| noise(&mut rng, width)).collect();
        words.iter().for_each(|word| input.push(vec![word.clone()]));
        let (mut within, mut fullest, mut got) = (0u32, 0, Vec::new());
        while got.len() < words.len() {
            assert!(sim.cycle() < 100_000 * (seed as u64 + 1), "words are stuck");
            input.drive(&mut sim, &mut rng, send);
            output.drive(&mut sim, &mut rng, receive);
            sim.settle()?;
            if let Some(usage) = usage {
                assert_eq!(sim.get(usage), u64::from(within));
            }
            let (taken, given) = (input.observe(&sim), output.observe(&sim));
            within = within + u32::from(taken.is_some()) - u32::from(given.is_some());
            fullest = fullest.max(within);
            got.extend(given.map(|mut values| values.remove(0)));
            sim.clock()?;
        }
        assert_eq!(got, words);
        assert_eq!(within, 0);
        if (send, receive) == (0, 95) {
            assert_eq!(fullest, depth.unwrap_or(2), "all of the buffer is used");
        }
    }
    Ok(())
}

/// Packets leave whole, in the order of each source, and no source waits for two packets of
/// another.
fn merges(sources: usize, max_bytes: usize) -> Result<(), Failed> {
    let mut sim = build(&funnel(sources as u32, max_bytes as u32))?;
    let (valid, ready) = (sim.input("valid_i")?, sim.output("ready_o")?);
    let (data, len) = (sim.input("data_i")?, sim.input("len_i")?);
    let mut output = Receiver::new(&sim, ["valid_o", "ready_i"], &["data_o", "len_o"])?;
    for (seed, (send, receive)) in STALLS.into_iter().enumerate() {
        let mut rng = Rng::with_seed(seed as u64);
        // The first byte identifies the sender. Noise after the last byte is kept like the rest.
        let mut queues: Vec<VecDeque<(Vec<u8>, Vec<u8>)>> = Vec::new();
        for source in 0..sources {
            let packets = (0..200).map(|_| {
                let bytes = [vec![source as u8], packet(&mut rng, max_bytes - 1)].concat();
                let words = pack(&mut rng, &bytes, max_bytes as u32 * 8);
                (bytes, unpack(&words, max_bytes))
            });
            queues.push(packets.collect());
        }
        let sent: Vec<Vec<Vec<u8>>> = queues
            .iter()
            .map(|queue| queue.iter().map(|(bytes, _)| bytes.clone()).collect())
            .collect();
        let mut got = vec![Vec::new(); sources];
        let mut offers = vec![false; sources];
        // Packets of others since a source began to wait.
        let mut passed = vec![vec![0; sources]; sources];
        let limit = sim.cycle() + 200_000;
        while queues.iter().any(|queue| !queue.is_empty()) {
            assert!(sim.cycle() < limit, "packets are stuck");
            let (mut all, mut lens) = (Vec::new(), 0);
            for source in 0..sources {
                let queue = &queues[source];
                offers[source] |= !queue.is_empty() && rng.u8(..100) >= send;
                let (len_now, bytes) = match queue.front() {
                    Some((bytes, padded)) if offers[source] => (bytes.len(), padded.clone()),
                    _ => (0, (0..max_bytes).map(|_| rng.u8(..)).collect()),
                };
                all.extend(bytes);
                lens |= (len_now as u64) << (source as u32 * len.width() / sources as u32);
            }
            let bits = offers.iter().rev().fold(0, |bits, offer| bits << 1 | u64::from(*offer));
            sim.set(valid, bits);
            let words = all
                .chunks(8)
                .map(|c| c.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
            sim.set_wide(data, &words.collect::<Vec<_>>());
            sim.set(len, lens);
            output.drive(&mut sim, &mut rng, receive);
            sim.settle()?;
            let taken = sim.get(ready) & bits;
            assert!(taken.count_ones() <= 1, "two packets are taken at once");
            let given = output.observe(&sim);
            assert_eq!(given.is_some(), taken != 0);
            if let Some(values) = given {
                let source = taken.trailing_zeros() as usize;
                got[source].push(unpack(&values[0], values[1][0] as usize));
                queues[source].pop_front();
                offers[source] = false;
                for waiting in (0..sources).filter(|i| offers[*i]) {
                    passed[waiting][source] += 1;
                    assert!(passed[waiting][source] <= 1, "{source} twice while {waiting} waits");
                }
                passed[source].fill(0);
            }
            sim.clock()?;
        }
        assert_eq!(got, sent);
    }
    Ok(())
}
