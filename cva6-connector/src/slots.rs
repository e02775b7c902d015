//! Blocks of a cycle on their way to the encoder, filled from lane 0 on.

use crate::config::Config;
use crate::port::{Blocks, side_by_side};
use hartrace_etrace::ingress::IType;
use hartrace_rtl::{Block, Expr, Module, Reg, concat, index_width, lit, zero};

/// The signals of one block.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) itype: Expr,
    pub(crate) iaddr: Expr,
    pub(crate) iretire: Expr,
    pub(crate) ilastsize: Expr,
    pub(crate) sijump: Option<Expr>,
}

impl Slot {
    /// A trap alone: nothing retires, and the address is that of the instruction that did not
    /// retire.
    pub(crate) fn trap(config: &Config, interrupt: &Expr, pc: &Expr) -> Self {
        let code = |itype: IType| lit(config.itype(), itype.raw().into());
        Self {
            itype: interrupt.mux(code(IType::Interrupt), code(IType::Exception)),
            iaddr: pc.clone(),
            iretire: zero(config.iretire()),
            ilastsize: zero(1),
            sijump: config.sijump.then(|| zero(1)),
        }
    }
}

/// The blocks of a cycle, to be filled in one block of statements.
#[derive(Debug)]
pub(crate) struct Slots {
    n: u32,
    all: Slot,
    /// Number of blocks in use.
    pub(crate) used: Expr,
}

impl Slots {
    pub(crate) fn new(m: &Module, config: &Config) -> Self {
        let n = config.most_blocks();
        let all = Slot {
            itype: m.wire("slot_itype", n * config.itype()),
            iaddr: m.wire("slot_iaddr", n * config.address()),
            iretire: m.wire("slot_iretire", n * config.iretire()),
            ilastsize: m.wire("slot_ilastsize", n),
            sijump: config.sijump.then(|| m.wire("slot_sijump", n)),
        };
        Self { n, all, used: m.wire("slots_used", index_width(n + 1)) }
    }

    /// Marks all as unused.
    pub(crate) fn clear(&self, b: &mut Block) {
        for signal in self.signals().into_iter().chain([&self.used]) {
            b.set(signal, zero(signal.width()));
        }
    }

    fn signals(&self) -> Vec<&Expr> {
        let Slot { itype, iaddr, iretire, ilastsize, sijump } = &self.all;
        [itype, iaddr, iretire, ilastsize].into_iter().chain(sijump).collect()
    }

    /// Registers for blocks that wait for others.
    pub(crate) fn collected(&self, m: &Module, works: &Expr) -> Collected {
        let width = self.signals().iter().map(|signal| signal.width()).sum();
        Collected {
            blocks: m.reg_data("collected", width, works),
            used: m.reg_en("collected_used", zero(self.used.width()), works),
        }
    }

    /// Starts with the blocks that wait.
    pub(crate) fn resume(&self, b: &mut Block, from: &Collected) {
        let mut at = 0;
        for signal in self.signals() {
            b.set(signal, from.blocks.q.slice(at, signal.width()));
            at += signal.width();
        }
        b.set(&self.used, &from.used.q);
        // An unused block must not look as if it were used.
        for (all, one) in [
            (&self.all.itype, self.all.itype.width() / self.n),
            (&self.all.iretire, self.all.iretire.width() / self.n),
        ] {
            for s in 0..self.n {
                b.when(from.used.q.le(lit(self.used.width(), s.into())), |b| {
                    b.set(&all.slice(s * one, one), zero(one));
                });
            }
        }
    }

    /// Keeps the blocks waiting unless they are offered.
    pub(crate) fn collect(&self, m: &Module, to: &Collected, offers: &Expr) {
        m.assign(
            &to.blocks.d,
            side_by_side(&self.signals().into_iter().cloned().collect::<Vec<_>>()),
        );
        m.assign(&to.used.d, (!offers).gate(&self.used));
    }

    /// Fills the next block, whose number is at most `highest`. There is no room if all are used.
    pub(crate) fn push(&self, b: &mut Block, highest: u32, slot: &Slot) {
        for s in 0..=highest.min(self.n - 1) {
            b.when(self.used.is(s.into()), |b| {
                let mut set = |all: &Expr, one: &Expr| {
                    b.set(&all.slice(s * one.width(), one.width()), one);
                };
                set(&self.all.itype, &slot.itype);
                set(&self.all.iaddr, &slot.iaddr);
                set(&self.all.iretire, &slot.iretire);
                set(&self.all.ilastsize, &slot.ilastsize);
                if let (Some(all), Some(one)) = (&self.all.sijump, &slot.sijump) {
                    set(all, one);
                }
            });
        }
        b.set(&self.used, &self.used + lit(self.used.width(), 1));
    }

    /// Whether there is no room.
    pub(crate) fn full(&self) -> Expr {
        self.used.is(self.n.into())
    }

    /// Offers the blocks to the encoder from the next cycle on, always or if `complete`. Returns
    /// whether something is offered now.
    pub(crate) fn offer(
        &self,
        m: &Module,
        loads: &Expr,
        complete: Option<&Expr>,
        out: &Blocks,
    ) -> Expr {
        let some = complete.map_or_else(|| self.used.any(), |complete| complete & self.used.any());
        let offers = m.reg_en("offers", false, loads);
        m.assign(&offers.d, &some);
        // The signals that mark blocks as unused must always be right, the others only when a block
        // is used.
        let keep = concat(&[&self.all.itype, &self.all.iretire]);
        let kept = m.reg_en("offered", zero(keep.width()), loads);
        m.assign(&kept.d, complete.map_or_else(|| keep.clone(), |complete| complete.gate(&keep)));
        let split = self.all.iretire.width();
        m.assign(&out.iretire, kept.q.trunc(split));
        m.assign(&out.itype, kept.q.slice(split, self.all.itype.width()));
        let data = m.let_("loads_offer", loads & &some);
        let hold = |name: &str, value: &Expr, out: &Expr| {
            let reg = m.reg_data(name, value.width(), &data);
            m.assign(&reg.d, value);
            m.assign(out, &reg.q);
        };
        hold("offered_iaddr", &self.all.iaddr, &out.iaddr);
        hold("offered_ilastsize", &self.all.ilastsize, &out.ilastsize);
        if let (Some(value), Some(out)) = (&self.all.sijump, &out.sijump) {
            hold("offered_sijump", value, out);
        }
        offers.q
    }
}

/// Blocks that wait for the other blocks of their cycle.
#[derive(Debug)]
pub(crate) struct Collected {
    blocks: Reg,
    used: Reg,
}
