//! All of it, with registers.

use super::profile::RECORD_BYTES;
use super::windows::WindowsOut;
use super::{Config, ConfigError, counters, monitor, profile, windows};
use crate::wires::instance;
use hartrace_decoder::block_table::Ends;
use hartrace_encoder_hdl::registers::{analysis as table, analysis_registers};
use hartrace_rtl::{Component, Direction, Expr, Module, bundle};

bundle! {
    /// What the registers say to all parts.
    struct Told { clear, enable }
}

bundle! {
    /// What they say to those for blocks.
    struct BlocksTold { profile_index, trigger, window_index, first, second, property, limit }
}

/// The outputs of a [walker](crate::walker) that the analysis has as inputs, without `_o`.
pub const BLOCK: [&str; 9] =
    ["valid", "start", "last", "ends", "taken", "faulted", "next_valid", "next", "gap"];

/// The module `trace_analysis`: what a decoder and a walker give, counted and watched; registers on APB4; spilled
/// entries of the profile as packets of [`RECORD_BYTES`] bytes, for a packer and a sink of the encoder. Without a walker,
/// it counts packets only.
///
/// # Errors
///
/// If there is no analysis with these parameters.
pub fn analysis(config: &Config) -> Result<Component, ConfigError> {
    config.check()?;
    let m = Module::new(
        "trace_analysis",
        "Counts and watches what a trace decoder and a block walker give. Nothing waits for it; what is lost is counted.",
    )
    .clocked();
    let input = |name: &str| {
        let width = match name {
            "start" | "last" | "next" => config.address_bits,
            "ends" => Ends::BITS,
            _ => 1,
        };
        m.input(&format!("{name}_i"), width, "of the walker")
    };
    let block: Vec<(&str, Expr)> =
        BLOCK.into_iter().filter(|_| config.blocks).map(|name| (name, input(name))).collect();
    let of = |name: &str| {
        let found = block.iter().find(|(other, _)| *other == name);
        found.map_or_else(|| hartrace_rtl::lit(1, 0), |(_, expr)| expr.clone())
    };
    let registers = analysis_registers(&config.registers())?;

    m.section("Registers.");
    let mut ports: Vec<(String, Expr)> = Vec::new();
    for port in registers.ports().iter().filter(|port| is_bus(&port.name)) {
        let signal = match port.direction {
            Direction::Input => m.input(&port.name, port.width, &port.doc),
            Direction::Output => m.output(&port.name, port.width, &port.doc),
        };
        ports.push((port.name.clone(), signal));
    }
    let statuses: Vec<(&str, Expr)> = table(&config.registers())?
        .inputs
        .iter()
        .map(|input| (input.name, m.wire(&format!("status_{}", input.name), input.width)))
        .collect();
    ports.extend(statuses.iter().map(|(name, wire)| (format!("{name}_i"), wire.clone())));
    let told = instance(&m, "i_registers", &registers, &ports);
    let status = |name: &str, value: &Expr| {
        if let Some((_, wire)) = statuses.iter().find(|(other, _)| *other == name) {
            m.assign(wire, value);
        }
    };
    let common = Told::of(&told).to_inputs();
    let connect = |component: &Component, name: &str, more: &[(&str, Expr)]| {
        let mut ports = common.clone();
        ports.extend(more.iter().map(|(name, expr)| ((*name).to_owned(), expr.clone())));
        for port in component.ports().iter().filter(|port| port.direction == Direction::Input) {
            let stem = port.name.trim_end_matches("_i");
            let given = ports.iter().any(|(other, _)| *other == port.name);
            if !given && BLOCK.contains(&stem) {
                ports.push((port.name.clone(), of(stem)));
            }
        }
        instance(&m, name, component, &ports)
    };

    m.section("Packets.");
    let counters = counters::build(config);
    let lanes: Vec<(&str, Expr)> = ["byte_i", "ends_i", "error_i", "sync_i", "kind_i"]
        .into_iter()
        .map(|name| {
            let port = counters.ports().iter().find(|port| port.name == name);
            let (width, doc) = port.map_or((1, ""), |port| (port.width, port.doc.as_str()));
            (name, m.input(&format!("packet_{name}"), width, doc))
        })
        .collect();
    let counted = connect(&counters, "i_counters", &lanes);
    for name in ["bytes", "errors", "synchronisations", "kinds", "lengths"] {
        status(name, &counted[&format!("{name}_o")]);
    }

    if !config.blocks {
        status("busy", &hartrace_rtl::lit(1, 0));
        return Ok(m.finish());
    }

    let told = BlocksTold::of(&told);
    m.section("Edges: what the last instruction of a block decided.");
    let edge =
        m.let_("is_edge", of("valid") & of("next_valid") & of("ends").any() & !of("faulted"));
    let spill_valid_o = m.output("spill_valid_o", 1, "");
    let spill_ready_i = m.input("spill_ready_i", 1, "");
    let spill_o = m.output("spill_o", 8 * RECORD_BYTES, "from, to, count (7 bytes), kind");
    let more = [
        ("edge_i", edge),
        ("from_i", of("last")),
        ("to_i", of("next")),
        ("kind_i", of("ends")),
        ("index_i", told.profile_index),
        ("spill_ready_i", spill_ready_i),
        ("spill_valid_o", spill_valid_o),
        ("spill_o", spill_o),
    ];
    let profiled = connect(&profile::build(config), "i_profile", &more);
    for name in ["from", "to", "kind", "count", "lost", "clearing", "busy"] {
        status(name, &profiled[&format!("{name}_o")]);
    }

    m.section("Windows and the property.");
    let more = [("trigger_i", told.trigger), ("index_i", told.window_index)];
    let kept = connect(&windows::build(config), "i_windows", &more);
    let kept = WindowsOut::of(&kept);
    status("window", &kept.window);
    status("window_length", &kept.length);
    status("windows", &kept.windows);
    let more = [
        ("first_i", told.first),
        ("second_i", told.second),
        ("property_i", told.property),
        ("limit_i", told.limit),
    ];
    let watched = connect(&monitor::build(config), "i_monitor", &more);
    status("violations", watched.only());
    Ok(m.finish())
}

/// Whether a port belongs to the bus.
pub(crate) fn is_bus(name: &str) -> bool {
    [
        "psel_i",
        "penable_i",
        "pwrite_i",
        "paddr_i",
        "pwdata_i",
        "pstrb_i",
        "pready_o",
        "prdata_o",
        "pslverr_o",
    ]
    .contains(&name)
}
