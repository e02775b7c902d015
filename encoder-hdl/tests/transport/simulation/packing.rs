//! Words of the packer are the bytes of its packets.

use crate::streams::{Receiver, STALLS, Sender, build, pack, packet, unpack};
use fastrand::Rng;
use hartrace_encoder_hdl::transport::{Packer, packer};
use libtest_mimic::{Failed, Trial};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for word_bytes in [2, 4, 8, 16] {
        for (max_bytes, mark_end) in [(3, true), (32, false), (42, false), (42, true)] {
            let params = Packer { max_bytes, word_bytes, mark_end };
            let end = if mark_end { "_end" } else { "" };
            let name = format!("packer/{max_bytes}to{word_bytes}{end}");
            trials.push(Trial::test(name, move || packs(params)));
        }
    }
    trials
}

fn packs(params: Packer) -> Result<(), Failed> {
    let word = params.word_bytes as usize;
    let mut sim = build(&packer(params))?;
    let mut input = Sender::new(&sim, ["valid_i", "ready_o"], &["data_i", "len_i"])?;
    let mut output = Receiver::new(&sim, ["valid_o", "ready_i"], &["data_o", "len_o", "last_o"])?;
    let (flush, flushed, held) =
        (sim.input("flush_i")?, sim.output("flushed_o")?, sim.output("held_o")?);
    for (seed, (send, receive)) in STALLS.into_iter().enumerate() {
        let mut rng = Rng::with_seed(seed as u64);
        let packets: Vec<Vec<u8>> =
            (0..300).map(|_| packet(&mut rng, params.max_bytes as usize)).collect();
        for bytes in &packets {
            let data = pack(&mut rng, bytes, params.max_bytes * 8);
            input.push(vec![data, vec![bytes.len() as u64]]);
        }
        // Bytes of packets taken whole, and bytes of words.
        let (mut taken, mut got) = (0, Vec::new());
        let (mut flushing, mut flushes, mut ends) = (false, 0, 0);
        let (mut cycles, limit) = (0, 400_000);
        while flushing || !(input.is_done() && got.len() == taken) {
            assert!(cycles < limit, "bytes are stuck");
            let all_out = input.is_done() && got.len() == taken;
            flushing |= !all_out && (rng.u8(..100) < 2 || input.is_done());
            input.drive(&mut sim, &mut rng, send);
            output.drive(&mut sim, &mut rng, receive);
            sim.set(flush, flushing.into());
            sim.settle()?;
            if let Some(values) = input.observe(&sim) {
                taken += values[1][0] as usize;
            }
            if let Some(values) = output.observe(&sim) {
                let (len, last) = (values[1][0] as usize, values[2][0] == 1);
                let bytes = unpack(&values[0], word);
                assert!(last || len == word, "a word in the middle is not full");
                assert!(bytes[len..].iter().all(|byte| *byte == 0), "filled with zeros");
                got.extend_from_slice(&bytes[..len]);
                ends += usize::from(last);
            }
            if sim.get(flushed) == 1 {
                assert!(flushing);
                assert_eq!(got.len(), taken, "a flush leaves nothing");
                (flushing, flushes) = (false, flushes + 1);
            }
            sim.clock()?;
            cycles += 1;
        }
        assert_eq!(sim.get(held), 0);
        assert_eq!(got, packets.concat());
        assert!(flushes > 0 && ends <= flushes);
        assert!(!params.mark_end || ends == flushes, "every flush has an end");
        if (send, receive) == (0, 0) {
            let pieces: usize = packets.iter().map(|bytes| bytes.len().div_ceil(word)).sum();
            assert!(cycles <= pieces + 2 * flushes + 2, "{cycles} cycles for {pieces} pieces");
        }
    }
    Ok(())
}
