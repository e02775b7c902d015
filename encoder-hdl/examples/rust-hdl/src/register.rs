//! A register with a reset.

use rust_hdl_core::prelude::*;

/// A register that an asynchronous reset sets to the default of its type, like all registers in the
/// generated modules. The register of rust-hdl has an initial value instead.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct Register<T: Synth> {
    /// The clock.
    pub clk_i: Signal<In, Clock>,
    /// Reset, active low.
    pub rst_ni: Signal<In, Bit>,
    /// The next value.
    pub d: Signal<In, T>,
    /// The current value.
    pub q: Signal<Out, T>,
}

impl<T: Synth> Logic for Register<T> {
    fn update(&mut self) {
        if self.clk_i.pos_edge() {
            self.q.next = self.d.val();
        }
        if !self.rst_ni.val() {
            self.q.next = T::default();
        }
    }

    fn connect(&mut self) {
        self.q.connect();
    }

    fn hdl(&self) -> Verilog {
        let reset = T::default().verilog();
        Verilog::Custom(format!(
            "always @(posedge clk_i or negedge rst_ni) begin\n\
             \x20   if (!rst_ni) q <= {reset:x};\n    else q <= d;\nend\n"
        ))
    }

    fn timing(&self) -> Vec<TimingInfo> {
        vec![TimingInfo {
            name: "register".into(),
            clock: "clk_i".into(),
            inputs: vec!["d".into()],
            outputs: vec!["q".into()],
        }]
    }
}
