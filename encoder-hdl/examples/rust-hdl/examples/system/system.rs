//! A rust-hdl system that contains generated blocks.

use hartrace_encoder_hdl::transport::fifo;
use hartrace_rust_hdl::boxes::Fifo32x8;
use hartrace_rust_hdl::{PortError, Register};
use rust_hdl_core::prelude::*;

/// Counts, and sends every number through two FIFOs.
#[derive(Clone, Debug, LogicBlock)]
pub(crate) struct System {
    pub(crate) clk_i: Signal<In, Clock>,
    pub(crate) rst_ni: Signal<In, Bit>,
    pub(crate) ready_i: Signal<In, Bit>,
    pub(crate) valid_o: Signal<Out, Bit>,
    pub(crate) data_o: Signal<Out, Bits<32>>,
    /// Number of words in each of the two FIFOs.
    pub(crate) first_o: Signal<Out, Bits<4>>,
    pub(crate) second_o: Signal<Out, Bits<4>>,
    pub(crate) full_o: Signal<Out, Bit>,
    number: Register<Bits<32>>,
    first: Fifo32x8,
    second: Fifo32x8,
    one: Constant<Bits<32>>,
}

impl System {
    pub(crate) fn new() -> Result<Self, PortError> {
        let component = fifo(32, 8);
        Ok(Self {
            clk_i: Signal::default(),
            rst_ni: Signal::default(),
            ready_i: Signal::default(),
            valid_o: Signal::default(),
            data_o: Signal::default(),
            first_o: Signal::default(),
            second_o: Signal::default(),
            full_o: Signal::default(),
            number: Register::default(),
            first: Fifo32x8::new(&component)?,
            second: Fifo32x8::new(&component)?,
            one: Constant::new(1.into()),
        })
    }
}

impl Logic for System {
    #[hdl_gen]
    fn update(&mut self) {
        self.number.clk_i.next = self.clk_i.val();
        self.number.rst_ni.next = self.rst_ni.val();
        self.first.clk_i.next = self.clk_i.val();
        self.first.rst_ni.next = self.rst_ni.val();
        self.second.clk_i.next = self.clk_i.val();
        self.second.rst_ni.next = self.rst_ni.val();

        self.number.d.next = self.number.q.val();
        if self.first.ready_o.val() {
            self.number.d.next = self.number.q.val() + self.one.val();
        }
        self.first.valid_i.next = true;
        self.first.data_i.next = self.number.q.val();
        self.first.ready_i.next = self.second.ready_o.val();
        self.second.valid_i.next = self.first.valid_o.val();
        self.second.data_i.next = self.first.data_o.val();
        self.second.ready_i.next = self.ready_i.val();
        self.valid_o.next = self.second.valid_o.val();
        self.data_o.next = self.second.data_o.val();
        self.first_o.next = self.first.usage_o.val();
        self.second_o.next = self.second.usage_o.val();
        self.full_o.next = self.first.full_o.val() & self.second.full_o.val();
    }
}
