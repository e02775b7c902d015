//! The whole way from payloads to a sink, its input and its output.

use crate::streams::{Sender, pack, packet, unpack};
use fastrand::Rng;
use hartrace_encap::{Deframer, Framing, Item};
use hartrace_encoder_hdl::transport::{
    Frame, Packer, drain, encapsulator, fifo, len_width, packer,
};
use hartrace_hdl_tools::verilate::{Input, Output, Simulation};
use hartrace_rtl::{Component, Direction, Expr, Module, concat, index_width, lit, zero};
use libtest_mimic::Failed;

const MAX_PAYLOAD: u32 = 31;
const DEPTH: u32 = 8;

/// Payloads through encapsulator, FIFO and packer into a sink, whose other ports become ports.
pub(crate) fn chain(frame: Frame, word_bytes: u32, mark_end: bool, sink: &Component) -> Component {
    let m = Module::new("chain", "").clocked();
    let max_bytes = frame.max_bytes(MAX_PAYLOAD);
    let payload = [
        m.input("valid_i", 1, ""),
        m.input("data_i", MAX_PAYLOAD * 8, ""),
        m.input("len_i", len_width(MAX_PAYLOAD), ""),
    ];
    let ready_o = m.output("ready_o", 1, "");
    let request = m.input("request_i", 1, "");
    let done_o = m.output("done_o", 1, "");

    let block = encapsulator(frame, MAX_PAYLOAD);
    let fifo_ready = m.wire("fifo_ready", 1);
    let ties = [
        ("valid_i", payload[0].clone()),
        ("data_i", payload[1].clone()),
        ("len_i", payload[2].clone()),
        ("ready_i", fifo_ready.clone()),
        ("ready_o", ready_o),
        ("flow_i", zero(2)),
        ("src_id_i", lit(8, 0x5a)),
        ("stamp_i", lit(1, 1)),
        ("time_i", lit(32, 0x1234_5678)),
    ];
    let has = |block: &Component, name: &str| block.ports().iter().any(|port| port.name == name);
    let ties: Vec<(&str, &Expr)> =
        ties.iter().filter(|(name, _)| has(&block, name)).map(|(n, e)| (*n, e)).collect();
    let packets = m.inst("i_encapsulator", &block, &ties);

    let packer_ready = m.wire("packer_ready", 1);
    let entry = concat(&[&packets["len_o"], &packets["data_o"]]);
    let buffer = m.inst(
        "i_fifo",
        &fifo(entry.width(), DEPTH),
        &[
            ("valid_i", &packets["valid_o"]),
            ("data_i", &entry),
            ("ready_o", &fifo_ready),
            ("ready_i", &packer_ready),
        ],
    );
    m.unused(&buffer["full_o"]);
    let out = &buffer["data_o"];
    let (flush, flushed) = (m.wire("flush", 1), m.wire("flushed", 1));
    let word_ready = m.wire("word_ready", 1);
    let words = m.inst(
        "i_packer",
        &packer(Packer { max_bytes, word_bytes, mark_end }),
        &[
            ("valid_i", &buffer["valid_o"]),
            ("data_i", &out.trunc(max_bytes * 8)),
            ("len_i", &out.slice(max_bytes * 8, len_width(max_bytes))),
            ("ready_o", &packer_ready),
            ("flush_i", &flush),
            ("flushed_o", &flushed),
            ("ready_i", &word_ready),
        ],
    );
    m.unused(&words["held_o"]);
    m.unused(&words["last_o"]);
    m.inst(
        "i_drain",
        &drain(index_width(DEPTH + 1)),
        &[
            ("request_i", &request),
            ("done_o", &done_o),
            ("waiting_i", &buffer["usage_o"]),
            ("taken_i", &(&buffer["valid_o"] & &packer_ready)),
            ("flush_o", &flush),
            ("flushed_i", &flushed),
        ],
    );

    let mut ports = vec![("valid_i", words["valid_o"].clone()), ("ready_o", word_ready)];
    ports.extend(
        ["data_i", "len_i"].into_iter().zip([&words["data_o"], &words["len_o"]].map(Expr::clone)),
    );
    if has(sink, "last_i") {
        ports.push(("last_i", words["last_o"].clone()));
    }
    // On an ATB, requests to flush come from the bus; here both are tied together.
    if has(sink, "flush_o") {
        ports.push(("flushed_i", done_o));
        ports.push(("afvalid_i", request));
    }
    for port in sink.ports() {
        let known = ports.iter().any(|(name, _)| *name == port.name);
        if known || ["clk_i", "rst_ni"].contains(&port.name.as_str()) {
            continue;
        }
        let signal = match port.direction {
            Direction::Input => m.input(&port.name, port.width, ""),
            Direction::Output => m.output(&port.name, port.width, ""),
        };
        ports.push((port.name.as_str(), signal));
    }
    m.inst("i_sink", sink, &ports.iter().map(|(n, e)| (*n, e)).collect::<Vec<_>>());
    m.finish()
}

