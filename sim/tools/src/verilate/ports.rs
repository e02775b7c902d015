//! The ports of a model, as Verilator sees them, and the positions of their values.

use crate::verilate::SimError;
use crate::verilate::design::Design;
use hartrace_rtl::Direction;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// A port of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelPort {
    /// Its name in SystemVerilog.
    pub name: String,
    /// Its width in bits.
    pub width: u32,
    /// Its name in the C++ class of the model.
    pub(crate) member: String,
    /// The index of its first 64-bit word in the buffer of inputs or outputs.
    pub(crate) at: usize,
}

impl ModelPort {
    pub(crate) fn words(&self) -> usize {
        self.width.div_ceil(64) as usize
    }
}

/// The ports of a model in the order of its class, without the clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ports {
    pub(crate) inputs: Vec<ModelPort>,
    pub(crate) outputs: Vec<ModelPort>,
    pub(crate) clock: Option<ModelPort>,
}

impl Ports {
    /// Reads the ports from the header of the model's class, in which each is a line such as
    /// `VL_IN8(&valid_i,1,0);` or `VL_OUTW(&data_o,255,0,8);`.
    pub(crate) fn parse(header: &str, design: &Design) -> Result<Self, SimError> {
        let unsupported = |why: String| SimError::UnsupportedPort { top: design.top.clone(), why };
        let mut ports = Self::default();
        for line in header.lines() {
            let Some((kind, rest)) =
                line.trim().strip_prefix("VL_").and_then(|l| l.split_once('('))
            else {
                continue;
            };
            let Some(rest) = rest.strip_suffix(");") else { continue };
            let direction = match kind.trim_end_matches(|c: char| c.is_ascii_digit() || c == 'W') {
                "IN" => Direction::Input,
                "OUT" => Direction::Output,
                "INOUT" => return Err(unsupported(format!("{rest} is bidirectional"))),
                _ => continue,
            };
            let Some((member, width)) = member(rest) else {
                return Err(unsupported(format!("{rest} is an unpacked array")));
            };
            let port = ModelPort { name: verilog_name(&member), width, member, at: 0 };
            match direction {
                Direction::Input if Some(&port.name) == design.clock.as_ref() => {
                    ports.clock = Some(port);
                }
                Direction::Input => place(&mut ports.inputs, port),
                Direction::Output => place(&mut ports.outputs, port),
            }
        }
        ports.check(design)?;
        Ok(ports)
    }

    /// Checks that the ports are those of the builder, and that they include clock and reset.
    fn check(&self, design: &Design) -> Result<(), SimError> {
        let no_input = |name: &str| no_port(&design.top, "input", name, &self.inputs);
        if let (Some(clock), None) = (&design.clock, &self.clock) {
            return Err(no_input(clock));
        }
        if let Some(reset) = &design.reset
            && !self.inputs.iter().any(|port| port.name == reset.input)
        {
            return Err(no_input(&reset.input));
        }
        let Some(built) = &design.ports else { return Ok(()) };
        let list = |direction: Direction, ports: &mut dyn Iterator<Item = (&str, u32)>| {
            let mut texts: Vec<_> =
                ports.map(|(name, width)| format!("{direction:?} {name} {width}")).collect();
            texts.sort();
            texts
        };
        for (direction, seen) in [
            (Direction::Input, self.inputs.iter().chain(&self.clock).collect::<Vec<_>>()),
            (Direction::Output, self.outputs.iter().collect()),
        ] {
            let built = built.iter().filter(|port| port.0 == direction);
            let built = list(direction, &mut built.map(|port| (port.1.as_str(), port.2)));
            let seen = list(direction, &mut seen.iter().map(|p| (p.name.as_str(), p.width)));
            if built != seen {
                let (built, seen) = (built.join(", "), seen.join(", "));
                return Err(SimError::PortsDiffer { top: design.top.clone(), built, seen });
            }
        }
        Ok(())
    }

