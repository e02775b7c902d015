//! The decoder as a whole.

use super::extract::{self, EFFECTS};
use super::shape::Shape;
use super::{Config, ConfigError, boundary, gather, resolve, select, vectors};
use crate::wires::{delay, instance, join};
use hartrace_etrace::FieldName;
use hartrace_rtl::{Component, Expr, Module, bundle, zero};

bundle! {
    /// What addresses need of extracted fields.
    struct Extracted { address, addressed, forgets }
}

/// Cycles from a byte to the fields of the packet that it ends, without the address.
const TO_FIELDS: u32 = 9;

/// Cycles from a byte to the record of the packet that it ends.
///
/// # Errors
///
/// If there is no decoder with these parameters.
pub fn latency(config: &Config) -> Result<u32, ConfigError> {
    config.check()?;
    Ok(TO_FIELDS + resolve::latency(&Shape::new(config)?))
}

/// A field of a record.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The port is called `name_o`.
    pub name: &'static str,
    /// Its width in one record.
    pub width: u32,
    /// What it is.
    pub doc: &'static str,
}

/// What the fields are that are not fields of payloads, or differ from them.
const DOCS: [(&str, &str); 10] = [
    ("valid", "a packet ended in these two bytes"),
    ("second", "it ended with the second one"),
    (
        "error",
        "0, or why it cannot be decoded: 1 no payload, 2 unknown format, 3 reserved branch_fmt",
    ),
    ("format", "the format: 0.0, 0.1, 1, 2, 3.0 to 3.3 are 0 to 7"),
    ("stamped", "the packet has a timestamp"),
    ("timestamp", "the timestamp"),
    ("addressed", "the packet has an address or the index of one"),
    ("known", "the address is known"),
    ("address", "the last address that was sent, absolute"),
    ("branches", "the number of branches in the map; full maps have 31"),
];

/// The fields of the records of a decoder, in the order of its ports.
///
/// # Errors
///
/// If there is no decoder with these parameters.
pub fn record(config: &Config) -> Result<Vec<Field>, ConfigError> {
    config.check()?;
    Ok(fields(&Shape::new(config)?))
}

fn fields(shape: &Shape) -> Vec<Field> {
    let doc = |name: &str| DOCS.iter().find(|(other, _)| *other == name).map_or("", |(_, doc)| doc);
    let hidden =
        |name: &str| name != "addressed" && EFFECTS.iter().any(|(other, _)| *other == name);
    let mut fields: Vec<Field> = extract::extracted(shape)
        .into_iter()
        .filter(|(name, ..)| !hidden(name))
        .map(|(name, width, _)| Field { name, width, doc: doc(name) })
        .collect();
    fields.push(Field { name: "known", width: 1, doc: doc("known") });
    for field in &mut fields {
        if field.name == FieldName::Address.as_str() {
            field.width = shape.layout.params().iaddress_width_p.into();
        }
    }
    fields
}

/// The module `etrace_decoder`: bytes in, records out, always a fixed number of cycles later.
///
/// # Errors
///
/// If there is no decoder with these parameters.
pub fn decoder(config: &Config) -> Result<Component, ConfigError> {
    build(config, false, false)
}

/// Like [`decoder`], with an input for the trap vector of each privilege: the addresses of handlers in
/// implicit-exception mode are then known.
///
/// # Errors
///
/// If there is no decoder with these parameters.
pub fn decoder_with_vectors(config: &Config) -> Result<Component, ConfigError> {
    build(config, true, false)
}

/// Like one of these, with what those need who count packets: for every byte, when its record would leave, `lane_last_o`,
/// if a packet ends with it, and the outputs of [`boundary::counted`] with the same prefix.
pub(crate) fn decoder_for_counting(
    config: &Config,
    with_vectors: bool,
) -> Result<Component, ConfigError> {
    build(config, with_vectors, true)
}