/// Payloads of a run, those that were taken, and requests to flush.
pub(crate) struct Run {
    pub(crate) input: Sender,
    request: Input,
    done: Output,
    pub(crate) requests: bool,
    /// Payloads that went in.
    pub(crate) taken: Vec<Vec<u8>>,
}

impl Run {
    pub(crate) fn new(sim: &Simulation, rng: &mut Rng, packets: usize) -> Result<Self, Failed> {
        let mut input = Sender::new(sim, ["valid_i", "ready_o"], &["data_i", "len_i"])?;
        for _ in 0..packets {
            let bytes = packet(rng, MAX_PAYLOAD as usize);
            let data = pack(rng, &bytes, MAX_PAYLOAD * 8);
            input.push(vec![data, vec![bytes.len() as u64]]);
        }
        let (request, done) = (sim.input("request_i")?, sim.output("done_o")?);
        Ok(Self { input, request, done, requests: false, taken: Vec::new() })
    }

    pub(crate) fn drive(&mut self, sim: &mut Simulation, rng: &mut Rng, stall: u8, flush: bool) {
        self.requests |= flush;
        self.input.drive(sim, rng, stall);
        sim.set(self.request, self.requests.into());
    }

    /// Stops requesting.
    pub(crate) fn rest(&self, sim: &mut Simulation) {
        sim.set(self.request, 0);
    }

    /// Whether a flush is done.
    pub(crate) fn observe(&mut self, sim: &Simulation) -> bool {
        if let Some(values) = self.input.observe(sim) {
            self.taken.push(unpack(&values[0], values[1][0] as usize));
        }
        let done = sim.get(self.done) == 1;
        self.requests &= !done;
        done
    }
}

/// Finds the payloads in the output.
pub(crate) struct Reader {
    deframer: Deframer,
    pub(crate) payloads: Vec<Vec<u8>>,
}

impl Reader {
    pub(crate) fn new(framing: Framing) -> Self {
        Self { deframer: Deframer::new(framing), payloads: Vec::new() }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let payloads = &mut self.payloads;
        self.deframer.feed(bytes, &mut |offset, item| match item {
            Ok(Item::Frame(frame)) => payloads.push(frame.payload_bytes().unwrap().to_vec()),
            Ok(Item::Null(_)) => {}
            Err(error) => panic!("at {offset}: {error}"),
        });
    }

    /// All payloads; no frame is truncated.
    pub(crate) fn finish(self) -> Vec<Vec<u8>> {
        assert_eq!(self.deframer.finish(), None, "a frame is cut off");
        self.payloads
    }
}

pub(crate) fn framing_of(frame: Frame) -> Framing {
    match frame {
        Frame::Reference => Framing::Reference,
        Frame::Encap(params) => Framing::Encap(params),
    }
}
