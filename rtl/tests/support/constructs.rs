//! Every construct, with its text.

use hartrace_rtl::{Component, Module, concat, lit, ones, zero};

/// A module and its text.
pub struct Construct {
    pub name: &'static str,
    pub build: fn() -> Component,
    pub text: &'static str,
}

pub const CONSTRUCTS: &[Construct] = &[
    Construct { name: "arithmetic", build: arithmetic, text: include_str!("text/arithmetic.sv") },
    Construct { name: "comparison", build: comparison, text: include_str!("text/comparison.sv") },
    Construct { name: "vectors", build: vectors, text: include_str!("text/vectors.sv") },
    Construct { name: "dynamic", build: dynamic, text: include_str!("text/dynamic.sv") },
    Construct { name: "compound", build: compound, text: include_str!("text/compound.sv") },
    Construct { name: "literals", build: literals, text: include_str!("text/literals.sv") },
    Construct { name: "statements", build: statements, text: include_str!("text/statements.sv") },
    Construct { name: "loops", build: loops, text: include_str!("text/loops.sv") },
    Construct { name: "registers", build: registers, text: include_str!("text/registers.sv") },
    Construct { name: "memories", build: memories, text: include_str!("text/memories.sv") },
    Construct { name: "counts", build: counts, text: include_str!("text/counts.sv") },
    Construct { name: "properties", build: properties, text: include_str!("text/properties.sv") },
    Construct { name: "comments", build: comments, text: include_str!("text/comments.sv") },
    Construct { name: "hierarchy", build: hierarchy, text: include_str!("text/hierarchy.sv") },
    Construct { name: "idle", build: idle, text: include_str!("text/idle.sv") },
];

fn arithmetic() -> Component {
    let m = Module::new("arithmetic", "");
    let (a, b, c) = (m.input("a_i", 8, ""), m.input("b_i", 8, ""), m.input("c_i", 8, ""));
    let by = m.input("by_i", 4, "");
    let out = |name: &str, value| m.assign(&m.output(name, 8, ""), value);
    out("sum_o", &a + &b + &c);
    out("difference_o", &a - &b - &c);
    out("nested_o", &a - (&b - &c));
    out("mixed_o", (&a & &b) | (&a ^ !&c));
    out("negated_o", -(&a + &b));
    out("left_o", &a << &by);
    out("right_o", (&a + &b) >> lit(4, 3));
    out("arithmetic_o", a.sra(&by) + &b);
    out("all_out_o", &a << lit(4, 8));
    m.finish()
}

fn comparison() -> Component {
    let m = Module::new("comparison", "");
    let (a, b) = (m.input("a_i", 8, ""), m.input("b_i", 8, ""));
    let out = |name: &str, value| m.assign(&m.output(name, 1, ""), value);
    out("precedence_o", (&a & &b).eq(lit(8, 2)));
    out("wraps_o", (&a + lit(8, 1)).ne(&b));
    out("order_o", a.lt(&b) & a.le(&b) | a.gt(&b) ^ a.ge(&b));
    out("signed_o", a.slt(&b));
    out("always_o", a.ge(zero(8)) & a.le(ones(8)));
    out("reduced_o", a.any() & !b.all() & (&a ^ &b).parity());
    out("chosen_o", a.is(3).mux(b.bit(0), a.msb().mux(b.bit(1), b.bit(7))));
    m.finish()
}

fn vectors() -> Component {
    let m = Module::new("vectors", "");
    let (a, b) = (m.input("a_i", 8, ""), m.input("b_i", 1, ""));
    let out = |name: &str, value: hartrace_rtl::Expr| {
        m.assign(&m.output(name, value.width(), ""), value);
    };
    out("slice_o", a.slice(2, 3));
    out("nested_o", a.slice(2, 5).slice(1, 2));
    out("bit_o", a.bit(7));
    out("only_bit_o", b.bit(0));
    out("concat_o", concat(&[&a, &b, &lit(2, 1)]));
    out("repeat_o", a.repeat(3));
    out("zext_o", a.zext(12));
    out("zext_of_not_o", (!&a).zext(16));
    out("sext_o", a.sext(200));
    out("sext_of_bit_o", b.sext(4));
    out("sext_of_sum_o", (&a + &a).sext(16));
    out("gate_o", b.gate(&a));
    m.finish()
}

fn dynamic() -> Component {
    let m = Module::new("dynamic", "");
    let (a, i, few) = (m.input("a_i", 24, ""), m.input("index_i", 5, ""), m.input("few_i", 2, ""));
    let out = |name: &str, value: hartrace_rtl::Expr| {
        m.assign(&m.output(name, value.width(), ""), value);
    };
    out("bit_o", a.bit_at(&i));
    out("always_within_o", a.bit_at(&few));
    out("byte_o", a.index(&few, 8));
    out("triple_o", a.index(&few, 3));
    out("of_sum_o", (&a + &a).index(&few, 6));
    out("only_o", few.index(i.bit(0), 2));
    m.finish()
}

