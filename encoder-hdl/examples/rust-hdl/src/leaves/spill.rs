//! A register stage that cuts paths in both directions.

use crate::Register;
use rust_hdl_core::prelude::*;

/// `spill_{W}`: a queue of two words, with the older always in the same place. (The generated one
/// fills its second register in every cycle in which it is free.)
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct Spill<const W: usize> {
    /// The clock.
    pub clk_i: Signal<In, Clock>,
    /// Reset, active low.
    pub rst_ni: Signal<In, Bit>,
    /// A word is offered.
    pub valid_i: Signal<In, Bit>,
    /// There is room.
    pub ready_o: Signal<Out, Bit>,
    /// The word.
    pub data_i: Signal<In, Bits<W>>,
    /// There is a word.
    pub valid_o: Signal<Out, Bit>,
    /// The word is taken.
    pub ready_i: Signal<In, Bit>,
    /// The word.
    pub data_o: Signal<Out, Bits<W>>,
    older: Register<Bits<W>>,
    newer: Register<Bits<W>>,
    /// There is at least one word.
    some: Register<Bit>,
    /// There are two words.
    both: Register<Bit>,
    push: Signal<Local, Bit>,
    pop: Signal<Local, Bit>,
}

impl<const W: usize> Logic for Spill<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.older.clk_i.next = self.clk_i.val();
        self.older.rst_ni.next = self.rst_ni.val();
        self.newer.clk_i.next = self.clk_i.val();
        self.newer.rst_ni.next = self.rst_ni.val();
        self.some.clk_i.next = self.clk_i.val();
        self.some.rst_ni.next = self.rst_ni.val();
        self.both.clk_i.next = self.clk_i.val();
        self.both.rst_ni.next = self.rst_ni.val();

        self.ready_o.next = !self.both.q.val();
        self.valid_o.next = self.some.q.val();
        self.data_o.next = self.older.q.val();

        self.push.next = false;
        if !self.both.q.val() {
            self.push.next = self.valid_i.val();
        }
        self.pop.next = self.some.q.val() & self.ready_i.val();

        self.older.d.next = self.older.q.val();
        self.newer.d.next = self.newer.q.val();
        self.some.d.next = self.some.q.val();
        self.both.d.next = self.both.q.val();
        if self.pop.val() {
            self.older.d.next = self.newer.q.val();
            self.some.d.next = self.both.q.val();
            self.both.d.next = false;
        }
        if self.push.val() {
            if self.some.q.val() & !self.pop.val() {
                self.newer.d.next = self.data_i.val();
                self.both.d.next = true;
            } else {
                self.older.d.next = self.data_i.val();
                self.some.d.next = true;
            }
        }
    }
}
