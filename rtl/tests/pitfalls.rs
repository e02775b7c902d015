//! Pitfalls of SystemVerilog and its tools that have caught somebody, one test each.
//!
//! `tools.rs` tests that the text means the same to all tools, with `random::pitfalls` among the
//! modules.

mod support;

use hartrace_rtl::{Bits, Component, Expr, Interpreter, Module, concat, lit, zero};
use support::constructs::CONSTRUCTS;

/// The line that assigns an expression of two inputs to an output.
fn line(width: u32, of: impl FnOnce(&Expr, &Expr) -> Expr) -> String {
    let text = module(width, of).emit();
    let line = text.lines().find(|line| line.contains("assign y_o")).unwrap_or_default();
    line.trim().to_owned()
}

fn module(width: u32, of: impl FnOnce(&Expr, &Expr) -> Expr) -> Component {
    let m = Module::new("pitfall", "");
    let (a, b) = (m.input("a_i", 8, ""), m.input("b_i", 8, ""));
    m.unused(&a);
    m.unused(&b);
    m.assign(&m.output("y_o", width, ""), of(&a, &b));
    m.finish()
}

fn value(width: u32, a: u128, b: u128, of: impl FnOnce(&Expr, &Expr) -> Expr) -> Option<u128> {
    let mut module = Interpreter::new(&module(width, of));
    module.set_all([("a_i", Bits::new(8, a)), ("b_i", Bits::new(8, b))]);
    module.get("y_o").to_u128()
}

/// `16'(~a)` is `ff09` for `a = f6` in every tool.
#[test]
fn a_size_cast_is_not_self_determined() {
    assert_eq!(line(16, |a, _| (!a).zext(16)), "assign y_o = {8'd0, ~a_i};");
    assert_eq!(value(16, 0xf6, 0, |a, _| (!a).zext(16)), Some(0x09));
}

/// `valid_i[i]` is illegal if `valid_i` is not a vector.
#[test]
fn one_lane_has_no_index() {
    let m = Module::new("pitfall", "");
    let (valid, y) = (m.input("valid_i", 1, ""), m.output("y_o", 1, ""));
    m.comb(|b| b.each(0..1, |b, i| b.set(&y.bit(i), valid.bit(i))));
    assert!(m.finish().emit().contains("      y_o = valid_i;\n"));
}

/// Constructs that yosys 0.23 does not read.
#[test]
fn no_packages_arrays_of_vectors_functions_or_parameters() {
    for construct in CONSTRUCTS {
        for word in ["import", "function", "return", "parameter ", "][", "typedef", "struct"] {
            assert!(!construct.text.contains(word), "{}: {word}", construct.name);
        }
    }
}

/// Verilator warns about a port `map`, a word of C++.
#[test]
#[should_panic(expected = "\"map\" is a reserved word of SystemVerilog or C++")]
fn words_of_cpp_are_no_names() {
    Module::new("pitfall", "").input("map", 31, "");
}

/// As 192 parts, it cost a quarter of the speed of a simulation.
#[test]
fn a_sign_is_extended_in_one_piece() {
    assert_eq!(line(200, |a, _| a.sext(200)), "assign y_o = {{192{a_i[7]}}, a_i};");
}

/// `(a + b)[8:1]` is a syntax error.
#[test]
fn slices_of_expressions_get_a_name() {
    let sum = |a: &Expr, b: &Expr| (a.zext(9) + b.zext(9)).slice(1, 8);
    assert_eq!(line(8, sum), "assign y_o = y_full[8:1];");
    assert_eq!(value(8, 0xff, 0x03, sum), Some(0x81));
}

/// In a block, a slice is taken of the current value, not of the last one.
#[test]
fn slices_in_a_block_are_of_the_value_there() {
    let m = Module::new("pitfall", "");
    let (a, y) = (m.input("a_i", 8, ""), m.output("y_o", 8, ""));
    m.comb(|b| {
        b.set(&y, &a);
        b.set(&y, (&y + lit(8, 3)).slice(1, 7).zext(8));
        b.set(&y, (&y + lit(8, 3)).slice(1, 7).zext(8));
    });
    let mut module = Interpreter::new(&m.finish());
    module.set("a_i", Bits::new(8, 20));
    assert_eq!(module.get("y_o").to_u128(), Some(((20 + 3) / 2 + 3) / 2));
}

