//! The top module.

use crate::cells::gathered;
use crate::core::ORIGIN;
use crate::files;
use crate::lanes::module_of_lanes;
use crate::top::bus::Bus;
use crate::top::config::{Sink, TimeSource, TopConfig, TopError};
use crate::top::flush::flush;
use crate::top::hart::{HartOut, hart};
use crate::top::pages::pages;
use crate::top::sink::{SinkOut, sink};
use crate::top::wiring::{APB_ANSWER, Wiring, has};
use crate::transport::{
    Aligner, AlignerOut, FREQ_BITS, FifoOut, FunnelOut, Packer, PackerOut, aligner, fifo, funnel,
    len_width, packer,
};
use hartrace_rtl::{Component, Expr, Module, concat, index_width, lit, zero};

/// The module `te_top`.
///
/// | ports | |
/// |---|---|
/// | `psel_i` … `pslverr_o` | APB4, a page of registers for each hart, then the sink's: [`pages`] |
/// | `hart{n}_*` | blocks of hart *n* for `te_core`, and `hart{n}_stall_o` or `hart{n}_lost_o` |
/// | `time_i` | the time, if packets have one that comes from outside |
/// | `t*`; `at*` and `af*`; `aw*`, `w*` and `b*` | AXI4-Stream; ATB; AXI4, write channels |
///
/// # Errors
///
/// If a parameter is out of its range, or two do not fit together.
pub fn top(config: &TopConfig) -> Result<Component, TopError> {
    let pages = pages(config)?.len() as u32;
    let m = module_of_lanes(
        &config.encoder,
        "te_top",
        "Trace encoder: what harts retire comes in, trace goes out. Software controls it over APB4.",
    );
    let mut bus = Bus::new(&m, pages);
    let outside = config.time_width() > 0 && config.time == TimeSource::External;
    let time = outside.then(|| m.input("time_i", config.time_width(), "of all harts"));

    let encoder = hart(config)?;
    let harts: Vec<Hart> = (0..config.harts)
        .map(|number| {
            m.section(&format!("Hart {number}."));
            Hart::new(&m, config, &encoder, number, &mut bus, time.as_ref())
        })
        .collect();

    m.section("Packets of all harts, one after the other.");
    let max_bytes = harts[0].packets.data.width() / 8;
    let fifo_ready = m.wire("fifo_ready", 1);
    let (valid, entry) = join(&m, &harts, max_bytes, &fifo_ready);
    let taken = m.wire("packet_taken", 1);
    let buffer = FifoOut::of(&m.inst(
        "i_fifo",
        &fifo(entry.width(), config.fifo_depth),
        &[("valid_i", &valid), ("data_i", &entry), ("ready_o", &fifo_ready), ("ready_i", &taken)],
    ));
    m.unused(&buffer.full);

    let out = &buffer.data;
    let packets = Packets {
        valid: buffer.valid.clone(),
        data: out.trunc(max_bytes * 8),
        len: out.slice(max_bytes * 8, len_width(max_bytes)),
        ready: taken.clone(),
    };
    let taker = sink(config)?;
    let aligned = align(&m, config, &taker, &packets)?;

    m.section("Words.");
    let word_bytes = config.sink.word_bytes();
    let [flush_now, flushed, word_ready] =
        ["flush", "flushed", "word_ready"].map(|name| m.wire(name, 1));
    let mark_end = !matches!(config.sink, Sink::Atb { .. });
    let Packets { valid, data, len, ready } = aligned.as_ref().map_or(&packets, |a| &a.packets);
    // A run of null packets is not interrupted by the padding of a flush.
    let flush_next = match &aligned {
        Some(aligned) => &flush_now & !&aligned.outputs.run,
        None => flush_now.clone(),
    };
    let words = PackerOut::of(&m.inst(
        "i_packer",
        &packer(Packer { max_bytes, word_bytes, mark_end }),
        &[
            ("valid_i", valid),
            ("data_i", data),
            ("len_i", len),
            ("ready_o", ready),
            ("flush_i", &flush_next),
            ("flushed_o", &flushed),
            ("ready_i", &word_ready),
        ],
    ));
    let mut waiting = &buffer.valid | words.held.any();
    if let Some(aligned) = &aligned {
        m.assign(&aligned.held, &words.held);
        m.assign(&aligned.flushed, &flushed);
        waiting = waiting | &aligned.outputs.busy;
    }

    m.section("The sink.");
    let asks = taker.ports().iter().find(|port| port.name == "flush_o").map_or(0, |p| p.width);
    let asked = m.wire("asked", config.harts + asks);
    let done = m.wire("done", config.harts + asks);
    let mut wiring = Wiring::new(&m, taker.clone())
        .wire("valid_i", &words.valid)
        .wire("ready_o", &word_ready)
        .wire("data_i", &words.data)
        .wire("len_i", &words.len)
        .wire_if("last_i", || words.last.clone())
        .wire_if("waiting_i", || waiting.clone())
        .wire_if("freq_o", || aligned.as_ref().map_or_else(|| zero(1), |a| a.freq.clone()))
        .wire_if("asked_i", || asked.slice(config.harts, asks))
        .wire_if("done_i", || done.slice(config.harts, asks));
    if !has(&taker, "last_i") {
        m.unused(&words.last);
    }
    if asks == 0 {
        m.unused(&words.held);
    } else {
        wiring = bus.connect(wiring, config.harts);
    }
    let inside = |name: &str| name == "flush_o" || APB_ANSWER.contains(&name);
    let sunk = wiring.ports("", |port| !inside(&port.name)).inst("i_sink");
    if asks > 0 {
        bus.answer(&sunk);
    }

    m.section("Flushes: at the end of each hart's trace, and when the sink asks for one.");
    let mut requests: Vec<Expr> = Vec::new();
    if asks > 0 {
        requests.push(SinkOut::of(&sunk).flush);
    }
    for hart in harts.iter().rev() {
        requests.push(hart.packets.flush.clone());
    }
    for (bit, hart) in (0u32..).zip(&harts) {
        m.assign(&hart.asked, asked.bit(bit));
        m.unused(&done.bit(bit));
    }
    m.inst(
        "i_flush",
        &flush(config.harts + asks, index_width(config.fifo_depth + 1)),
        &[
            ("request_i", &concat(&requests.iter().collect::<Vec<_>>())),
            ("asked_o", &asked),
            ("done_o", &done),
            ("waiting_i", &buffer.usage),
            ("taken_i", &(&buffer.valid & &taken)),
            ("flush_o", &flush_now),
            ("flushed_i", &flushed),
        ],
    );
    bus.finish();
    Ok(m.finish().prefixed(&config.prefix))
}

