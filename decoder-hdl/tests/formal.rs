//! Several bytes per cycle are the same as one byte after the other, holes included: the units that find packets, at the
//! widths of real trace units, from reset and for any bytes.
//!
//! A unit is compared with a chain of steps, each of which is what one byte does: for one byte per cycle, and for every other
//! number. So each number of bytes is the same as one at a time. Equal registers are merged, which makes many
//! lanes as easy as few.

use hartrace_decoder_hdl::{etmv4, etrace};
use hartrace_encap::EncapParams;
use hartrace_etrace::{Params, Unit};
use hartrace_hdl_tools::prove::{Proof, Rig, run};
use hartrace_rtl::{Component, Direction, Expr, Module, concat, index_width, lit, zero};
use std::path::Path;

fn main() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // All of them take minutes.
    let all = std::env::var("HARTRACE_PROOFS").is_ok_and(|which| which == "all");
    let numbers: Vec<u32> = if all { (1..=8).collect() } else { vec![1, 4, 8] };
    let mut proofs: Vec<Proof> = numbers.iter().copied().map(stream).collect();
    proofs.extend(numbers.into_iter().map(|unroll| boundary("boundary", unroll, (0, 0, 0), true)));
    // Sources, times and types, and a start in the middle of a packet.
    if all {
        proofs.extend([1, 3].map(|unroll| boundary("boundary_many", unroll, (16, 4, 2), false)));
    }
    run(folder, proofs)
}

/// Registers between bytes: name, and value after reset.
type State = Vec<(&'static str, Expr)>;

/// Text that lives as long as a mistake.
fn text(text: String) -> &'static str {
    text.leak()
}

/// With this many bytes per cycle, all mistakes are made, with others one: they take as long as proofs.
const ALL_MISTAKES: u32 = 4;

/// The last lane does not see the one before it, takes a hole for a byte, or takes another byte.
fn mistaken(proof: Proof, [state, valid, bytes]: [&str; 3], unroll: u32) -> Proof {
    let bit = |i: u32| if unroll == 1 { String::new() } else { format!("[{i}]") };
    let of = |i: u32| match i {
        0 => format!("{state}_q"),
        i => format!("lane_{}_{state}", i - 1),
    };
    let last = unroll - 1;
    let proof = proof.refuted_soon();
    let hole = (text(format!(".valid_i({valid}_q{})", bit(last))), ".valid_i(1'b1)");
    if unroll == 1 {
        return proof.refuted_by(hole.0, hole.1);
    }
    let [from, to] = [last, last - 1].map(|i| text(format!(".{state}_i({})", of(i))));
    let proof = proof.refuted_by(from, to);
    if unroll != ALL_MISTAKES {
        return proof;
    }
    let bits = [(8 * last + 7, 8 * last), (7, 0)];
    let [from, to] = bits.map(|(high, low)| text(format!(".byte_i({bytes}[{high}:{low}])")));
    proof.refuted_by(hole.0, hole.1).refuted_by(from, to)
}

/// The stream-state unit of ETMv4.
fn stream(unroll: u32) -> Proof {
    let config = etmv4::Config { unroll, ..etmv4::Config::default() };
    let unit = etmv4::stream_unit(&config).expect("there is such a decoder");
    let (step, state) = etmv4::stream_step(&config).expect("there is such a decoder");
    let steps = Steps { step, state, unroll, stages: 1, null_run: None };
    // A mistake may show only after a synchronisation, which takes twelve bytes.
    let cycles = 12 / unroll + 8;
    let rig = rig(&unit, &steps).finish();
    let proof = Proof::any_run(&format!("stream_{unroll}"), &rig, cycles);
    mistaken(proof, ["head", "valid", "bytes_i"], unroll)
}