    /// The part of the shim that depends on the ports.
    pub(crate) fn copying(&self, rising_only: bool) -> String {
        let words = |ports: &[ModelPort]| ports.iter().map(ModelPort::words).sum::<usize>();
        let mut text = format!(
            "namespace {{\n\
             constexpr size_t kInWords = {};\n\
             constexpr size_t kOutWords = {};\n\
             constexpr bool kClocked = {};\n\
             constexpr bool kRisingOnly = {rising_only};\n\
             template <typename T> void put(T& port, const uint64_t* w) {{ port = (T)*w; }}\n\
             template <size_t N> void put(VlWide<N>& port, const uint64_t* w) {{ memcpy(port.data(), w, 4 * N); }}\n\
             template <typename T> void take(const T& port, uint64_t* w) {{ *w = port; }}\n\
             template <size_t N> void take(const VlWide<N>& port, uint64_t* w) {{ memcpy(w, port.data(), 4 * N); }}\n",
            words(&self.inputs),
            words(&self.outputs),
            self.clock.is_some(),
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "void copy_in(Vmodel& top, const uint64_t* words) {{");
        for port in &self.inputs {
            let _ = writeln!(text, "  put(top.{}, words + {});", port.member, port.at);
        }
        let _ = writeln!(text, "}}\nvoid copy_out(Vmodel& top, uint64_t* words) {{");
        for port in &self.outputs {
            let _ = writeln!(text, "  take(top.{}, words + {});", port.member, port.at);
        }
        let _ = writeln!(text, "}}\nvoid set_clock(Vmodel& top, int level) {{");
        if let Some(clock) = &self.clock {
            let _ = writeln!(text, "  top.{} = level;", clock.member);
        }
        text.push_str("}\n}\n");
        text
    }
}

pub(crate) fn no_port(
    top: &str,
    direction: &'static str,
    name: &str,
    have: &[ModelPort],
) -> SimError {
    let have: Vec<_> = have.iter().map(|port| port.name.as_str()).collect();
    let have = if have.is_empty() { "none".to_owned() } else { have.join(", ") };
    SimError::NoPort { top: top.to_owned(), direction, name: name.to_owned(), have }
}

fn place(ports: &mut Vec<ModelPort>, mut port: ModelPort) {
    port.at = ports.last().map_or(0, |last| last.at + last.words());
    ports.push(port);
}

/// Name and width from `&data_o,255,0,8`; `None` for an array, `(&lanes_i)[2],7,0`.
fn member(text: &str) -> Option<(String, u32)> {
    let mut parts = text.strip_prefix('&')?.split(',');
    let name = parts.next()?.to_owned();
    let left: i64 = parts.next()?.parse().ok()?;
    let right: i64 = parts.next()?.parse().ok()?;
    let width = u32::try_from(left.abs_diff(right)).ok()?.checked_add(1)?;
    Some((name, width))
}

/// Restores names that Verilator changed because they are not valid in C++.
fn verilog_name(member: &str) -> String {
    member.strip_prefix("__SYM__").unwrap_or(member).replace("___05F", "__")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(header: &str) -> Result<Ports, SimError> {
        let files: [&str; 0] = [];
        Ports::parse(header, &Design::files("top", files).clock("clk_i"))
    }

    #[test]
    fn ports_of_every_size() {
        let header = "class Vmodel {\n    VL_IN8(&clk_i,0,0);\n    VL_IN8(&a___05Fb,0,0);\n    \
            VL_INW(&w_i,129,0,5);\n    VL_IN64(&q_i,0,63);\n    VL_OUT16(&h_o,15,0);\n    \
            VL_OUT(&x_o,35,4);\n    VL_UNCOPYABLE(Vmodel);\n";
        let ports = parse(header).unwrap();
        let list = |ports: &[ModelPort]| {
            ports.iter().map(|p| (p.name.clone(), p.width, p.at)).collect::<Vec<_>>()
        };
        assert_eq!(
            list(&ports.inputs),
            [("a__b".into(), 1, 0), ("w_i".into(), 130, 1), ("q_i".into(), 64, 4)]
        );
        assert_eq!(list(&ports.outputs), [("h_o".into(), 16, 0), ("x_o".into(), 32, 1)]);
        assert_eq!(ports.clock.unwrap().name, "clk_i");
    }

    #[test]
    fn ports_that_cannot_be_driven() {
        let error = |line: &str| parse(&format!("VL_IN8(&clk_i,0,0);\n{line}\n")).unwrap_err();
        let text = error("VL_OUT8((&arr_o)[2],2,0);").to_string();
        assert!(text.contains("(&arr_o)[2],2,0 is an unpacked array"), "{text}");
        let text = error("VL_INOUT8(&pad,0,0);").to_string();
        assert!(text.contains("&pad,0,0 is bidirectional"), "{text}");
        let text = parse("VL_IN8(&clk,0,0);").unwrap_err().to_string();
        assert_eq!(text, "top has no input clk_i; it has clk");
    }
}