fn compound() -> Component {
    let m = Module::new("compound", "");
    let (a, b) = (m.input("a_i", 8, ""), m.input("b_i", 8, ""));
    let out = |name: &str, value: hartrace_rtl::Expr| {
        m.assign(&m.output(name, value.width(), ""), value);
    };
    let sum = a.zext(9) + b.zext(9);
    out("carry_o", sum.bit(8));
    out("half_o", sum.slice(1, 8));
    out("low_o", (&a - &b).trunc(4));
    out("middle_o", a.bit(0).mux(&a, !&b).slice(2, 4));
    out("across_o", concat(&[&a, &b]).slice(6, 4));
    m.comb(|c| {
        let y = m.output("in_block_o", 4, "");
        c.set(&y, zero(4));
        c.when(a.bit(7), |c| c.set(&y, (&y + b.trunc(4)).slice(1, 3).zext(4)));
    });
    m.finish()
}

fn literals() -> Component {
    let m = Module::new("literals", "");
    let state = m.constant("Idle", lit(2, 2));
    let out = |name: &str, value: hartrace_rtl::Expr| {
        m.assign(&m.output(name, value.width(), ""), value);
    };
    out("bit_o", lit(1, 1));
    out("small_o", lit(11, 1023));
    out("large_o", lit(11, 1024));
    out("wide_o", lit(128, u128::MAX - 1));
    out("zeros_o", zero(300));
    out("ones_o", ones(300));
    out("folded_o", (lit(8, 250) + lit(8, 10)).slice(1, 4));
    out("named_o", state);
    m.finish()
}

fn statements() -> Component {
    let m = Module::new("statements", "");
    let (sel, a) = (m.input("sel_i", 2, ""), m.input("a_i", 8, ""));
    let (x, y) = (m.output("x_o", 8, ""), m.output("y_o", 8, ""));
    let last = m.constant("Last", lit(2, 3));
    m.comb(|b| {
        b.note("Complete, so that no path leaves a bit as it was.");
        b.when(sel.is(0), |b| b.set(&x, &a))
            .elsif(sel.is(1), |b| b.set(&x, !&a))
            .otherwise(|b| b.set(&x, zero(8)));
        b.set(&y, &x);
        b.switch(&sel, |s| {
            s.case(lit(2, 0), |b| b.set(&y.slice(0, 4), a.slice(4, 4)));
            s.cases(&[&lit(2, 1), &last], |b| b.set_slice(&y, 4, a.slice(0, 2)));
            s.default(|b| b.set_at(&y, a.slice(0, 3), true));
        });
    });
    m.comb(|b| {
        let z = m.output("z_o", 2, "");
        b.set(&z, lit(2, 1));
        b.switch(&sel, |s| s.case(&last, |b| b.set(&z, lit(2, 2))));
    });
    m.finish()
}

fn loops() -> Component {
    let m = Module::new("loops", "");
    let (bits, words) = (m.input("bits_i", 4, ""), m.input("words_i", 32, ""));
    let (last, count) = (m.output("last_o", 8, ""), m.output("count_o", 3, ""));
    let (swap, grid) = (m.output("swap_o", 32, ""), m.output("grid_o", 16, ""));
    let highest = m.output("highest_o", 3, "");
    m.comb(|b| {
        b.set(&last, zero(8));
        b.set(&count, zero(3));
        b.set(&highest, zero(3));
        b.each(0..4, |b, i| {
            b.when(bits.bit(i), |b| {
                b.set(&last, words.slice(i.times(8), 8));
                b.set(&count, &count + lit(3, 1));
                b.set(&highest, i.plus(1).expr(3));
            });
            b.set_slice(&swap, i.times(8).plus(4), words.slice(i.times(8), 4));
            b.set_slice(&swap, i.times(8), words.slice(i.times(8).plus(4), 4));
            b.each(0..4, |b, j| {
                b.set(&grid.slice(i.times(4), 4).bit(0), bits.bit(j));
                b.set_slice(&grid, i.times(4).plus(1), i.expr(3) ^ j.expr(3));
            });
        });
    });
    m.finish()
}

fn registers() -> Component {
    let m = Module::new("registers", "").clocked();
    let (load, value) = (m.input("load_i", 1, ""), m.input("value_i", 8, ""));
    let out = |name: &str, value: &hartrace_rtl::Expr| {
        m.assign(&m.output(name, value.width(), ""), value);
    };
    let count = m.reg("count", lit(8, 3));
    let held = m.reg_en("held", zero(8), &load);
    let data = m.reg_data("data", 8, &load & value.bit(0));
    m.comb(|b| {
        b.when(&load, |b| b.set(&count.d, &value));
    });
    m.assign(&held.d, &value);
    m.assign(&data.d, !&value);
    out("count_o", &count.q);
    out("held_o", &held.q);
    out("data_o", &data.q);
    m.finish()
}

