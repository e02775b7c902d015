//! Small designs to simulate.

use hartrace_hdl_tools::verilate::Design;
use hartrace_rtl::{Component, Module, lit, ones, zero};
use std::path::Path;
use std::{fs, io};

/// Counts while `enable_i` is set; `next_o` depends on the input in the same cycle.
pub(crate) fn counter(width: u32) -> Component {
    let m = Module::new("counter", "Counts.").clocked();
    let enable = m.input("enable_i", 1, "");
    let count_o = m.output("count_o", width, "");
    let next_o = m.output("next_o", width, "");
    let count = m.reg("count", zero(width));
    m.assign(&count.d, &count.q + enable.zext(width));
    m.assign(&count_o, &count.q);
    m.assign(&next_o, &count.d);
    m.finish()
}

/// An adder without a clock.
pub(crate) fn adder(width: u32) -> Component {
    let m = Module::new("adder", "Adds.");
    let a = m.input("a_i", width, "");
    let b = m.input("b_i", width, "");
    let sum = m.output("sum_o", width + 1, "");
    m.assign(&sum, a.zext(width + 1) + b.zext(width + 1));
    m.finish()
}

/// For each width: the input of the last cycle, the input inverted, and a register that is never written.
pub(crate) fn echo(widths: &[u32]) -> Component {
    let m = Module::new("echo", "Gives back what it gets.").clocked();
    for &width in widths {
        let input = m.input(&format!("in{width}_i"), width, "");
        let out = m.output(&format!("out{width}_o"), width, "");
        let inverted = m.output(&format!("inverted{width}_o"), width, "");
        let kept_o = m.output(&format!("kept{width}_o"), width, "");
        let last = m.reg(&format!("last{width}"), zero(width));
        m.assign(&last.d, &input);
        m.assign(&out, &last.q);
        m.assign(&inverted, input ^ ones(width));
        // Verilator must not know that this is never set.
        let never = last.q.eq(&last.d) & last.q.ne(&last.d);
        let kept = m.reg_data(&format!("kept{width}"), width, never);
        m.assign(&kept.d, &last.q);
        m.assign(&kept_o, &kept.q);
    }
    m.finish()
}

/// A counter within another module that claims to stay below 10.
pub(crate) fn broken() -> Component {
    let counter = {
        let m = Module::new("counter", "Counts.").clocked();
        let count_o = m.output("count_o", 8, "");
        let count = m.reg("count", zero(8));
        m.assign(&count.d, &count.q + lit(8, 1));
        m.assign(&count_o, &count.q);
        m.assert_always("count_is_small", count.q.lt(lit(8, 10)));
        m.finish()
    };
    let m = Module::new("broken", "Counts too far.").clocked();
    let count_o = m.output("count_o", 8, "");
    let outputs = m.inst("i_counter", &counter, &[]);
    m.assign(&count_o, &outputs["count_o"]);
    m.finish()
}

/// A loop that inverts itself while `enable_i` is set. The builder would reject it.
pub(crate) fn oscillator(folder: &Path) -> io::Result<Design> {
    let source = folder.join("oscillator.sv");
    let text = "module oscillator (input logic enable_i, output logic wave_o);\n  \
        assign wave_o = enable_i & ~wave_o;\nendmodule\n";
    fs::write(&source, text)?;
    Ok(Design::files("oscillator", [source]).argument("-Wno-UNOPTFLAT"))
}
