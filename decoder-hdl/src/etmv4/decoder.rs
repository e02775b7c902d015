//! The decoder as a whole.

use super::action::{self, HEADER_BITS};
use super::format::{Format, Target};
use super::{Config, ConfigError, stream, trace};
use crate::wires::{delay, instance, join};
use hartrace_rtl::{Component, Expr, Module};

/// Cycles from a byte to the record of the packet that it ends.
pub const LATENCY: u32 = 5;

/// The fields of a record, in the order of the ports: name, and what it is.
pub const RECORD: [(&str, &str); 15] = [
    ("valid", "a packet ended with this byte, or an error was found"),
    ("error", "the byte is malformed; what follows is dropped up to the next synchronisation"),
    ("header", "the header of the packet; bit 8: an extension, with its last byte"),
    ("address", "the newest address; bit 0 is its instruction set"),
    ("returns", "the packet follows an exception, so its address is where that returns to"),
    ("atoms", "number of atoms in the packet"),
    ("outcomes", "the atoms, the oldest lowest; a set bit is E"),
    ("events", "the events, if it is a packet of events"),
    ("context", "NS, SF, NSE, exception level (2 bits)"),
    ("vmid", "virtual context identifier"),
    ("context_id", "context identifier"),
    ("timestamp", "time"),
    ("cycles", "cycles counted so far"),
    ("exception", "what the address of the last exception means (2 bits), its number (10 bits)"),
    ("count", "what a packet of commits, cancels or a Q element counts, if not in its header"),
];

/// The width of a field of a record; 0 if the configuration does not have it.
fn width(config: &Config, field: &str) -> u32 {
    match field {
        "header" => HEADER_BITS,
        "atoms" => 5,
        "outcomes" => 24,
        "events" => 4,
        "cycles" => config.cycles_bits,
        _ => {
            let target = Target::ALL.into_iter().find(|target| target.name() == field);
            target.map_or(1, |target| target.width(config))
        }
    }
}

/// The module `etmv4_decoder`: bytes in, records out, always a fixed number of cycles later.
///
/// # Errors
///
/// If there is no decoder with these parameters.
pub fn decoder(config: &Config) -> Result<Component, ConfigError> {
    config.check()?;
    let format = Format::new(config);
    let u = config.unroll;
    let m = Module::new(
        "etmv4_decoder",
        "Decodes ETMv4 trace. Byte i of a cycle is older than byte i + 1; bytes that are not valid do not count.",
    )
    .clocked();
    let valid_i = m.input("valid_i", u, "valid bytes");
    let bytes_i = m.input("bytes_i", 8 * u, "bytes, the oldest lowest");
    let outputs: Vec<(&str, Expr)> = RECORD
        .iter()
        .filter(|(name, _)| width(config, name) > 0)
        .map(|(name, doc)| (*name, m.output(&format!("{name}_o"), u * width(config, name), doc)))
        .collect();

    m.section("Where packets start and end.");
    let valid = delay(&m, "valid", &valid_i, true);
    let bytes = delay(&m, "bytes", &bytes_i, false);
    let roles = m.inst(
        "i_stream",
        &stream::unit(config, &format),
        &[("valid_i", &valid), ("bytes_i", &bytes)],
    );
    let role = |i: u32, of: &Component| {
        let known = stream::role(&format).into_iter();
        let known = known.map(|(name, width, ..)| {
            (format!("{name}_i"), roles[&format!("{name}_o")].slice(i * width, width))
        });
        known.filter(|(name, _)| has(of, name)).collect::<Vec<_>>()
    };

    m.section("What the bytes do.");
    let action = action::build(config, &format);
    let wires = action::wires(&format);
    let mut actions: Vec<Vec<Expr>> = wires.iter().map(|_| Vec::new()).collect();
    for i in 0..u {
        let out = instance(&m, &format!("i_action_{i}"), &action, &role(i, &action));
        for ((name, ..), all) in wires.iter().zip(&mut actions) {
            all.push(out[&format!("{name}_o")].clone());
        }
    }
    let data = ["byte", "mixed", "header", "is", "outcomes"];
    let actions: Vec<(&str, Expr)> = wires
        .iter()
        .zip(&actions)
        .map(|((name, ..), all)| {
            (*name, delay(&m, &format!("do_{name}"), &join(all), !data.contains(name)))
        })
        .collect();

    m.section("The values after each byte.");
    let unit = trace::unit(config, &format);
    let ports: Vec<_> =
        actions.iter().map(|(name, value)| (format!("{name}_i"), value.clone())).collect();
    let ports: Vec<_> = ports.into_iter().filter(|(name, _)| has(&unit, name)).collect();
    let values = instance(&m, "i_trace", &unit, &ports);
    let unit = trace::cycles_unit(config, &format);
    let known = stream::role(&format).into_iter().map(|(name, ..)| name);
    let ports: Vec<_> = known
        .map(|name| (format!("{name}_i"), roles[&format!("{name}_o")].clone()))
        .filter(|(name, _)| has(&unit, name))
        .collect();
    let cycles = instance(&m, "i_cycles", &unit, &ports);

    let unit = trace::unit(config, &format);
    let visible = |port: &str| has(&unit, port);
    m.section("Records.");
    for (name, output) in &outputs {
        let port = format!("{name}_o");
        let value = match actions.iter().find(|(other, _)| other == name) {
            _ if *name == "cycles" => cycles[&port].clone(),
            Some((_, value)) if !visible(&port) => value.clone(),
            _ => values[&port].clone(),
        };
        let clears = ["valid", "error"].contains(name);
        m.assign(output, delay(&m, &format!("record_{name}"), &value, clears));
    }
    Ok(m.finish())
}

/// A register: its name, and its value after reset.
pub type Register = (&'static str, Expr);

/// The module `etmv4_stream_{unroll}` alone, which finds where packets start and end.
///
/// # Errors
///
/// If there is no decoder with these parameters.
pub fn stream_unit(config: &Config) -> Result<Component, ConfigError> {
    config.check()?;
    Ok(stream::unit(config, &Format::new(config)))
}

/// The module `etmv4_step`, which is what one byte does there, and the registers between bytes.
///
/// # Errors
///
/// If there is no decoder with these parameters.
pub fn stream_step(config: &Config) -> Result<(Component, Vec<Register>), ConfigError> {
    config.check()?;
    let format = Format::new(config);
    let state = stream::state(&format).map(|(name, width, _)| (name, stream::start(name, width)));
    Ok((stream::step(&format), state.to_vec()))
}

/// Whether a module has a port.
fn has(component: &Component, port: &str) -> bool {
    component.ports().iter().any(|other| other.name == port)
}