fn memories() -> Component {
    let m = Module::new("memories", "").clocked();
    let (write, data) = (m.input("write_i", 1, ""), m.input("data_i", 12, ""));
    let (from, to) = (m.input("from_i", 3, ""), m.input("to_i", 3, ""));
    let fast = m.memory("fast", 12, 6);
    m.write(&fast, &write, &to, &data);
    let now = m.read(&fast, "now", &from);
    let slow = m.memory("slow", 12, 8);
    m.write(&slow, !&write, &to, &data);
    let then = m.read_clocked(&slow, "then", write.mux(true, from.bit(0)), &from);
    m.assign(&m.output("now_o", 12, ""), now);
    m.assign(&m.output("then_o", 12, ""), then);
    m.finish()
}

/// A memory that is a module of its own, without a reset, in one that has a reset for the sake of its siblings only.
fn counts() -> Component {
    let m = Module::new("words_4x8", "").clock_only();
    let (enable, address) = (m.input("we_i", 1, ""), m.input("address_i", 3, ""));
    let words = m.memory("words", 4, 8);
    m.write(&words, &enable, &address, m.input("data_i", 4, ""));
    m.assign(&m.output("data_o", 4, ""), m.read(&words, "word", &address));
    let ram = m.finish();
    let m = Module::new("counts", "").clocked();
    let (add, index) = (m.input("add_i", 1, ""), m.input("index_i", 3, ""));
    let sum = m.output("sum_o", 4, "");
    let next = &sum + lit(4, 1);
    let ports = [("we_i", &add), ("address_i", &index), ("data_i", &next), ("data_o", &sum)];
    m.inst("i_words", &ram, &ports);
    m.finish()
}

fn properties() -> Component {
    let m = Module::new("properties", "").clocked();
    let up = m.input("up_i", 1, "");
    let count = m.reg("count", zero(4));
    m.comb(|b| {
        b.when(&up & count.q.ne(lit(4, 9)), |b| b.set(&count.d, &count.q + lit(4, 1)));
    });
    m.assign(&m.output("count_o", 4, ""), &count.q);
    m.assert_always("count_is_a_digit", count.q.le(lit(4, 9)));
    m.assume_always("up_if_zero", &up | count.q.any());
    m.cover("count_is_full", count.q.is(9));
    m.assert_stays("count_stays", !&up, concat(&[&count.q, &up]));
    m.finish()
}

fn comments() -> Component {
    let doc = "Says what it does,\nand what it does not:\n\nnothing.";
    let m = Module::new("comments", doc);
    let a = m.input("a_i", 8, "beside");
    let long = "a comment that is much too long to stand beside the port that it is about";
    let y = m.output("y_o", 8, long);
    m.section("The first part.");
    let twice = m.let_("twice", &a + &a);
    m.section("The second part,\nwhich is longer.");
    let wide = (0..9).fold(twice.clone(), |sum, n| sum ^ (&twice & lit(8, 100 + n)));
    m.comb(|b| {
        b.note("Broken where it is too long.");
        b.when(a.any(), |b| b.set(&y, &wide)).otherwise(|b| b.set(&y, zero(8)));
    });
    m.finish()
}

fn hierarchy() -> Component {
    let inner = |name: &str| {
        let m = Module::new(name, "").clocked();
        let (a, b) = (m.input("a_i", 8, ""), m.input("b_i", 1, ""));
        let sum = m.reg("sum", zero(8));
        m.assign(&sum.d, &sum.q + b.gate(&a));
        m.assign(&m.output("sum_o", 8, ""), &sum.q);
        m.assign(&m.output("any_o", 1, ""), b);
        m.finish()
    };
    let leaf = inner("adder");
    let m = Module::new("hierarchy", "").clocked();
    let (a, y) = (m.input("a_i", 8, ""), m.output("y_o", 8, ""));
    let first = m.inst("i_first", &leaf, &[("a_i", &a), ("b_i", &a.bit(0)), ("sum_o", &y)]);
    let both = [("a_i", &(&a - &first["sum_o"])), ("b_i", &first["any_o"])];
    let second = m.inst("i_second", &leaf, &both);
    m.unused(&second["sum_o"].slice(1, 7));
    m.assign(&m.output("odd_o", 1, ""), &second["sum_o"].bit(0) & &second["any_o"]);
    m.finish()
}

fn idle() -> Component {
    let m = Module::new("idle", "Has a clock for the sake of its siblings only.").clocked();
    let a = m.input("a_i", 4, "");
    m.unused(&a.slice(0, 3));
    m.assign(&m.output("y_o", 1, ""), a.bit(3));
    m.finish()
}