fn build(config: &Config, with_vectors: bool, counting: bool) -> Result<Component, ConfigError> {
    config.check()?;
    let shape = Shape::new(config)?;
    let (u, slots) = (shape.unroll, shape.slots());
    let m = Module::new(
        "etrace_decoder",
        "Decodes encapsulated E-Trace. Byte i of a cycle is older than byte i + 1; bytes that are not valid do not \
         count. There is a record for every two bytes, in the order of the stream. Fields that a packet does not \
         have are 0. Packets of other sources and types have no record.",
    )
    .clocked();
    let valid_i = m.input("valid_i", u, "valid bytes");
    let bytes_i = m.input("bytes_i", 8 * u, "bytes, the oldest lowest");
    let source_i = (shape.source_bits > 0)
        .then(|| m.input("source_i", shape.source_bits, "the srcID whose packets are decoded"));
    let vectors_i = with_vectors.then(|| {
        let width = vectors::width(&shape);
        m.input("vectors_i", width, "trap vector registers, that of privilege 0 lowest")
    });
    let outputs: Vec<(Field, Expr)> = fields(&shape)
        .into_iter()
        .map(|field| {
            (field, m.output(&format!("{}_o", field.name), slots * field.width, field.doc))
        })
        .collect();
    let mut lanes: Vec<(&str, Expr)> = Vec::new();
    if counting {
        let known =
            [("last", "packets end with them")].into_iter().chain(boundary::counted(config));
        lanes.extend(known.map(|(name, doc)| (name, m.output(&format!("lane_{name}_o"), u, doc))));
    }

    m.section("Where packets start and end.");
    let ports = [("valid_i", &valid_i), ("bytes_i", &bytes_i)];
    let roles = m.inst("i_boundary", &boundary::unit(config, &shape, counting), &ports);

    m.section("Packets.");
    let ports = connect(boundary::role(&shape).into_iter().map(|(name, ..)| name), &roles);
    let packets = instance(&m, "i_gather", &gather::unit(&shape), &ports);
    let mut ports = connect(gather::packet(&shape).into_iter().map(|(name, ..)| name), &packets);
    ports.extend(source_i.map(|source| ("source_i".to_owned(), source)));
    let selected = instance(&m, "i_selection", &select::unit(&shape), &ports);
    let ports = connect(select::selected(&shape).into_iter().map(|(name, ..)| name), &selected);
    let extracted = instance(&m, "i_extraction", &extract::unit(&shape), &ports);

    m.section("The last address.");
    let unit = resolve::unit(&shape);
    let used = |name: &str| unit.ports().iter().any(|port| port.name == format!("{name}_i"));
    let mut ports = connect(["absolute", "jump"].into_iter(), &extracted);
    let handlers = vectors_i.map(|vectors| vectors::handlers(&m, &shape, &vectors, &extracted));
    let fields = Extracted::of(&extracted);
    let (implicit, sent) = handlers.unwrap_or_else(|| (zero(slots), fields.address));
    ports.extend([
        ("addressed_i".to_owned(), &fields.addressed | &implicit),
        ("forgets_i".to_owned(), &fields.forgets & !implicit),
        ("sent_i".to_owned(), sent),
    ]);
    for name in ["stores", "clears", "index"] {
        if used(name) {
            ports.push((format!("{name}_i"), extracted[&format!("{name}_o")].clone()));
        } else if name != "index" {
            m.unused(&extracted[&format!("{name}_o")]);
        }
    }
    let resolved = instance(&m, "i_resolve", &unit, &ports);

    m.section("Records.");
    let lsb = shape.layout.params().iaddress_lsb_p.into();
    for (field, output) in &outputs {
        let port = format!("{}_o", field.name);
        let value = match field.name {
            "known" => resolved[&port].clone(),
            "address" => {
                let sent = field.width - lsb;
                let full = (0..slots).flat_map(|slot| {
                    let low = (lsb > 0).then(|| zero(lsb));
                    low.into_iter().chain([resolved[&port].slice(slot * sent, sent)])
                });
                join(&full.collect::<Vec<_>>())
            }
            name => (1..=resolve::latency(&shape))
                .fold(extracted[&port].clone(), |value, stage| {
                    delay(&m, &format!("{name}_after_{stage}"), &value, name == "valid")
                }),
        };
        m.assign(output, value);
    }
    for (name, output) in &lanes {
        let stages = TO_FIELDS + resolve::latency(&shape) - boundary::LATENCY;
        let value = (1..=stages).fold(roles[&format!("{name}_o")].clone(), |value, stage| {
            delay(&m, &format!("lane_{name}_after_{stage}"), &value, true)
        });
        m.assign(output, value);
    }
    Ok(m.finish())
}

/// The stage alone that finds where packets start and end.
///
/// # Errors
///
/// If there is no decoder with these parameters.
pub fn boundary_unit(config: &Config) -> Result<Component, ConfigError> {
    config.check()?;
    Ok(boundary::unit(config, &Shape::new(config)?, false))
}

/// What one byte does in the stage that finds packets.
#[derive(Clone, Debug)]
pub struct Step {
    /// The module `etrace_step`.
    pub step: Component,
    /// The registers between bytes, and their values after reset.
    pub state: Vec<(&'static str, Expr)>,
    /// So many null packets cannot lie within a packet.
    pub null_run: u32,
}

/// What one byte does in the stage that [`boundary_unit`] is.
///
/// # Errors
///
/// If there is no decoder with these parameters.
pub fn boundary_step(config: &Config) -> Result<Step, ConfigError> {
    config.check()?;
    let shape = Shape::new(config)?;
    let state = boundary::state(&shape).into_iter();
    let state = state.map(|(name, width, _)| (name, boundary::start(config, name, width)));
    Ok(Step { step: boundary::step(&shape), state: state.collect(), null_run: shape.longest() + 1 })
}

/// Outputs of one stage as inputs of the next.
fn connect(
    names: impl Iterator<Item = &'static str>,
    from: &hartrace_rtl::Outputs,
) -> Vec<(String, Expr)> {
    names.map(|name| (format!("{name}_i"), from[&format!("{name}_o")].clone())).collect()
}