/// The stage of E-Trace that finds packets.
fn boundary(name: &str, unroll: u32, encap: (u8, u8, u8), aligned: bool) -> Proof {
    let params = Params { iaddress_width_p: 64, ..Params::default() };
    let (source, time, kind) = encap;
    let encap = EncapParams::new(source, time, kind).expect("widths are in range");
    let config = etrace::Config { unroll, params, unit: Unit::Hartrace, encap, aligned };
    let unit = etrace::boundary_unit(&config).expect("there is such a decoder");
    let etrace::Step { step, state, null_run } =
        etrace::boundary_step(&config).expect("there is such a decoder");
    let steps = Steps { step, state, unroll, stages: 3, null_run: Some(null_run) };
    let rig = rig(&unit, &steps).finish();
    let proof = Proof::any_run(&format!("{name}_{unroll}"), &rig, null_run / unroll + 8);
    let proof = match unroll {
        1 => proof.by_induction(&one_by_one(&unit, &steps), 5),
        // Bytes are not reset.
        _ => proof.settled(steps.stages + 1),
    };
    mistaken(proof, ["left", "prepared_valid", "aligned_bytes_q"], unroll)
}

/// The rig of one byte per cycle, with what its count of null packets in two digits is: no register of it is the number.
fn one_by_one(unit: &Component, steps: &Steps) -> Component {
    let rig = rig(unit, steps);
    for (name, start) in &steps.state {
        let [unit, steps] = [format!("i_unit.{name}_q"), format!("i_steps.at_{name}_q")]
            .map(|path| rig.inner(&path, start.width()));
        rig.m.assert_always(&format!("same_{name}"), unit.eq(steps));
    }
    let run = steps.null_run.expect("there are null packets");
    let of_unit = |name: &str, width| rig.inner(&format!("i_unit.i_null_run.{name}_q"), width);
    let (ones, last) = (of_unit("ones", 4), run - 2);
    let sixteens = of_unit("sixteens", index_width((last >> 4) + 1).max(1));
    let enough = of_unit("enough", 1);
    let nulls = rig.inner("i_steps.nulls_q", index_width(run + 1));
    let number = concat(&[&sixteens, &ones]).zext(nulls.width());
    let is_enough = nulls.ge(lit(nulls.width(), (run - 1).into()));
    rig.m.assert_always("carries", of_unit("carries", 1).eq(ones.is(15)));
    rig.m.assert_always("completes", of_unit("completes", 1).eq(ones.is((last % 16).into())));
    rig.m.assert_always("enough", enough.eq(is_enough));
    rig.m.assert_always("number", enough | nulls.eq(number));
    rig.m.assert_always("most", nulls.le(lit(nulls.width(), run.into())));
    rig.finish()
}

/// A unit as a chain of steps.
struct Steps {
    step: Component,
    state: State,
    unroll: u32,
    /// Cycles before the chain.
    stages: u32,
    /// So many null packets in a row are followed by a header.
    null_run: Option<u32>,
}

