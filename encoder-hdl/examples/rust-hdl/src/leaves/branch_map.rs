//! Branches that have not been reported.

use crate::Register;
use rust_hdl_core::prelude::*;

/// `te_branch_map` of an encoder without branch prediction, for `N` slots: a number of branches,
/// and a map with the outcome of each. (The generated one also stores the place of the next branch
/// as one bit of 32, and compares no numbers.)
///
/// At most 31 branches may arrive before a packet is sent.
#[derive(Clone, Debug, LogicBlock)]
pub struct BranchMap<const N: usize> {
    /// The clock.
    pub clk_i: Signal<In, Clock>,
    /// Reset, active low.
    pub rst_ni: Signal<In, Bit>,
    /// There is a branch in the slot.
    pub branch_i: Signal<In, Bits<N>>,
    /// It goes into the map, or into the packet.
    pub push_i: Signal<In, Bits<N>>,
    /// It was not taken.
    pub not_taken_i: Signal<In, Bits<N>>,
    /// The slot comes after the packet that is sent.
    pub cut_i: Signal<In, Bits<N>>,
    /// The branches are taken over now.
    pub moves_i: Signal<In, Bit>,
    /// A packet with all branches before the cut is sent.
    pub flush_i: Signal<In, Bit>,
    /// Outcomes for that packet; a set bit is a branch not taken.
    pub map_o: Signal<Out, Bits<31>>,
    /// Their number.
    pub branches_o: Signal<Out, Bits<5>>,
    /// The map already contains branches.
    pub some_o: Signal<Out, Bit>,
    /// A branch in this slot must be reported at once: it fills the map.
    pub must_o: Signal<Out, Bits<N>>,
    map: Register<Bits<31>>,
    count: Register<Bits<5>>,
    // From slot to slot: the outcomes for the packet, those that are kept after it, and the number
    // of branches if all of them were taken over.
    sent: Vec<Signal<Local, Bits<31>>>,
    sent_count: Vec<Signal<Local, Bits<5>>>,
    kept: Vec<Signal<Local, Bits<31>>>,
    kept_count: Vec<Signal<Local, Bits<5>>>,
    seen: Vec<Signal<Local, Bits<6>>>,
    // The bit of one slot alone: a port of one bit has no index in Verilog.
    branch: Vec<Signal<Local, Bits<N>>>,
    push: Vec<Signal<Local, Bits<N>>>,
    not_taken: Vec<Signal<Local, Bits<N>>>,
    cut: Vec<Signal<Local, Bits<N>>>,
    full: Vec<Signal<Local, Bit>>,
    fulls: Vec<Signal<Local, Bits<N>>>,
    slot: Vec<Constant<Bits<N>>>,
    no_branches: Constant<Bits<31>>,
    first: Constant<Bits<31>>,
    zero: Constant<Bits<5>>,
    one: Constant<Bits<5>>,
    most: Constant<Bits<5>>,
    one_more: Constant<Bits<6>>,
    last: Constant<Bits<6>>,
    no_slot: Constant<Bits<N>>,
}

impl<const N: usize> Default for BranchMap<N> {
    fn default() -> Self {
        Self {
            clk_i: Signal::default(),
            rst_ni: Signal::default(),
            branch_i: Signal::default(),
            push_i: Signal::default(),
            not_taken_i: Signal::default(),
            cut_i: Signal::default(),
            moves_i: Signal::default(),
            flush_i: Signal::default(),
            map_o: Signal::default(),
            branches_o: Signal::default(),
            some_o: Signal::default(),
            must_o: Signal::default(),
            map: Register::default(),
            count: Register::default(),
            sent: (0..=N).map(|_| Signal::default()).collect(),
            sent_count: (0..=N).map(|_| Signal::default()).collect(),
            kept: (0..=N).map(|_| Signal::default()).collect(),
            kept_count: (0..=N).map(|_| Signal::default()).collect(),
            seen: (0..=N).map(|_| Signal::default()).collect(),
            branch: (0..N).map(|_| Signal::default()).collect(),
            push: (0..N).map(|_| Signal::default()).collect(),
            not_taken: (0..N).map(|_| Signal::default()).collect(),
            cut: (0..N).map(|_| Signal::default()).collect(),
            full: (0..N).map(|_| Signal::default()).collect(),
            fulls: (0..=N).map(|_| Signal::default()).collect(),
            slot: (0..N).map(|i| Constant::new(Bits::<N>::from(1 << i))).collect(),
            no_branches: Constant::new(0.into()),
            first: Constant::new(1.into()),
            zero: Constant::new(0.into()),
            one: Constant::new(1.into()),
            most: Constant::new(31.into()),
            one_more: Constant::new(1.into()),
            last: Constant::new(30.into()),
            no_slot: Constant::new(0.into()),
        }
    }
}

