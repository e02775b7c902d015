//! Mistakes in code that builds hardware are found where they are made, with a message that names
//! them.

use hartrace_rtl::{Component, Expr, Module, lit, zero};

fn module() -> (Module, Expr, Expr) {
    let m = Module::new("wrong", "").clocked();
    let a = m.input("a_i", 8, "");
    let y = m.output("y_o", 8, "");
    (m, a, y)
}

fn inverter() -> Component {
    let (m, a, y) = module();
    m.assign(&y, !a);
    m.finish()
}

macro_rules! panics {
    ($($name:ident: $message:literal => $body:expr;)*) => { $(
        #[test]
        #[should_panic(expected = $message)]
        fn $name() {
            let (m, a, y) = module();
            let body: fn(Module, Expr, Expr) = $body;
            body(m, a, y);
        }
    )* };
}

panics! {
    operand_widths: "add: operand widths differ, left 8, right 9" => |_, a, _| drop(a + zero(9));
    comparison_widths: "lt: operand widths differ, left 8, right 1" => |_, a, _| drop(a.lt(true));
    mux_widths: "mux: operand widths differ" => |_, a, _| drop(a.bit(0).mux(&a, true));
    mux_condition: "condition of mux: 1 bit wanted, 8 given" => |_, a, _| drop(a.mux(&a, &a));
    assignment_widths: "y_o: assignment widths differ, left 8, right 4" =>
        |m, a, y| m.assign(&y, a.trunc(4));
    literal_too_large: "256 does not fit 8 bits" => |_, _, _| drop(lit(8, 256));
    slice_out_of_range: "slice up to bit 8 of 8 bits" => |_, a, _| drop(a.slice(1, 8));
    no_bits: "an expression has at least one bit" => |_, _, _| drop(zero(0));
    elements_that_do_not_fit: "8 bits are no whole number of elements of 3 bits" =>
        |_, a, _| drop(a.index(a.bit(0), 3));
    narrower_by_extension: "zext of 8 bits to 4" => |_, a, _| drop(a.zext(4));
    amount_too_wide: "the amount of a shift has 33 bits, at most 32" =>
        |_, a, _| drop(&a << a.zext(33));
    input_driven: "a_i is an input and cannot be driven" => |m, a, _| m.assign(&a, zero(8));
    register_output_driven: "r_q is the output of a register" => |m, a, _| {
        let r = m.reg("r", zero(8));
        m.assign(&r.q, a);
    };
    expression_driven: "only a signal or a part of one can be assigned to" =>
        |m, a, y| m.assign(&(a + y), zero(8));
    part_assigned: "assign drives all of y_o" => |m, a, y| m.assign(&y.bit(0), a.bit(0));
    signal_of_another_module: "b_i belongs to another module" => |m, _, y| {
        let other = Module::new("other", "");
        m.assign(&y, other.input("b_i", 8, ""));
    };
    never_driven: "y_o in module wrong is never driven" => |m, _, _| drop(m.finish());
    driven_twice: "y_o in module wrong is driven twice: " => |m, a, y| {
        m.assign(&y, &a);
        m.comb(|b| b.set(&y, &a));
        drop(m.finish());
    };
    next_value_never_driven: "r_d in module wrong is never driven" => |m, a, y| {
        let r = m.reg("r", zero(8));
        m.assign(&y, r.q ^ a);
        drop(m.finish());
    };
    never_read: "a_i in module wrong is never read" => |m, _, y| {
        m.assign(&y, zero(8));
        drop(m.finish());
    };
    partly_unread: "bits 0, 1, 7 of a_i in module wrong are never read" => |m, a, y| {
        m.assign(&y, a.slice(2, 5).zext(8));
        drop(m.finish());
    };
    output_of_an_instance_unread: "x_y in module wrong is never read" => |m, a, y| {
        m.inst("i_x", &inverter(), &[("a_i", &a)]);
        m.assign(&y, &a);
        drop(m.finish());
    };
    latch: "y_o in module wrong would be a latch" => |m, a, y| {
        m.comb(|b| {
            b.when(a.bit(0), |b| b.set(&y, &a));
        });
        drop(m.finish());
    };
    latch_in_some_bits: "y_o in module wrong would be a latch" => |m, a, y| {
        m.comb(|b| b.each(0..7, |b, i| b.set(&y.bit(i), a.bit(i))));
        drop(m.finish());
    };
    latch_without_default: "y_o in module wrong would be a latch" => |m, a, y| {
        m.comb(|b| b.switch(a.bit(0), |s| {
            s.case(false, |b| b.set(&y, &a));
            s.case(true, |b| b.set(&y, &a));
        }));
        drop(m.finish());
    };
    read_before_assigned: "t in module wrong is read before it is assigned" => |m, a, y| {
        let t = m.wire("t", 8);
        m.comb(|b| {
            b.set(&y, &t);
            b.set(&t, &a);
        });
        drop(m.finish());
    };
    loop_of_two: "combinational loop in module wrong: t <- s <- t" => |m, a, y| {
        let (s, t) = (m.wire("s", 8), m.wire("t", 8));
        m.assign(&s, &t & a);
        m.assign(&t, &s);
        m.assign(&y, t);
        drop(m.finish());
    };
    loop_through_an_instance: "combinational loop in module wrong: " => |m, a, y| {
        let t = m.wire("t", 8);
        let x = m.inst("i_x", &inverter(), &[("a_i", &t)]);
        m.assign(&t, &x["y_o"] + a);
        m.assign(&y, &t);
        drop(m.finish());
    };
    name_taken: "the name a_i is taken" => |m, _, _| drop(m.wire("a_i", 1));
    reserved_in_systemverilog: "\"priority\" is a reserved word" => |m, _, _| drop(m.wire("priority", 1));
    reserved_in_cpp: "\"double\" is a reserved word" => |m, _, _| drop(m.wire("double", 1));
    loop_variable: "\"i\" is the name of a loop variable" => |m, _, _| drop(m.wire("i", 1));
    upper_case: "\"Ready\" has characters" => |m, _, _| drop(m.wire("Ready", 1));
    constant_in_lower_case: "\"idle\" is not UpperCamelCase" => |m, _, _| drop(m.constant("idle", true));
    port_missing: "i_x: input a_i is not connected" => |m, _, _| drop(m.inst("i_x", &inverter(), &[]));
    port_unknown: "wrong has no port b_i" =>
        |m, a, _| drop(m.inst("i_x", &inverter(), &[("b_i", &a)]));
    port_twice: "port a_i is connected twice" =>
        |m, a, _| drop(m.inst("i_x", &inverter(), &[("a_i", &a), ("a_i", &a)]));
    port_widths: "i_x: port a_i has 8 bits, 1 given" =>
        |m, a, _| drop(m.inst("i_x", &inverter(), &[("a_i", &a.bit(0))]));
    output_unknown: "i_x has no output z_o" => |m, a, _| {
        let x = m.inst("i_x", &inverter(), &[("a_i", &a)]);
        drop(x["z_o"].clone());
    };
    index_out_of_range: "slice up to bit 8 of 8 bits" =>
        |m, a, y| m.comb(|b| b.each(0..9, |b, i| b.set(&y, a.bit(i).zext(8))));
    index_out_of_its_loop: "index i is used outside of its loop" => |m, a, y| {
        m.comb(|b| {
            let mut escaped = None;
            b.each(0..8, |_, i| escaped = Some(i.clone()));
            b.set(&y, a.bit(escaped.unwrap()).zext(8));
        });
        drop(m.finish());
    };
    loop_over_nothing: "a loop over nothing" => |m, _, _| m.comb(|b| b.each(3..3, |_, _| {}));
    case_twice: "case 1'h1 occurs twice" => |m, a, _| m.comb(|b| b.switch(a.bit(0), |s| {
        s.case(true, |_| {});
        s.case(lit(1, 1), |_| {});
    }));
    case_not_constant: "the value of a case is not constant" =>
        |m, a, y| m.comb(|b| b.switch(&a, |s| s.case(&y, |_| {})));
    element_past_the_end: "element 4'h8 of a vector of 8 elements" =>
        |m, _, y| m.comb(|b| b.set_at(&y, lit(4, 8), true));
    no_reset: "r needs a reset, but module plain has none" =>
        |_, _, _| drop(Module::new("plain", "").clock_only().reg("r", zero(8)));
    no_reset_for_a_property: "holds needs a reset, but module plain has none" => |_, _, _| {
        let m = Module::new("plain", "").clock_only();
        m.assert_always("holds", m.input("a_i", 1, ""));
    };
    no_clock: "r needs a clock, but module plain is not clocked" =>
        |_, _, _| drop(Module::new("plain", "").reg("r", zero(1)));
    address_width: "mem: an address has 3 bits, 8 given" => |m, a, _| {
        let mem = m.memory("mem", 8, 8);
        drop(m.read(&mem, "word", a));
    };
    two_write_ports: "mem: a memory has one write port" => |m, a, _| {
        let mem = m.memory("mem", 8, 8);
        m.write(&mem, true, a.trunc(3), &a);
        m.write(&mem, true, a.trunc(3), &a);
    };
    memory_never_written: "memory mem in module wrong is never written" => |m, a, y| {
        let mem = m.memory("mem", 8, 256);
        m.assign(&y, m.read(&mem, "word", a));
        drop(m.finish());
    };
    two_modules_of_one_name: "two different modules are called wrong" => |m, a, y| {
        m.inst("i_x", &inverter(), &[("a_i", &a), ("y_o", &y)]);
        drop(m.finish().files());
    };
}
