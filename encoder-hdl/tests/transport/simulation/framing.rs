//! Packets of the encapsulator are those of `Framing::emit`.

use crate::streams::{Words, build, noise, pack, unpack};
use crate::support::frames;
use fastrand::Rng;
use hartrace_bits::BitWriter;
use hartrace_encap::{FrameHeader, Framing, Kind, MAX_FRAME};
use hartrace_encoder_hdl::transport::{Frame, encapsulator, len_width};
use hartrace_rtl::{Component, Expr, Module};
use libtest_mimic::{Failed, Trial};

/// Number of frames in one model. With more, compiling would take longer than starting the compiler
/// again.
const PER_MODEL: usize = 21;

pub(crate) fn trials() -> Vec<Trial> {
    let frames = frames();
    let mut trials = Vec::new();
    for (i, frames) in frames.chunks(PER_MODEL).enumerate() {
        for max_bytes in [1, 29] {
            let frames = frames.to_vec();
            let name = format!("encapsulator/{i}_payload_{max_bytes}");
            trials.push(Trial::test(name, move || emits(&frames, max_bytes)));
        }
    }
    let longest: Vec<Frame> = frames.into_iter().filter(|f| f.max_payload() == 31).collect();
    trials.push(Trial::test("encapsulator/payload_31", move || emits(&longest, 31)));
    trials
}

/// Encapsulators of all frames side by side, with the same inputs.
fn side_by_side(frames: &[Frame], max_bytes: u32) -> Component {
    let m = Module::new("side_by_side", "").clocked();
    let shared: Vec<(&str, Expr)> = [
        ("valid_i", 1),
        ("ready_i", 1),
        ("data_i", max_bytes * 8),
        ("len_i", len_width(max_bytes)),
        ("flow_i", 2),
        ("src_id_i", 16),
        ("type_i", 8),
        ("stamp_i", 1),
        ("time_i", 64),
    ]
    .map(|(name, width)| (name, m.input(name, width, "")))
    .into();
    shared.iter().for_each(|(_, input)| m.unused(input));
    for (i, frame) in frames.iter().enumerate() {
        let block = encapsulator(*frame, max_bytes);
        let mut inputs = Vec::new();
        for port in block.ports() {
            if let Some((name, input)) = shared.iter().find(|(name, _)| *name == port.name) {
                inputs.push((*name, input.trunc(port.width)));
            }
        }
        let inputs: Vec<(&str, &Expr)> = inputs.iter().map(|(n, e)| (*n, e)).collect();
        let outputs = m.inst(&format!("i_frame{i}"), &block, &inputs);
        for name in ["data_o", "len_o", "valid_o", "ready_o"] {
            let value = &outputs[name];
            let output = m.output(&format!("{}{i}_o", &name[..name.len() - 2]), value.width(), "");
            m.assign(&output, value);
        }
    }
    m.finish()
}

/// A payload as an encoder sends it: sign compressed.
fn payload(rng: &mut Rng, max: usize) -> Vec<u8> {
    let mut bytes = [0; 31];
    let mut bits = BitWriter::new(&mut bytes);
    let width = rng.u32(1..=max as u32 * 8);
    // Runs of equal bits at the end, as addresses have them.
    let run = rng.u32(..=width.min(20));
    let sign = rng.u64(..2);
    for i in 0..width {
        let bit = if i + run >= width { sign } else { rng.u64(..2) };
        bits.write(bit, 1).unwrap();
    }
    let len = bits.finish_compressed();
    bytes[..len].to_vec()
}

fn emits(frames: &[Frame], max_bytes: usize) -> Result<(), Failed> {
    let mut sim = build(&side_by_side(frames, max_bytes as u32))?;
    let mut rng = Rng::with_seed(1);
    let mut inputs = Vec::new();
    for name in ["data_i", "len_i", "flow_i", "src_id_i", "type_i", "stamp_i"] {
        inputs.push(sim.input(name)?);
    }
    let (valid, ready, time) = (sim.input("valid_i")?, sim.input("ready_i")?, sim.input("time_i")?);
    let mut outputs = Vec::new();
    for i in 0..frames.len() {
        let output = |name: &str| sim.output(&format!("{name}{i}_o"));
        outputs.push((output("data")?, output("len")?, output("valid")?, output("ready")?));
    }
    for _ in 0..400 {
        let payload = payload(&mut rng, max_bytes);
        let [flow, src_id, kind, stamp, now] =
            [2, 16, 8, 1, 64].map(|width| noise(&mut rng, width)[0]);
        let data = pack(&mut rng, &payload, inputs[0].width());
        let values: [Words; 6] =
            [data, vec![payload.len() as u64], vec![flow], vec![src_id], vec![kind], vec![stamp]];
        inputs.iter().zip(&values).for_each(|(input, value)| sim.set_wide(*input, value));
        sim.set(valid, 1);
        sim.set(time, now);
        // The time of a packet does not change while it waits.
        for waits in (0..rng.u8(..3)).rev() {
            sim.set(ready, u64::from(waits == 0));
            sim.settle()?;
            for (frame, (data, len, valid, ready)) in frames.iter().zip(&outputs) {
                let packet = unpack(sim.get_wide(*data), sim.get(*len) as usize);
                let expected = expected(*frame, &payload, [flow, src_id, kind, stamp, now]);
                assert_eq!(packet, expected, "{frame:?} {payload:x?} stamp {stamp}");
                assert_eq!(sim.get(*valid), 1);
                assert_eq!(sim.get(*ready), u64::from(waits == 0));
            }
            sim.clock()?;
            sim.set(time, rng.u64(..));
        }
        sim.set(valid, 0);
        sim.clock()?;
    }
    Ok(())
}

fn expected(frame: Frame, payload: &[u8], [flow, id, kind, stamp, now]: [u64; 5]) -> Vec<u8> {
    let low = |value: u64, bits: u32| if bits == 64 { value } else { value & ((1 << bits) - 1) };
    let (framing, header) = match frame {
        Frame::Reference => (Framing::Reference, FrameHeader::default()),
        Frame::Encap(params) => {
            let code = low(kind, params.type_bits().into()) as u8;
            let header = FrameHeader {
                source: (params.src_id_bits() > 0)
                    .then(|| low(id, params.src_id_bits().into()) as u16),
                timestamp: (params.timestamp_bytes() > 0 && stamp == 1)
                    .then(|| low(now, u32::from(params.timestamp_bytes()) * 8)),
                flow: flow as u8,
                kind: match code {
                    0 => Kind::Instruction,
                    1 => Kind::Data,
                    other => Kind::Other(other),
                },
                index: None,
            };
            (Framing::Encap(params), header)
        }
    };
    let mut out = [0; MAX_FRAME];
    let len = framing.emit(&header, payload, &mut out).unwrap();
    out[..len].to_vec()
}