impl<const N: usize> Logic for BranchMap<N> {
    #[hdl_gen]
    fn update(&mut self) {
        self.map.clk_i.next = self.clk_i.val();
        self.map.rst_ni.next = self.rst_ni.val();
        self.count.clk_i.next = self.clk_i.val();
        self.count.rst_ni.next = self.rst_ni.val();

        self.sent[0].next = self.map.q.val();
        self.sent_count[0].next = self.count.q.val();
        self.kept[0].next = self.no_branches.val();
        self.kept_count[0].next = self.zero.val();
        self.seen[0].next = bit_cast::<6, 5>(self.count.q.val());
        self.fulls[0].next = self.no_slot.val();
        for i in 0..N {
            self.branch[i].next = self.branch_i.val() & self.slot[i].val();
            self.push[i].next = self.push_i.val() & self.slot[i].val();
            self.not_taken[i].next = self.not_taken_i.val() & self.slot[i].val();
            self.cut[i].next = self.cut_i.val() & self.slot[i].val();
            self.sent[i + 1].next = self.sent[i].val();
            self.sent_count[i + 1].next = self.sent_count[i].val();
            self.kept[i + 1].next = self.kept[i].val();
            self.kept_count[i + 1].next = self.kept_count[i].val();
            if self.push[i].val() != self.no_slot.val() {
                if self.cut[i].val() != self.no_slot.val() {
                    self.kept_count[i + 1].next = self.kept_count[i].val() + self.one.val();
                    if self.not_taken[i].val() != self.no_slot.val() {
                        self.kept[i + 1].next =
                            self.kept[i].val() | (self.first.val() << self.kept_count[i].val());
                    }
                } else {
                    self.sent_count[i + 1].next = self.sent_count[i].val() + self.one.val();
                    if self.not_taken[i].val() != self.no_slot.val() {
                        self.sent[i + 1].next =
                            self.sent[i].val() | (self.first.val() << self.sent_count[i].val());
                    }
                }
            }

            // The branch is number 31 or higher, and the map was not full before.
            self.full[i].next = false;
            self.seen[i + 1].next = self.seen[i].val();
            if self.branch[i].val() != self.no_slot.val() {
                self.seen[i + 1].next = self.seen[i].val() + self.one_more.val();
                if self.count.q.val() != self.most.val() {
                    self.full[i].next = self.seen[i].val() >= self.last.val();
                }
            }
            self.fulls[i + 1].next = self.fulls[i].val();
            if self.full[i].val() {
                self.fulls[i + 1].next = self.fulls[i].val() | self.slot[i].val();
            }
        }

        self.some_o.next = self.count.q.val() != self.zero.val();
        // A loop of one iteration: a constant of the type cannot be an index.
        for i in N..(N + 1) {
            self.map_o.next = self.sent[i].val();
            self.branches_o.next = self.sent_count[i].val();
            self.must_o.next = self.fulls[i].val();
            self.map.d.next = self.map.q.val();
            self.count.d.next = self.count.q.val();
            if self.moves_i.val() {
                self.map.d.next = self.sent[i].val();
                self.count.d.next = self.sent_count[i].val();
            }
            if self.flush_i.val() {
                self.map.d.next = self.kept[i].val();
                self.count.d.next = self.kept_count[i].val();
            }
        }
    }
}