/// Names and texts of the SystemVerilog files of a top module, in the order that tools require. Memories and queues are in one
/// of them, `te_cells.sv`; each other module has its own.
pub fn sources(config: &TopConfig) -> Result<Vec<(String, String)>, TopError> {
    Ok(gathered(files(&top(config)?), &config.prefix, ORIGIN))
}

/// Packets on their way.
struct Packets {
    valid: Expr,
    data: Expr,
    len: Expr,
    ready: Expr,
}

/// Packets with runs of null packets, and what they depend on.
struct Aligned {
    packets: Packets,
    outputs: AlignerOut,
    freq: Expr,
    held: Expr,
    flushed: Expr,
}

/// Puts runs of null packets between packets, if the sink asks for them.
fn align(
    m: &Module,
    config: &TopConfig,
    sink: &Component,
    packets: &Packets,
) -> Result<Option<Aligned>, TopError> {
    let Some(run_bytes) = config.frame()?.null_run().filter(|_| has(sink, "freq_o")) else {
        return Ok(None);
    };
    m.section("Runs of null packets, at which reading can start.");
    let (max_bytes, word_bytes) = (packets.data.width() / 8, config.sink.word_bytes());
    let ready = m.wire("packer_ready", 1);
    let freq = m.wire("freq", FREQ_BITS);
    let held = m.wire("held", index_width(word_bytes));
    let flushed = m.wire("word_padded", 1);
    let outputs = AlignerOut::of(&m.inst(
        "i_aligner",
        &aligner(Aligner { max_bytes, run_bytes, word_bytes }),
        &[
            ("valid_i", &packets.valid),
            ("data_i", &packets.data),
            ("len_i", &packets.len),
            ("ready_o", &packets.ready),
            ("ready_i", &ready),
            ("freq_i", &freq),
            ("held_i", &held),
            ("flushed_i", &flushed),
        ],
    ));
    let AlignerOut { valid, data, len, .. } = outputs.clone();
    Ok(Some(Aligned { packets: Packets { valid, data, len, ready }, outputs, freq, held, flushed }))
}

/// The encoder of one hart.
struct Hart {
    packets: HartOut,
    ready: Expr,
    asked: Expr,
}

impl Hart {
    fn new(
        m: &Module,
        config: &TopConfig,
        of: &Component,
        number: u32,
        bus: &mut Bus<'_>,
        time: Option<&Expr>,
    ) -> Self {
        let ready = m.wire(&format!("hart{number}_ready"), 1);
        let asked = m.wire(&format!("hart{number}_asked"), 1);
        let source = u128::from(config.first_source + number);
        let inside = |name: &str| {
            ["valid_o", "data_o", "len_o", "flush_o"].contains(&name) || APB_ANSWER.contains(&name)
        };
        let wiring = Wiring::new(m, of.clone())
            .wire("ready_i", &ready)
            .wire("asked_i", &asked)
            .wire_if("src_id_i", || lit(config.standard().src_id_bits.into(), source));
        let wiring = match time {
            Some(time) => wiring.wire("time_i", time),
            None => wiring,
        };
        let packets = bus
            .connect(wiring, number)
            .ports(&format!("hart{number}_"), |port| !inside(&port.name))
            .inst(&format!("i_hart{number}"));
        bus.answer(&packets);
        Self { packets: HartOut::of(&packets), ready, asked }
    }
}

/// Joins the packets of all harts into one stream: whether there is one, and its length above its
/// bytes.
fn join(m: &Module, harts: &[Hart], max_bytes: u32, ready: &Expr) -> (Expr, Expr) {
    if let [hart] = harts {
        m.assign(&hart.ready, ready);
        let packets = &hart.packets;
        return (packets.valid.clone(), concat(&[&packets.len, &packets.data]));
    }
    let all = |of: fn(&HartOut) -> &Expr| {
        concat(&harts.iter().rev().map(|hart| of(&hart.packets)).collect::<Vec<_>>())
    };
    let one = FunnelOut::of(&m.inst(
        "i_funnel",
        &funnel(harts.len() as u32, max_bytes),
        &[
            ("valid_i", &all(|packets| &packets.valid)),
            ("data_i", &all(|packets| &packets.data)),
            ("len_i", &all(|packets| &packets.len)),
            ("ready_i", ready),
        ],
    ));
    for (bit, hart) in (0u32..).zip(harts) {
        m.assign(&hart.ready, one.ready.bit(bit));
    }
    (one.valid.clone(), concat(&[&one.len, &one.data]))
}
