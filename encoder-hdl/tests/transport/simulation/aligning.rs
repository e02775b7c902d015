//! Runs of null packets are where the model puts them, to the byte, and often enough.

use crate::nulls::Nulls;
use crate::streams::{Receiver, STALLS, Sender, build, pack, packet, unpack};
use fastrand::Rng;
use hartrace_encap::{EncapParams, Framing};
use hartrace_encoder_hdl::transport::{Aligner, Frame, Packer, aligner, len_width, packer};
use hartrace_rtl::{Component, Direction, Module, index_width};
use libtest_mimic::{Failed, Trial};

/// srcID bits, timestamp bytes, longest payload, bytes of a word.
const SETS: [(u8, u8, u32, u32); 5] =
    [(0, 0, 31, 8), (0, 0, 9, 8), (8, 4, 31, 4), (16, 8, 31, 16), (12, 2, 20, 4)];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (src_bits, time_bytes, payload, word_bytes) in SETS {
        let params = EncapParams::new(src_bits, time_bytes, 0).unwrap();
        let frame = Frame::Encap(params);
        let aligner = Aligner {
            max_bytes: frame.max_bytes(payload),
            run_bytes: frame.null_run().unwrap(),
            word_bytes,
        };
        let name = format!("aligner/{}r{}w{word_bytes}", aligner.max_bytes, aligner.run_bytes);
        trials.push(Trial::test(name, move || aligns(params, aligner)));
    }
    trials
}

/// An aligner and a packer, connected as in the top module.
fn aligned(params: Aligner) -> Component {
    let Aligner { max_bytes, word_bytes, .. } = params;
    let m = Module::new("aligned", "").clocked();
    let [ready, flushed] = ["ready", "flushed"].map(|name| m.wire(name, 1));
    let held = m.wire("held", index_width(word_bytes));
    let flush = m.input("flush_i", 1, "");
    let packets = m.inst(
        "i_aligner",
        &aligner(params),
        &[
            ("valid_i", &m.input("valid_i", 1, "")),
            ("data_i", &m.input("data_i", max_bytes * 8, "")),
            ("len_i", &m.input("len_i", len_width(max_bytes), "")),
            ("ready_o", &m.output("ready_o", 1, "")),
            ("freq_i", &m.input("freq_i", 3, "")),
            ("ready_i", &ready),
            ("held_i", &held),
            ("flushed_i", &flushed),
        ],
    );
    m.unused(&packets["busy_o"]);
    let block = packer(Packer { max_bytes, word_bytes, mark_end: true });
    let mut ports = vec![
        ("valid_i", packets["valid_o"].clone()),
        ("data_i", packets["data_o"].clone()),
        ("len_i", packets["len_o"].clone()),
        ("ready_o", ready),
        ("flush_i", &flush & !&packets["run_o"]),
        ("held_o", held),
        ("flushed_o", flushed.clone()),
    ];
    for port in block.ports() {
        let known = ports.iter().any(|(name, _)| *name == port.name);
        if !known && !["clk_i", "rst_ni"].contains(&port.name.as_str()) {
            let signal = match port.direction {
                Direction::Input => m.input(&port.name, port.width, ""),
                Direction::Output => m.output(&port.name, port.width, ""),
            };
            ports.push((port.name.as_str(), signal));
        }
    }
    m.inst("i_packer", &block, &ports.iter().map(|(name, port)| (*name, port)).collect::<Vec<_>>());
    m.assign(&m.output("flushed_o", 1, ""), &flushed);
    m.finish()
}

fn aligns(framing: EncapParams, params: Aligner) -> Result<(), Failed> {
    let mut sim = build(&aligned(params))?;
    let mut input = Sender::new(&sim, ["valid_i", "ready_o"], &["data_i", "len_i"])?;
    let mut output = Receiver::new(&sim, ["valid_o", "ready_i"], &["data_o", "len_o"])?;
    let (flush, flushed, freq_i) =
        (sim.input("flush_i")?, sim.output("flushed_o")?, sim.input("freq_i")?);
    let mut runs = [0; 8];
    for freq in 0..8 {
        for (seed, (send, receive)) in
            STALLS.into_iter().enumerate().take(if freq < 4 { 7 } else { 2 })
        {
            // Nothing is counted in between.
            sim.set(freq_i, 0);
            sim.clock()?;
            sim.set(freq_i, freq);
            let mut rng = Rng::with_seed(seed as u64);
            let mut model = Nulls::new(params.run_bytes, params.max_bytes, params.word_bytes, freq);
            for _ in 0..60u64 << freq {
                let bytes = packet(&mut rng, params.max_bytes as usize);
                let data = pack(&mut rng, &bytes, params.max_bytes * 8);
                input.push(vec![data, vec![bytes.len() as u64]]);
            }
            let (mut got, mut flushing, mut last) = (Vec::new(), false, false);
            while flushing || !last {
                let ends = input.is_done() && !flushing;
                last |= ends;
                flushing |= ends || rng.u8(..100) < 2;
                input.drive(&mut sim, &mut rng, send);
                output.drive(&mut sim, &mut rng, receive);
                sim.set(flush, flushing.into());
                sim.settle()?;
                if let Some(values) = input.observe(&sim) {
                    model.packet(&unpack(&values[0], values[1][0] as usize));
                }
                if let Some(values) = output.observe(&sim)
                    && values[1][0] > 0
                {
                    got.extend(unpack(&values[0], params.word_bytes as usize));
                }
                if sim.get(flushed) == 1 {
                    model.flush();
                    flushing = false;
                }
                sim.clock()?;
            }
            sim.set(flush, 0);
            assert_eq!(got, model.bytes, "freq {freq}, seed {seed}");
            runs[freq as usize] += model.runs.len();
            often_enough(&model, freq);
            readable(framing, &model);
        }
    }
    assert!(runs[0] == 0 && runs[1..].iter().all(|count| *count > 0), "{runs:?}");
    Ok(())
}

/// From the start of the stream or of a run to the end of the next run there is at most one period.
fn often_enough(model: &Nulls, freq: u64) {
    let starts = [0].into_iter().chain(model.runs.iter().copied());
    let ends = model.runs.iter().map(|start| start + model.run_bytes);
    for (start, end) in starts.zip(ends) {
        assert!(end - start <= 1 << (freq + 7), "a run ends {} bytes later", end - start);
    }
}

/// A reader that starts anywhere finds the end of the next run, or nothing after the last. It may find the end of a
/// run in which it starts: padding and random packets may look like more null packets.
fn readable(framing: EncapParams, model: &Nulls) {
    for from in (0..model.bytes.len()).step_by(97) {
        let found = Framing::Encap(framing).sync_forward(&model.bytes[from..], 0);
        let ends = model.runs.iter().map(|start| start + model.run_bytes);
        let at_end = |end: usize| found.is_some_and(|at| (end..end + 24).contains(&(from + at)));
        let whole = model.runs.iter().find(|start| **start >= from);
        let expected = ends.filter(|end| *end > from).take(2).any(at_end);
        assert!(expected || (found.is_none() && whole.is_none()), "{found:?} from {from}");
    }
}
