//! Sinks that are ports: AXI4-Stream and ATB.

use crate::chain::{Reader, Run, chain, framing_of};
use crate::streams::{Receiver, STALLS, build, unpack};
use fastrand::Rng;
use hartrace_encap::{AtbParams, EncapParams, Framing};
use hartrace_encoder_hdl::transport::{Frame, atb_sink, axis_sink};
use libtest_mimic::{Failed, Trial};

const PACKETS: usize = 200;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let stamped = Frame::Encap(EncapParams::new(8, 4, 0).unwrap());
    for (frame, word_bytes, name) in
        [(Frame::Reference, 4, "raw"), (stamped, 8, "stamped"), (stamped, 16, "stamped")]
    {
        let name = format!("axis/{name}_{word_bytes}");
        trials.push(Trial::test(name, move || axis(frame, word_bytes)));
    }
    for word_bytes in [4, 8] {
        trials.push(Trial::test(format!("atb/{word_bytes}"), move || atb(word_bytes)));
    }
    trials
}

/// Without the bytes that `tkeep` leaves out, the transfers are the frames.
fn axis(frame: Frame, word_bytes: u32) -> Result<(), Failed> {
    let mut sim = build(&chain(frame, word_bytes, true, &axis_sink(word_bytes)))?;
    let fields = ["tdata_o", "tkeep_o", "tlast_o"];
    let mut output = Receiver::new(&sim, ["tvalid_o", "tready_i"], &fields)?;
    for (seed, (send, receive)) in STALLS.into_iter().enumerate() {
        let mut rng = Rng::with_seed(seed as u64);
        let mut run = Run::new(&sim, &mut rng, PACKETS)?;
        let mut reader = Reader::new(framing_of(frame));
        let (mut flushes, mut ends) = (0, 0);
        while reader.payloads.len() < PACKETS || run.requests {
            let flush =
                reader.payloads.len() < PACKETS && (run.input.is_done() || rng.u8(..100) < 1);
            run.drive(&mut sim, &mut rng, send, flush);
            output.drive(&mut sim, &mut rng, receive);
            sim.settle()?;
            if let Some(values) = output.observe(&sim) {
                let keep = values[1][0];
                assert!((keep + 1).is_power_of_two(), "gaps in tkeep {keep:b}");
                reader.feed(&unpack(&values[0], keep.count_ones() as usize));
                ends += u32::from(values[2][0] == 1);
            }
            flushes += u32::from(run.observe(&sim));
            sim.clock()?;
        }
        assert_eq!(reader.finish(), run.taken);
        assert!(flushes > 0 && ends == flushes, "{ends} tlast for {flushes} flushes");
    }
    Ok(())
}

/// AFREADY is set when everything from before AFVALID has been output.
fn atb(word_bytes: u32) -> Result<(), Failed> {
    let frame = Frame::Encap(EncapParams::new(0, 4, 0)?);
    let framing = Framing::Atb(AtbParams::new(0x2a, 4)?);
    let mut sim = build(&chain(frame, word_bytes, false, &atb_sink(word_bytes)))?;
    let id = sim.input("id_i")?;
    sim.set(id, 0x2a);
    let fields = ["atdata_o", "atbytes_o", "atid_o"];
    let mut output = Receiver::new(&sim, ["atvalid_o", "atready_i"], &fields)?;
    for (seed, (send, receive)) in STALLS.into_iter().enumerate() {
        let mut rng = Rng::with_seed(seed as u64);
        let mut run = Run::new(&sim, &mut rng, PACKETS)?;
        let mut reader = Reader::new(framing);
        // Number of packets that had arrived when the pending flush was requested.
        let (mut before, mut flushes) = (0, 0);
        while reader.payloads.len() < PACKETS || run.requests {
            let more = reader.payloads.len() < PACKETS;
            let flush = more && (run.input.is_done() || rng.u8(..100) < 2);
            if flush && !run.requests {
                before = run.taken.len();
            }
            run.drive(&mut sim, &mut rng, send, flush);
            output.drive(&mut sim, &mut rng, receive);
            sim.settle()?;
            if let Some(values) = output.observe(&sim) {
                reader.feed(&unpack(&values[0], values[1][0] as usize + 1));
                assert_eq!(values[2][0], 0x2a);
            }
            if run.observe(&sim) {
                let out = reader.payloads.len();
                assert!(out >= before, "{out} packets out, {before} before");
                flushes += 1;
            }
            sim.clock()?;
        }
        assert_eq!(reader.finish(), run.taken);
        assert!(flushes > 0);
    }
    Ok(())
}