/// Yosys 0.23 gives an expression that contains a cast the width of the operand before truncation.
#[test]
fn no_cast_cuts() {
    let low = |a: &Expr, b: &Expr| concat(&[&zero(1), &(a.trunc(2) - (a + b).slice(3, 2))]);
    assert_eq!(line(3, low), "assign y_o = {1'b0, a_i[1:0] - y_full[4:3]};");
    assert_eq!(line(2, |a, b| (a - b).trunc(2)), "assign y_o = a_i[1:0] - b_i[1:0];");
}

/// The same with `4'(i)`, as `i` has 32 bits.
#[test]
fn values_of_loop_variables_stand_alone() {
    let m = Module::new("pitfall", "");
    let (a, y) = (m.input("a_i", 4, ""), m.output("y_o", 5, ""));
    m.comb(|b| {
        b.set(&y, zero(5));
        b.each(0..4, |b, i| b.set(&y, concat(&[&y.bit(4), &(&a - i.expr(4))])));
    });
    let text = m.finish().emit();
    assert!(
        text.contains("      y_index = 4'(i);\n      y_o = {y_o[4], a_i - y_index};\n"),
        "{text}"
    );
}

/// Yosys takes `~3'(x)` for a cast to a size of `~3`; Icarus does not accept `-~x`.
#[test]
fn operators_before_an_operand_have_parentheses() {
    assert_eq!(line(12, |a, _| !a.zext(12)), "assign y_o = ~(12'(a_i));");
    assert_eq!(line(8, |a, _| -!a), "assign y_o = -(~a_i);");
}

/// `>>>` next to an unsigned operand shifts in zeros.
#[test]
fn a_sign_survives_beside_unsigned_operands() {
    let sum = |a: &Expr, b: &Expr| a.sra(b.trunc(3)) + b;
    assert_eq!(line(8, sum), "assign y_o = $unsigned($signed(a_i) >>> b_i[2:0]) + b_i;");
    assert_eq!(value(8, 0x80, 4, sum), Some(0xfc));
}

/// A cast keeps the sign, so a comparison of two casts would be signed.
#[test]
fn extended_signs_are_compared_as_unsigned() {
    let less = |a: &Expr, b: &Expr| (a + b).sext(16).lt((a - b).sext(16));
    assert!(line(1, less).contains("$unsigned(16'($signed(a_i + b_i))) < $unsigned("));
    assert_eq!(value(1, 0x80, 0x00, less), Some(0));
    assert_eq!(value(1, 0x01, 0x02, less), Some(1), "3 < -1");
}

/// Verilator 5.006 loses bits of amounts above 64 bits, and does not accept constants above 32.
#[test]
fn constants_shift_everything_out() {
    assert_eq!(line(8, |a, _| a << lit(32, 0xffff_ffff)), "assign y_o = 8'd0;");
    assert_eq!(line(8, |a, _| a.sra(lit(4, 9))), "assign y_o = {8{a_i[7]}};");
}

/// Values past the end of a vector are `x` in one simulator and something else in another.
#[test]
fn nothing_is_read_past_the_end() {
    let bit = |a: &Expr, b: &Expr| a.bit_at(b.trunc(4));
    assert_eq!(line(1, bit), "assign y_o = (b_i[3:0] < 4'd8) ? a_i[b_i[2:0]] : 1'b0;");
    assert_eq!(value(1, 0xff, 8, bit), Some(0));
    assert_eq!(value(1, 0xff, 7, bit), Some(1));
}

/// The same on the left side.
#[test]
fn nothing_is_assigned_past_the_end() {
    let m = Module::new("pitfall", "");
    let (i, y) = (m.input("i_i", 2, ""), m.output("y_o", 12, ""));
    m.comb(|b| {
        b.set(&y, zero(12));
        b.set_at(&y, &i, lit(4, 9));
    });
    let component = m.finish();
    let text = component.emit();
    assert!(
        text.contains("    if (i_i < 2'd3) begin\n      y_o[{i_i, 2'd0} +: 4] = 4'd9;\n"),
        "{text}"
    );
    let mut module = Interpreter::new(&component);
    for (i, expected) in [(0, 9), (1, 9 << 4), (2, 9 << 8), (3, 0)] {
        module.set("i_i", Bits::new(2, i));
        assert_eq!(module.get("y_o").to_u128(), Some(expected));
    }
}
