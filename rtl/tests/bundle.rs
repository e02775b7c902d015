//! Bundles: ports, words and instances that get their names from the fields of a struct.

use hartrace_rtl::{Component, Expr, Module, Outputs, Wire, bundle};

bundle! {
    /// With a word of Rust and a signal that not all configurations have.
    struct Step { address, r#priv, time: Option }
}

bundle! {
    /// As a step, without what is not passed on.
    struct Rest { r#priv, time: Option }
}

impl Step<Wire> {
    fn new(time: u32) -> Self {
        Self {
            address: Wire::new(8, "of the step"),
            r#priv: Wire::new(2, ""),
            time: (time > 0).then(|| Wire::new(time, "")),
        }
    }
}

/// Joins a step to a word and splits it again.
fn through(time: u32) -> Component {
    let m = Module::new("through", "");
    let wires = Step::new(time);
    let (from, to) = (wires.inputs(&m), wires.outputs(&m));
    let word = m.let_("word", from.join());
    to.assign(&m, &wires.split(&word));
    m.finish()
}

#[test]
fn a_word_is_split_as_it_was_joined() {
    assert_eq!(
        through(4).emit(),
        "\
module through (
    input  logic [7:0] address_i,  // of the step
    input  logic [1:0] priv_i,
    input  logic [3:0] time_i,
    output logic [7:0] address_o,  // of the step
    output logic [1:0] priv_o,
    output logic [3:0] time_o
);
  logic [13:0] word;

  assign word = {time_i, priv_i, address_i};
  assign address_o = word[7:0];
  assign priv_o = word[9:8];
  assign time_o = word[13:10];
endmodule
"
    );
    assert!(!through(0).emit().contains("time"));
}

/// An instance of [`through`] in a module, with its outputs.
fn instance(m: &Module, time: u32) -> Outputs {
    let inputs = Step::new(time).inputs(m).to_inputs();
    let ports: Vec<(&str, &Expr)> = inputs.iter().map(|(port, e)| (port.as_str(), e)).collect();
    m.inst("i_through", &through(time), &ports)
}

#[test]
fn an_instance_has_the_signals_of_its_configuration() {
    for time in [0, 4] {
        let m = Module::new("around", "");
        let step = Step::of(&instance(&m, time));
        assert_eq!(step.time.as_ref().map(Expr::width), (time > 0).then_some(time));
        let rest = Rest::find(|name| step.get(name).cloned());
        let names: Vec<&str> = rest.fields().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, if time > 0 { vec!["priv", "time"] } else { vec!["priv"] });
    }
}

#[test]
#[should_panic(expected = "Other has no data")]
fn an_output_that_is_missing_is_named() {
    bundle! {
        struct Other { address, data }
    }
    let m = Module::new("around", "");
    drop(Other::of(&instance(&m, 0)));
}

#[test]
#[should_panic(expected = "a word has 10 bits, not 11")]
fn a_word_has_the_width_of_its_fields() {
    let m = Module::new("around", "");
    drop(Step::new(0).split(&m.input("word_i", 11, "")));
}

#[test]
#[should_panic(expected = "i_through has 3 outputs, not one")]
fn the_only_output_is_alone() {
    let m = Module::new("around", "");
    drop(instance(&m, 4).only().clone());
}
