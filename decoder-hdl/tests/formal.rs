//! Several bytes per cycle are the same as one byte per cycle, holes included: the units that find packets, at the
//! widths of a real trace unit, from any state and for any bytes.

use hartrace_decoder_hdl::etmv4::{Config, Register, stream_unit};
use hartrace_hdl_tools::prove::{Proof, Rig, run};
use hartrace_rtl::{Component, Expr, Module, Outputs, concat, index_width, lit, zero};
use std::path::Path;

/// What both units say of a byte.
const MARKS: [&str; 4] = ["head_o", "last_o", "error_o", "inside_o"];

fn main() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // The solver does not decide more lanes within its time; they are simulated.
    run(folder, [(1, 2), (2, 4), (1, 4)].map(proof).into())
}

/// That a unit for `wide` bytes is the same as one for `narrow` bytes.
fn proof((narrow, wide): (u32, u32)) -> Proof {
    let rig = Rig::new(&pair(narrow, wide));
    rig.m.assert_always("same", rig.port("same_o"));
    let helped = Rig::new(&pair(narrow, wide));
    helped.m.assert_always("same", helped.port("same_o"));
    let (_, state) = unit(wide);
    let here = helped.port("here_o");
    for (name, width) in state {
        let [wide, narrow] =
            ["i_wide", "i_narrow"].map(|unit| helped.inner(&format!("{unit}.{name}_q"), width));
        helped.m.assert_always(&format!("same_{name}"), !&here | wide.eq(narrow));
    }
    // A mistake may show only after a synchronisation, which takes twelve bytes.
    let ratio = wide / narrow;
    let cycles = 12 / narrow + 3 * ratio + 4;
    let proof = Proof::any_run(&format!("stream_{narrow}_{wide}"), &rig.finish(), cycles)
        .by_induction(&helped.finish(), 2 * ratio + 4);
    // A lane that does not see the one before it; a hole that is taken for a byte; a byte that is taken twice.
    let [lane, hole, byte] = mistakes(wide);
    let proof = proof.refuted_by(lane.0, lane.1);
    proof.refuted_by(hole.0, hole.1).refuted_by(byte.0, byte.1)
}

/// Mistakes in the last lane of the wide unit, which the narrow one does not have.
const fn mistakes(wide: u32) -> [(&'static str, &'static str); 3] {
    match wide {
        2 => [
            (".head_i(lane_0_head)", ".head_i(head_q)"),
            (".valid_i(valid_q[1])", ".valid_i(1'b1)"),
            (".byte_i(bytes_i[15:8])", ".byte_i(bytes_i[7:0])"),
        ],
        _ => [
            (".head_i(lane_2_head)", ".head_i(lane_1_head)"),
            (".valid_i(valid_q[3])", ".valid_i(1'b1)"),
            (".byte_i(bytes_i[31:24])", ".byte_i(bytes_i[7:0])"),
        ],
    }
}

fn unit(unroll: u32) -> (Component, Vec<Register>) {
    stream_unit(&Config { unroll, ..Config::default() }).expect("there is such a decoder")
}

/// Both units, and the comparison: the wide one gets the bytes of several cycles at once.
fn pair(narrow: u32, wide: u32) -> Component {
    let ratio = wide / narrow;
    let m = Module::new("pair", "").clocked();
    let valid = m.input("valid_i", narrow, "");
    let bytes = m.input("bytes_i", 8 * narrow, "");
    let same_o = m.output("same_o", 1, "the units agree");
    let here_o = m.output("here_o", 1, "they have seen the same bytes");

    let width = index_width(ratio);
    let phase = m.reg("phase", zero(width));
    m.assign(&phase.d, &phase.q + lit(width, 1));
    let last = phase.q.is(u128::from(ratio - 1));
    let all_bytes = collected(&m, "bytes", &bytes, ratio);
    let all_valid = collected(&m, "valid", &valid, ratio);
    let few = m.inst("i_narrow", &unit(narrow).0, &[("valid_i", &valid), ("bytes_i", &bytes)]);
    let ports = [("valid_i", &last.gate(all_valid)), ("bytes_i", &all_bytes)];
    let many = m.inst("i_wide", &unit(wide).0, &ports);

    // Both need two cycles.
    let before = m.reg("last_before", zero(1));
    m.assign(&before.d, &last);
    let here = m.reg("here", zero(1));
    m.assign(&here.d, &before.q);
    m.assign(&here_o, &here.q);
    let mut same = lit(1, 1);
    for name in MARKS {
        let all = collected(&m, name.trim_end_matches("_o"), &few[name], ratio);
        same = same & all.eq(&many[name]);
    }
    // Where there is no byte, these mean nothing.
    for name in ["section_o", "index_o"] {
        let all = collected(&m, name.trim_end_matches("_o"), &known(&few, name, narrow), ratio);
        same = same & all.eq(known(&many, name, wide));
    }
    m.assign(&same_o, !&here.q | same);
    for name in ["byte_o", "search_o"] {
        m.unused(&few[name]);
        m.unused(&many[name]);
    }
    m.finish()
}

/// An output, 0 for bytes that are not inside a packet.
fn known(unit: &Outputs, name: &str, unroll: u32) -> Expr {
    let width = unit[name].width() / unroll;
    let lane = |i: u32| unit["inside_o"].bit(i).gate(unit[name].slice(i * width, width));
    concat(&(0..unroll).rev().map(lane).collect::<Vec<_>>().iter().collect::<Vec<_>>())
}

/// The values of the last cycles with the present one, the oldest lowest.
fn collected(m: &Module, name: &str, value: &Expr, ratio: u32) -> Expr {
    let width = value.width();
    let older = m.reg(&format!("{name}_older"), zero((ratio - 1) * width));
    let all = concat(&[value, &older.q]);
    m.assign(&older.d, all.slice(width, (ratio - 1) * width));
    all
}
