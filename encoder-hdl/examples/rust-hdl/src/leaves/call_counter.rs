//! Number of calls that have not returned.

use crate::Register;
use rust_hdl_core::prelude::*;

/// `te_return_stack` of an encoder with a call counter of `W` bits: counts calls up to the largest
/// possible number, and returns down to zero.
#[derive(Clone, Debug, LogicBlock)]
pub struct CallCounter<const W: usize> {
    /// The clock.
    pub clk_i: Signal<In, Clock>,
    /// Reset, active low.
    pub rst_ni: Signal<In, Bit>,
    /// Forgets all calls, before the call or return of this cycle.
    pub clear_i: Signal<In, Bit>,
    /// A call.
    pub call_i: Signal<In, Bit>,
    /// A return. It is executed first if both are set.
    pub ret_i: Signal<In, Bit>,
    /// Number of calls that have not returned.
    pub depth_o: Signal<Out, Bits<W>>,
    /// There were some in the previous cycle.
    pub some_o: Signal<Out, Bit>,
    /// There are some, so a return is predicted.
    pub predicts_o: Signal<Out, Bit>,
    depth: Register<Bits<W>>,
    had: Register<Bit>,
    kept: Signal<Local, Bits<W>>,
    none: Constant<Bits<W>>,
    one: Constant<Bits<W>>,
    most: Constant<Bits<W>>,
}

impl<const W: usize> Default for CallCounter<W> {
    fn default() -> Self {
        Self {
            clk_i: Signal::default(),
            rst_ni: Signal::default(),
            clear_i: Signal::default(),
            call_i: Signal::default(),
            ret_i: Signal::default(),
            depth_o: Signal::default(),
            some_o: Signal::default(),
            predicts_o: Signal::default(),
            depth: Register::default(),
            had: Register::default(),
            kept: Signal::default(),
            none: Constant::new(0.into()),
            one: Constant::new(1.into()),
            most: Constant::new(!Bits::<W>::from(0)),
        }
    }
}

impl<const W: usize> Logic for CallCounter<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.depth.clk_i.next = self.clk_i.val();
        self.depth.rst_ni.next = self.rst_ni.val();
        self.had.clk_i.next = self.clk_i.val();
        self.had.rst_ni.next = self.rst_ni.val();
        self.kept.next = self.depth.q.val();
        if self.clear_i.val() {
            self.kept.next = self.none.val();
        }
        self.depth.d.next = self.kept.val();
        if self.call_i.val() {
            if self.kept.val() != self.most.val() {
                self.depth.d.next = self.kept.val() + self.one.val();
            }
        }
        if self.ret_i.val() {
            if self.kept.val() != self.none.val() {
                self.depth.d.next = self.kept.val() - self.one.val();
            }
        }
        self.depth_o.next = self.depth.q.val();
        self.had.d.next = self.depth.q.val() != self.none.val();
        self.some_o.next = self.had.q.val();
        self.predicts_o.next = self.depth.q.val() != self.none.val();
    }
}