impl Steps {
    /// The module `steps`: the ports of the unit, and which bytes the outputs are for.
    fn module(&self, unit: &Component) -> Component {
        let u = self.unroll;
        let m = Module::new("steps", "").clocked();
        let mut given = m.input("given_i", u, "");
        let mut data = m.input("data_i", 8 * u, "");
        let mut aligned = zero(u);
        for stage in 0..self.stages {
            // Runs are counted before the last stage.
            if let (Some(run), true) = (self.null_run, stage + 1 == self.stages) {
                aligned = delay(&m, "aligned", &counted(&m, run, &given, &data));
            }
            given = delay(&m, &format!("given_{stage}"), &given);
            data = delay(&m, &format!("data_{stage}"), &data);
        }
        let regs: Vec<_> =
            self.state.iter().map(|(name, start)| m.reg(&format!("at_{name}"), start)).collect();
        let mut now: Vec<Expr> = regs.iter().map(|reg| reg.q.clone()).collect();
        let outputs: Vec<&str> = outputs(unit).map(|(name, _)| name).collect();
        let mut roles: Vec<Vec<Expr>> = outputs.iter().map(|_| Vec::new()).collect();
        for i in 0..u {
            let mut ports = vec![
                ("valid_i".to_owned(), given.bit(i)),
                ("byte_i".to_owned(), data.slice(8 * i, 8)),
            ];
            if self.null_run.is_some() {
                ports.push(("aligned_i".to_owned(), aligned.bit(i)));
            }
            for ((name, _), before) in self.state.iter().zip(&now) {
                ports.push((format!("before_{name}_i"), before.clone()));
            }
            let ports: Vec<_> = ports.iter().map(|(name, expr)| (name.as_str(), expr)).collect();
            let out = m.inst(&format!("i_step_{i}"), &self.step, &ports);
            for (name, all) in outputs.iter().zip(&mut roles) {
                all.push(out[*name].clone());
            }
            now = self
                .state
                .iter()
                .map(|(name, _)| out[&format!("after_{name}_o")].clone())
                .collect();
        }
        for (reg, now) in regs.iter().zip(&now) {
            m.assign(&reg.d, now);
        }
        for (name, all) in outputs.iter().zip(&roles) {
            let value = delay(&m, &format!("said_{name}"), &joined(all));
            m.assign(&m.output(name, value.width(), ""), value);
        }
        m.assign(&m.output("given_o", u, ""), delay(&m, "given", &given));
        m.finish()
    }
}

/// After which bytes a header follows because of the null packets before them: one byte after the other.
fn counted(m: &Module, run: u32, given: &Expr, data: &Expr) -> Expr {
    let width = index_width(run + 1);
    let seen = m.reg("nulls", zero(width));
    let mut now = seen.q.clone();
    let mut aligned = Vec::new();
    for i in 0..given.width() {
        let (valid, null) = (given.bit(i), data.slice(8 * i, 5).is(0));
        aligned.push(&valid & &null & now.ge(lit(width, (run - 1).into())));
        let more = now.is(run.into()).mux(&now, &now + lit(width, 1));
        now = m.let_(&format!("nulls_after_{i}"), valid.mux(null.gate(more), &now));
    }
    m.assign(&seen.d, &now);
    joined(&aligned)
}

/// Both, and the claim that they say the same.
fn rig(unit: &Component, steps: &Steps) -> Rig {
    let m = Module::new("pair", "").clocked();
    let valid = m.input("valid_i", steps.unroll, "");
    let bytes = m.input("bytes_i", 8 * steps.unroll, "");
    let same_o = m.output("same_o", 1, "they agree");
    let chain = m.inst("i_steps", &steps.module(unit), &[("given_i", &valid), ("data_i", &bytes)]);
    let unit_says = m.inst("i_unit", unit, &[("valid_i", &valid), ("bytes_i", &bytes)]);
    let mut same = lit(1, 1);
    for (name, width) in outputs(unit) {
        let width = width / steps.unroll;
        for i in 0..steps.unroll {
            let [a, b] = [&chain, &unit_says].map(|says| says[name].slice(i * width, width));
            // Where there is no byte, some mean nothing.
            same = same & (!chain["given_o"].bit(i) | a.eq(b));
        }
    }
    m.assign(&same_o, same);
    let rig = Rig::new(&m.finish());
    rig.m.assert_always("same", rig.port("same_o"));
    rig
}

fn outputs(unit: &Component) -> impl Iterator<Item = (&str, u32)> {
    let outputs = unit.ports().iter().filter(|port| port.direction == Direction::Output);
    outputs.map(|port| (&port.name[..], port.width))
}

fn delay(m: &Module, name: &str, value: &Expr) -> Expr {
    let reg = m.reg(name, zero(value.width()));
    m.assign(&reg.d, value);
    reg.q
}

/// A vector of these parts, the first one lowest.
fn joined(parts: &[Expr]) -> Expr {
    concat(&parts.iter().rev().collect::<Vec<_>>())
}
