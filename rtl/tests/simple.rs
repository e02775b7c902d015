//! What parameters leave out is not written, what is written twice is found, and two sets of parameters fit into one
//! design.

use hartrace_rtl::{Bits, Component, Expr, Interpreter, Module, concat, lit, ones, zero};

/// A module with inputs `a_i` and `b_i` of four bits.
fn module(of: impl FnOnce(&Module, &Expr, &Expr) -> Expr) -> Component {
    let m = Module::new("simple", "");
    let (a, b) = (m.input("a_i", 4, ""), m.input("b_i", 4, ""));
    let y = m.output("y_o", 4, "");
    let value = of(&m, &a, &b);
    m.assign(&y, value);
    m.finish()
}

/// The lines of the body, without declarations.
fn body(component: &Component) -> Vec<String> {
    let text = component.emit();
    text.lines()
        .map(str::trim)
        .filter(|line| line.starts_with("assign"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn literals_that_change_nothing_are_left_out() {
    type Of = fn(&Expr, &Expr) -> Expr;
    let all: [(Of, &str); 9] = [
        (|a, b| (a & ones(4)) | b, "a_i | b_i"),
        (|a, b| (a | zero(4)) & b, "a_i & b_i"),
        (|a, b| (ones(4) & a) ^ b, "a_i ^ b_i"),
        (|a, b| (a ^ ones(4)) & b, "~a_i & b_i"),
        (|a, b| (zero(4) + a) - b, "a_i - b_i"),
        (|a, b| (a - zero(4)) + b, "a_i + b_i"),
        (|a, b| (a & a) | b, "a_i | b_i"),
        // A difference from zero is not the number, and named constants stay.
        (|a, b| (zero(4) - a) & b, "(4'd0 - a_i) & b_i"),
        (|a, b| (a & lit(4, 7)) | b, "(a_i & 4'd7) | b_i"),
    ];
    for (of, text) in all {
        assert_eq!(body(&module(|_, a, b| of(a, b))), [format!("assign y_o = {text};")]);
    }
}

#[test]
fn names_that_only_left_out_operands_read_are_dropped() {
    let component = module(|m, a, b| {
        let sum = m.let_("sum", a + b);
        let off = m.let_("off", zero(4));
        let kept = m.let_("kept", (&sum & &off) | a);
        kept ^ (b & (sum & off))
    });
    let text = component.emit();
    assert!(!text.contains("sum") && !text.contains("off"), "{text}");
    // The input is connected, so that no linter wonders about it.
    let lines = ["assign kept = a_i;", "assign unused_b_i = ^b_i;", "assign y_o = kept;"];
    let mut found = body(&component);
    found.sort();
    assert_eq!(found, lines, "{text}");
}

#[test]
#[should_panic(expected = "forgotten in module simple is never read")]
fn names_that_nothing_reads_are_still_mistakes() {
    module(|m, a, b| {
        m.let_("forgotten", a + b);
        a & b
    });
}

#[test]
fn shared_names_may_be_left_unread() {
    let component = module(|m, a, b| {
        m.shared("sum", a + b);
        a & b
    });
    assert_eq!(body(&component), ["assign y_o = a_i & b_i;"]);
    let same = module(|m, a, b| m.shared("other", a) & b);
    assert_eq!(body(&same), ["assign y_o = a_i & b_i;"], "a name needs no other");
}

#[test]
fn properties_that_always_hold_are_not_written() {
    let m = Module::new("simple", "").clocked();
    let a = m.input("a_i", 1, "");
    let y = m.reg("y", false);
    let out = m.output("y_o", 1, "");
    m.assign(&y.d, &a);
    m.assign(&out, &y.q);
    m.assert_always("holds", &a | lit(1, 1));
    m.assert_always("may_fail", &a | !&y.q);
    let text = m.finish().emit();
    assert!(text.contains("may_fail") && !text.contains("holds"), "{text}");
}

#[test]
fn what_is_offered_has_to_stay() {
    let m = Module::new("simple", "").clocked();
    let [valid, ready] = ["valid_i", "ready_i"].map(|name| m.input(name, 1, ""));
    let data = m.input("data_i", 4, "");
    m.assert_stays("offer", &valid & !&ready, concat(&[&valid, &data]));
    let mut interpreter = Interpreter::new(&m.finish());
    let mut clock = |valid: u128, ready: u128, data: u128| {
        let inputs = [("valid_i", 1, valid), ("ready_i", 1, ready), ("data_i", 4, data)];
        let inputs = inputs.map(|(port, width, value)| (port, Bits::new(width, value)));
        interpreter.set_all(inputs);
        interpreter.clock()
    };
    assert!(clock(1, 0, 3).is_empty(), "offered for the first time");
    assert!(clock(1, 1, 3).is_empty(), "taken");
    assert!(clock(1, 0, 4).is_empty(), "the next");
    assert_eq!(clock(1, 0, 5), ["simple.offer"], "changed");
    assert_eq!(clock(0, 0, 5), ["simple.offer"], "withdrawn");
    assert!(clock(0, 0, 6).is_empty(), "nothing is offered");
}

#[test]
fn repetition_is_found() {
    let twice = |m: &Module, a: &Expr, b: &Expr| {
        let first = m.let_("first", (a & b) ^ (a + b));
        first | (((a & b) ^ (a + b)) + a)
    };
    let found = module(twice).repeated(4);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].clause.as_str(), found[0].times), ("(a_i & b_i) ^ (a_i + b_i)", 2));
    assert_eq!(module(twice).repeated(5), []);
}

#[test]
fn two_hierarchies_of_the_same_names_fit_into_one_design() {
    let below = |by: u128| {
        let m = Module::new("below", "");
        let (a, y) = (m.input("a_i", 4, ""), m.output("y_o", 4, ""));
        m.assign(&y, a + lit(4, by));
        m.finish()
    };
    let above = |by: u128, prefix: &str| {
        let below = below(by);
        module(|m, a, b| m.inst("i_below", &below, &[("a_i", a)])["y_o"].clone() & b)
            .prefixed(prefix)
    };
    let mut files = above(1, "").files();
    files.extend(above(2, "second_").files());
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["below", "simple", "second_below", "second_simple"]);
    for (name, text) in &files {
        assert!(text.contains(&format!("module {name} (")), "{text}");
    }
    assert!(files[3].1.contains("second_below i_below ("), "{}", files[3].1);
}
