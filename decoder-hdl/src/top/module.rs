//! The top module.

use super::{Config, TOP, packets};
use crate::analysis::{BLOCK, RECORD_BYTES, analysis, counter, is_bus};
use crate::frame::StageOut;
use crate::wires::{any, instance};
use crate::{Decoder, DecoderError, etmv4, etrace, frame, walker};
use hartrace_encoder_hdl::registers::decoder_registers;
use hartrace_encoder_hdl::top::{Bus, Wiring, record_writer};
use hartrace_rtl::{Component, Direction, Expr, Module, Outputs, bundle, index_width, lit, zero};

bundle! {
    /// What the registers say.
    struct Told { enable, clear, trace_id: Option }
}

bundle! {
    /// What they say to a walker.
    struct WalkerTold { table_we, table_index, table_word, base, r#final }
}

bundle! {
    /// What a walker says to the registers.
    struct Walked { lost, busy }
}

bundle! {
    /// What an analysis spills.
    struct Spilled { spill_valid, spill }
}

/// The most cycles from a word of a port to the bytes that it completes.
const FRAME_CYCLES: u32 = 8;

/// Cycles that records may take on their way into the walker or to the counters.
const BETWEEN: u32 = 4;

/// The module `td_top`.
///
/// | ports | |
/// |---|---|
/// | `psel_i` … `pslverr_o` | APB4: a page of registers for the decoder, one for the analysis, one for the sink |
/// | `valid_i`, `bytes_i` | bytes, or the words of a trace port |
/// | outputs of the walker, or of the decoder if there is none | for other back ends |
/// | `aw*`, `w*` and `b*` | AXI4, write channels: what the profile spills |
///
/// # Errors
///
/// If there is no decoder with these parameters.
pub fn top(config: &Config) -> Result<Component, DecoderError> {
    let pages = config.pages()?.len() as u32;
    let (decoder, walker) = parts(&config.decoder)?;
    let u = config.decoder.unroll();
    let m = Module::new(
        TOP,
        "Trace decoder: bytes of trace come in and are decoded, counted and watched. Software controls it over APB4.\n\
         Nothing here can make the source of the trace wait.",
    )
    .clocked();
    let mut bus = Bus::new(&m, pages);
    let (lanes, doc) = match config.frames {
        true => (1, "there is a word"),
        false => (u, "valid bytes"),
    };
    let valid_i = m.input("valid_i", lanes, doc);
    let bytes_i = m.input("bytes_i", 8 * u, "bytes, the oldest lowest");

    m.section("Registers.");
    let registers = decoder_registers(&config.registers())?;
    let mut statuses: Vec<(&str, Expr)> = Vec::new();
    let mut wiring = Wiring::new(&m, registers.clone());
    let inputs = registers.ports().iter().filter(|port| port.direction == Direction::Input);
    for port in inputs.filter(|port| !is_bus(&port.name) && !is_clock(&port.name)) {
        let wire = m.wire(&format!("status_{}", port.name.trim_end_matches("_i")), port.width);
        wiring = wiring.wire(&port.name, &wire);
        statuses.push((&port.name, wire));
    }
    let told = bus.connect(wiring, 0).inst("i_registers");
    bus.answer(&told);
    let says = Told::of(&told);
    let status = |name: &str, value: &Expr| {
        if let Some((_, wire)) = statuses.iter().find(|(other, _)| *other == name) {
            m.assign(wire, value);
        }
    };
    let offered = m.let_("offered", says.enable.repeat(lanes) & &valid_i);
    let (valid, bytes) = match config.frames {
        true => split(&m, &says, &offered, &bytes_i, &status)?,
        false => (offered.clone(), bytes_i),
    };
    if !config.frames {
        m.unused(&says.clear);
    }

    m.section("The decoder.");
    let mut ports = vec![("valid_i".to_owned(), valid.clone()), ("bytes_i".to_owned(), bytes)];
    for port in decoder.ports().iter().filter(|port| port.direction == Direction::Input) {
        let told_by = format!("{}_o", port.name.trim_end_matches("_i"));
        if ["source_i", "vectors_i"].contains(&&port.name[..]) {
            ports.push((port.name.clone(), told[&told_by].clone()));
        }
    }
    let records = instance(&m, "i_decoder", &decoder, &ports);
    let packets = packets::lanes(&m, &config.decoder, &valid, &records);

    let mut following = lit(1, 0);
    let mut blocks: Vec<(String, Expr)> = Vec::new();
    match &walker {
        Some(walker) => {
            let table = WalkerTold::of(&told);
            let walked = follow(&m, &table, &decoder, &records, walker);
            let Walked { lost, busy } = Walked::of(&walked);
            status("lost_i", &lost);
            let last = m.reg_en("table_index", zero(table.table_index.width()), &table.table_we);
            m.assign(&last.d, &table.table_index);
            status("table_index_i", &last.q);
            following = busy;
            blocks.extend(
                BLOCK.map(|name| (format!("{name}_i"), walked[&format!("{name}_o")].clone())),
            );
        }
        None => records_out(&m, &decoder, &records),
    }
    let most = latency(&config.decoder)? + FRAME_CYCLES + BETWEEN;
    let settles = settling(&m, &any([offered.any(), valid.any()]), most);
    status("busy_i", &(settles | following));

    m.section("What is counted and watched.");
    let of = analysis(&config.analysis)?;
    let mut wiring = bus.connect(Wiring::new(&m, of), 1);
    for (name, value) in &packets {
        wiring = wiring.wire(name, value);
    }
    for (name, value) in &blocks {
        wiring = wiring.wire(name, value);
    }
    let taken = config.analysis.blocks.then(|| m.wire("spill_taken", 1));
    if let Some(taken) = &taken {
        wiring = wiring.wire("spill_ready_i", taken);
    }
    let watched = wiring.inst("i_analysis");
    bus.answer(&watched);

    if let Some(taken) = &taken {
        m.section("What the profile spills.");
        let writer = record_writer(RECORD_BYTES, config.memory)?;
        let spilled = Spilled::of(&watched);
        let wiring = Wiring::new(&m, writer)
            .wire("valid_i", &spilled.spill_valid)
            .wire("data_i", &spilled.spill)
            .wire("ready_o", taken);
        let written = bus.connect(wiring, 2).ports("", |port| !is_bus(&port.name)).inst("i_writer");
        bus.answer(&written);
    }
    bus.finish();
    Ok(m.finish())
}

/// The decoder, and the walker behind it.
fn parts(decoder: &Decoder) -> Result<(Component, Option<Component>), DecoderError> {
    Ok(match decoder {
        Decoder::Etmv4(config) => (etmv4::decoder(config)?, None),
        Decoder::Etrace(config) => (etrace::decoder_for_counting(config, false)?, None),
        Decoder::Follower(config) => {
            let decoder = etrace::decoder_for_counting(&config.decoder, true)?;
            (decoder, Some(walker::walker(config)?))
        }
        Decoder::Etmv4Follower(config) => {
            (etmv4::decoder(&config.decoder)?, Some(walker::etmv4::walker(config)?))
        }
    })
}

/// Cycles from a byte to the record of the packet that it ends.
fn latency(decoder: &Decoder) -> Result<u32, DecoderError> {
    Ok(match decoder {
        Decoder::Etmv4(_) | Decoder::Etmv4Follower(_) => etmv4::LATENCY,
        Decoder::Etrace(config) => etrace::latency(config)?,
        Decoder::Follower(config) => etrace::latency(&config.decoder)?,
    })
}

fn is_clock(name: &str) -> bool {
    ["clk_i", "rst_ni"].contains(&name)
}

/// The bytes of one source, from the words of a port: which are valid, and the bytes.
fn split(
    m: &Module,
    told: &Told,
    valid: &Expr,
    bytes: &Expr,
    status: &dyn Fn(&str, &Expr),
) -> Result<(Expr, Expr), DecoderError> {
    m.section("Frames.");
    let stage = frame::stage(&frame::Config { decoders: 1 })?;
    let mut ports = vec![("valid_i", valid), ("bytes_i", bytes)];
    ports.extend(told.trace_id.iter().map(|id| ("sources_i", id)));
    let split = StageOut::of(&m.inst("i_frames", &stage, &ports));
    m.unused(&split.ids);
    m.unused(&split.all);
    status("synced_i", &split.synced);
    status("frame_errors_i", &counter(m, "frame_errors", &told.clear, &split.error));
    Ok((split.valid, split.bytes))
}

/// The walker; its outputs are outputs of the module, too.
fn follow(
    m: &Module,
    told: &WalkerTold,
    decoder: &Component,
    records: &Outputs,
    walker: &Component,
) -> Outputs {
    m.section("The walker.");
    let has = |of: &Component, name: &str| of.ports().iter().any(|port| port.name == name);
    let mut ports = vec![
        ("write_i".to_owned(), told.table_we.clone()),
        ("write_index_i".to_owned(), told.table_index.clone()),
        ("write_word_i".to_owned(), told.table_word.clone()),
        ("base_i".to_owned(), told.base.clone()),
        ("final_i".to_owned(), told.r#final.clone()),
    ];
    for port in decoder.ports().iter().filter(|port| port.direction == Direction::Output) {
        let input = format!("{}_i", port.name.trim_end_matches("_o"));
        if has(walker, &input) {
            ports.push((input, records[&port.name].clone()));
        } else if !COUNTED.contains(&&port.name[..]) {
            m.unused(&records[&port.name]);
        }
    }
    for port in walker.ports().iter().filter(|port| port.direction == Direction::Output) {
        ports.push((port.name.clone(), m.output(&port.name, port.width, &port.doc)));
    }
    instance(m, "i_walker", walker, &ports)
}

/// Outputs of a decoder that are used to count packets.
const COUNTED: [&str; 9] = [
    "valid_o",
    "header_o",
    "second_o",
    "error_o",
    "format_o",
    "lane_valid_o",
    "lane_last_o",
    "lane_null_o",
    "lane_found_o",
];

/// The records of the decoder as outputs of the module.
fn records_out(m: &Module, decoder: &Component, records: &Outputs) {
    m.section("Records, for other back ends.");
    let outputs = decoder.ports().iter().filter(|port| port.direction == Direction::Output);
    for port in outputs.filter(|port| !port.name.starts_with("lane_")) {
        let output = m.output(&port.name, port.width, &port.doc);
        m.assign(&output, &records[&port.name]);
    }
}

/// Whether something may still be on its way: up to a number of cycles after the last byte.
fn settling(m: &Module, comes: &Expr, cycles: u32) -> Expr {
    let width = index_width(cycles + 1);
    let left = m.reg("cycles_left", zero(width));
    let fewer = left.q.any().gate(&left.q - lit(width, 1));
    m.assign(&left.d, comes.mux(lit(width, cycles.into()), fewer));
    left.q.any()
}
