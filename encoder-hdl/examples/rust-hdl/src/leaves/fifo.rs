//! A buffer of several words.

use crate::Register;
use rust_hdl_core::prelude::*;

/// `fifo_{W}x{D}`: `D` words that move up when one is taken, so the oldest is always the first. `U`
/// is the width of a number up to `D`. (The generated one uses a memory and pointers into it.)
#[derive(Clone, Debug, LogicBlock)]
pub struct Fifo<const W: usize, const D: usize, const U: usize> {
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
    /// Number of words in the FIFO.
    pub usage_o: Signal<Out, Bits<U>>,
    /// There is no room.
    pub full_o: Signal<Out, Bit>,
    words: Vec<Register<Bits<W>>>,
    usage: Register<Bits<U>>,
    full: Signal<Local, Bit>,
    some: Signal<Local, Bit>,
    push: Signal<Local, Bit>,
    pop: Signal<Local, Bit>,
    /// Number of words that remain when one has been taken: the place of the next word.
    left: Signal<Local, Bits<U>>,
    none: Constant<Bits<U>>,
    one: Constant<Bits<U>>,
    most: Constant<Bits<U>>,
    places: Vec<Constant<Bits<U>>>,
}

impl<const W: usize, const D: usize, const U: usize> Default for Fifo<W, D, U> {
    fn default() -> Self {
        let number = |n: usize| Constant::new(Bits::<U>::from(n as LiteralType));
        Self {
            clk_i: Signal::default(),
            rst_ni: Signal::default(),
            valid_i: Signal::default(),
            ready_o: Signal::default(),
            data_i: Signal::default(),
            valid_o: Signal::default(),
            ready_i: Signal::default(),
            data_o: Signal::default(),
            usage_o: Signal::default(),
            full_o: Signal::default(),
            words: (0..D).map(|_| Register::default()).collect(),
            usage: Register::default(),
            full: Signal::default(),
            some: Signal::default(),
            push: Signal::default(),
            pop: Signal::default(),
            left: Signal::default(),
            none: number(0),
            one: number(1),
            most: number(D),
            places: (0..D).map(number).collect(),
        }
    }
}

impl<const W: usize, const D: usize, const U: usize> Logic for Fifo<W, D, U> {
    #[hdl_gen]
    fn update(&mut self) {
        self.usage.clk_i.next = self.clk_i.val();
        self.usage.rst_ni.next = self.rst_ni.val();
        self.full.next = self.usage.q.val() == self.most.val();
        self.some.next = self.usage.q.val() != self.none.val();
        self.full_o.next = self.full.val();
        self.ready_o.next = !self.full.val();
        self.valid_o.next = self.some.val();
        self.usage_o.next = self.usage.q.val();
        self.data_o.next = self.words[0].q.val();

        self.push.next = self.valid_i.val() & !self.full.val();
        self.pop.next = self.ready_i.val() & self.some.val();
        self.left.next = self.usage.q.val();
        if self.pop.val() {
            self.left.next = self.usage.q.val() - self.one.val();
        }
        self.usage.d.next = self.left.val();
        if self.push.val() {
            self.usage.d.next = self.left.val() + self.one.val();
        }

        for i in 0..D {
            self.words[i].clk_i.next = self.clk_i.val();
            self.words[i].rst_ni.next = self.rst_ni.val();
            self.words[i].d.next = self.words[i].q.val();
        }
        for i in 0..(D - 1) {
            if self.pop.val() {
                self.words[i].d.next = self.words[i + 1].q.val();
            }
        }
        for i in 0..D {
            if self.push.val() {
                if self.left.val() == self.places[i].val() {
                    self.words[i].d.next = self.data_i.val();
                }
            }
        }
    }
}
