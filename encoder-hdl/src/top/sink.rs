//! Sinks and their registers.

use crate::registers::{RamSinkParams, atb_bridge_registers, ram_sink_registers};
use crate::top::config::{Sink, TopConfig, TopError};
use crate::top::wiring::{APB, APB_ANSWER, Wiring};
use crate::transport::{
    AtbSinkOut, FREQ_BITS, MemorySink, atb_sink, axis_sink, frame_generator, len_width, memory_sink,
};
use hartrace_rtl::{Component, Expr, Module, bundle, concat, lit};

bundle! {
    /// What a sink with registers asks for.
    pub(crate) struct SinkOut { flush }
}

bundle! {
    /// What the registers of a ring buffer say.
    struct MemoryTold { enable, flush, freq: Option }
}

bundle! {
    /// What a ring buffer says.
    struct MemoryOut { idle }
}

bundle! {
    /// What the registers of an ATB bridge say.
    struct AtbTold { enable, id, flush }
}

/// The module that accepts words.
///
/// `valid_i ready_o data_i len_i last_i` connect to the packer; not all sinks have `last_i`. A sink
/// with registers has a port for them, `waiting_i` (trace is before the packer or in it) and, for
/// each reason to flush, a bit of `flush_o asked_i done_i`, which connect to a
/// [`flush`](crate::top::flush::flush). A sink that asks for runs of null packets has `freq_o`, which
/// connects to an [`aligner`](crate::transport::aligner). All other ports are external ports of the sink.
pub(crate) fn sink(config: &TopConfig) -> Result<Component, TopError> {
    match config.sink {
        Sink::AxiStream { word_bytes } => Ok(axis_sink(word_bytes)),
        Sink::Atb { word_bytes } => Ok(atb(word_bytes)),
        Sink::Memory { address_width, word_bytes, burst_words } => {
            let addr_width = address_width;
            let Some(of) = config.ram_sink_params() else {
                return Err(TopError::Needs {
                    what: "te_memory".into(),
                    needs: "sink.memory".into(),
                });
            };
            memory(&of, MemorySink { word_bytes, addr_width, burst_words })
        }
        Sink::Frames { id, sync_frames } => Ok(frames(id, sync_frames)),
    }
}

fn is_bus(name: &str) -> bool {
    APB.contains(&name) || APB_ANSWER.contains(&name)
}

/// The module `te_memory`: a ring buffer in memory with its registers.
pub(crate) fn memory(of: &RamSinkParams, params: MemorySink) -> Result<Component, TopError> {
    let m = Module::new("te_memory", "Words into a ring buffer in memory, with its registers.")
        .clocked();
    let valid_i = m.input("valid_i", 1, "");
    let ready_o = m.output("ready_o", 1, "");
    let waiting_i = m.input("waiting_i", 1, "trace is before the packer or in it");
    let flush_o = m.output("flush_o", 1, "asks for a flush, for a cycle");
    let asked_i = m.input("asked_i", 1, "until done");
    let done_i = m.input("done_i", 1, "all words of the flush are here");

    let registers = ram_sink_registers(of)?;
    let [empty, flushed, word_valid, word_ready] =
        ["empty", "flushed", "word_valid", "word_ready"].map(|name| m.wire(name, 1));
    let block = memory_sink(params);
    let statuses = ["stopped", "outside", "wp", "wrap", "error", "lost", "fill"].map(|name| {
        let port = format!("{name}_o");
        let width = block.ports().iter().find(|other| other.name == port).map_or(1, |p| p.width);
        (name, m.wire(name, width))
    });
    let mut wiring = Wiring::new(&m, registers.clone())
        .wire("empty_i", &empty)
        .wire("flushed_i", &flushed)
        .ports("", |port| is_bus(&port.name));
    for (name, status) in &statuses {
        wiring = wiring.wire(&format!("{name}_i"), status);
    }
    let told = wiring.inst("i_registers");

    let mut wiring = Wiring::new(&m, block)
        .wire("valid_i", &word_valid)
        .wire("ready_o", &word_ready)
        .told_by(&registers, &told);
    for (name, status) in &statuses {
        wiring = wiring.wire(&format!("{name}_o"), status);
    }
    let written = wiring.ports("", |port| port.name != "idle_o").inst("i_sink");
    let (idle, told) = (&MemoryOut::of(&written).idle, MemoryTold::of(&told));

    if let Some(freq) = &told.freq {
        let freq_o = m.output("freq_o", FREQ_BITS, "asks for runs of null packets");
        // A new stream starts when the sink is switched on.
        m.assign(&freq_o, told.enable.gate(freq));
    }
    m.section(
        "A sink that is switched off throws away what it has. So it stays on after a flush until all\n\
         is in memory, and takes nothing new meanwhile.",
    );
    let settles = m.reg("settles", false);
    m.assign(&settles.d, &done_i | (&settles.q & !idle));
    m.assign(&flushed, &settles.q & idle);
    m.assign(&flush_o, &told.flush & !&asked_i & !&settles.q);
    m.assign(&word_valid, &valid_i & !&settles.q);
    m.assign(&ready_o, &word_ready & !&settles.q);
    m.assign(&empty, idle & !(&told.enable & &waiting_i));
    Ok(m.finish())
}

/// The module `te_frames`: a frame generator for one source.
fn frames(id: u32, sync_frames: u32) -> Component {
    let m = Module::new("te_frames", "Words in CoreSight frames of one source.").clocked();
    Wiring::new(&m, frame_generator(sync_frames))
        .wire("id_i", &lit(7, id.into()))
        .ports("", |_| true)
        .inst("i_generator");
    m.finish()
}

/// The module `te_atb`: an ATB with its registers.
fn atb(word_bytes: u32) -> Component {
    let m = Module::new("te_atb", "Words onto an AMBA trace bus, with the registers of a bridge.")
        .clocked();
    let valid_i = m.input("valid_i", 1, "");
    let ready_o = m.output("ready_o", 1, "");
    let data_i = m.input("data_i", 8 * word_bytes, "");
    let len_i = m.input("len_i", len_width(word_bytes), "");
    let waiting_i = m.input("waiting_i", 1, "trace is before the packer or in it");
    let flush_o = m.output("flush_o", 2, "the bridge, the bus: asks for a flush, for a cycle");
    let asked_i = m.input("asked_i", 2, "until done");
    let done_i = m.input("done_i", 2, "all words of the flush have left");

    let empty = m.wire("empty", 1);
    let told = Wiring::new(&m, atb_bridge_registers())
        .wire("empty_i", &empty)
        .wire("flushed_i", &done_i.bit(0))
        .ports("", |port| is_bus(&port.name))
        .inst("i_registers");
    let told = AtbTold::of(&told);
    let enable = &told.enable;

    m.section("While it is off, words are thrown away: waiting would stop the hart.");
    let sent = Wiring::new(&m, atb_sink(word_bytes))
        .wire("valid_i", &(&valid_i & enable))
        .wire("data_i", &data_i)
        .wire("len_i", &len_i)
        .wire("id_i", &told.id)
        .wire("flushed_i", &done_i.bit(1))
        .ports("", |port| port.name.starts_with("at") || port.name.starts_with("af"))
        .inst("i_sink");
    let sent = AtbSinkOut::of(&sent);
    m.assign(&ready_o, !enable | &sent.ready);
    m.assign(&empty, !(enable & &waiting_i));
    let asks: [&Expr; 2] = [&sent.flush, &told.flush];
    m.assign(&flush_o, concat(&asks) & !&asked_i);
    m.finish()
}
