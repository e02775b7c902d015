//! Packets that a trace unit may send between the outcomes of instructions.

use super::Unit;
use super::address::is;
use hartrace_etmv4::{Address, Atoms, Cancel, CycleCount, Form, Is, Packet};
use hartrace_isa::arm::{Executed, Isa, Place};

impl Unit {
    pub(super) fn now_and_then(&mut self) {
        if let Some(threshold) = self.options.cycles
            && self.cycles >= threshold
            && (!self.whims.any() || self.whims.one_in(4))
        {
            self.flush();
            self.cycle_count(threshold);
        }
        if self.config().max_speculation > 0 && self.whims.one_in(6) {
            self.flush();
            self.commit();
        }
        if self.packets > self.options.period && !self.returned {
            self.flush();
            self.synchronise();
        }
        if self.whims.one_in(50) {
            self.flush();
            let event = self.whims.below(4);
            self.send(Packet::Event(1 << event));
        }
    }

    /// Sends the cycles since the last count, in any format with room for them and for the elements
    /// it commits.
    fn cycle_count(&mut self, threshold: u32) {
        let config = self.config();
        let waiting = self.uncommitted;
        let passed = std::mem::take(&mut self.cycles);
        // More cycles than the counter can hold, or it was not counting all the time.
        let known = passed <= config.cycle_count_mask() && !self.whims.one_in(16);
        let above = passed - threshold;
        let commits = |most: u32| config.commopt || (1..=most).contains(&waiting);
        let commit = if config.commopt { 0 } else { waiting.saturating_sub(1) as u8 };
        let mut formats = Vec::new();
        if known && commits(4) && above < 4 {
            formats.push(CycleCount::F3 { commit, count: above as u8 });
        }
        if known && commits(16) && above < 16 {
            formats.push(CycleCount::F2 { far: false, commit, count: above as u8 });
        }
        formats.push(CycleCount::F1 {
            commit: (!config.commopt).then_some(waiting),
            count: known.then_some(above),
        });
        let count = self.whims.choose(&formats);
        self.uncommitted -= count.commits(&config).min(self.uncommitted);
        self.send(Packet::CycleCount(count));
    }

    /// Reports the outcome of an instruction: as an atom, as its address, or wrong at first and
    /// then corrected.
    pub(super) fn outcome(&mut self, executed: &Executed) {
        let here = Place { address: executed.address, isa: executed.isa };
        if executed.taken && self.config().is_ete() && self.whims.one_in(6) {
            self.flush();
            self.source(here);
        } else if self.options.speculate && self.room() >= 8 && self.whims.one_in(8) {
            self.flush();
            self.mispredict(executed.taken);
        } else {
            self.atom(executed.taken);
        }
    }

    /// Reports that everything up to this instruction was executed, and that it was taken.
    fn source(&mut self, here: Place) {
        // Decoders know the instruction set, so an address of AArch32 can be sent as if it were of the other
        // one, if it is aligned.
        let aligned = here.isa != Isa::A64 && here.address.is_multiple_of(4);
        let natural = is(here);
        let is = match natural {
            Is::Is0 if aligned && self.whims.one_in(3) => Is::Is1,
            Is::Is1 if aligned && self.whims.one_in(3) => Is::Is0,
            _ => natural,
        };
        let forms = self.registers.forms_as(here, is);
        let form = self.whims.choose(&forms);
        self.send(Packet::Source(form));
        // It says nothing about the instruction set after a context.
        self.registers.pushed(here.address, is);
        self.sent(1);
    }

    /// Number of P0 elements that can still be cancelled.
    fn room(&self) -> u32 {
        self.config().max_speculation.saturating_sub(self.uncommitted + self.atoms.1)
    }

    /// Sends a wrong outcome and its consequences, and takes them back in any of the possible ways.
    fn mispredict(&mut self, taken: bool) {
        let atom = |this: &mut Self, taken: bool| {
            if let Some(atom) = Atoms::new(1, u32::from(taken)) {
                this.send(Packet::Atoms(atom));
            }
        };
        atom(self, !taken);
        let count = self.whims.below(6);
        let more = if count > 0 { 1 + self.whims.below(count) } else { 0 };
        match count {
            // Nothing else was sent.
            0 => self.send(Packet::Mispredict(None)),
            1 => {
                let packet = match self.whims.below(3) {
                    0 => Cancel::F2(Atoms::new(1, 1)),
                    1 => Cancel::F2(Atoms::new(1, 0)),
                    _ => {
                        atom(self, true);
                        Cancel::F2(None)
                    }
                };
                self.send(Packet::Cancel(packet));
            }
            // The packet itself contains one more atom.
            2.. if more > 2 => {
                (0..more - 1).for_each(|_| atom(self, true));
                self.send(Packet::Cancel(Cancel::F3 { atom: true, count: more as u8 }));
            }
            _ => {
                (0..count).for_each(|_| atom(self, false));
                self.send(Packet::Cancel(Cancel::F1 { count, mispredict: true }));
            }
        }
        self.sent(1);
    }

    /// Sends atoms and addresses of a path that was not taken after all.
    pub(super) fn speculate(&mut self) {
        let room = self.config().max_speculation.saturating_sub(self.uncommitted);
        if !self.whims.one_in(8) || room < 30 {
            return;
        }
        self.flush();
        let count = 1 + self.whims.below(5);
        for _ in 0..count {
            if let Some(atom) = Atoms::new(1, self.whims.below(2)) {
                self.send(Packet::Atoms(atom));
            }
            if self.whims.one_in(2) {
                let low = u64::from(self.whims.below(u32::MAX)) & !3;
                let high = u64::from(self.whims.below(1 << 8)) << 32;
                let (form, value) = match self.context.sf {
                    true => (Form::Long64, high | low),
                    false => (Form::Long32, low),
                };
                let address = Address { form, is: Is::Is0, value };
                self.send(Packet::Address(address));
                self.registers.pushed(value, Is::Is0);
            }
        }
        // The registers keep what was sent, even if it is cancelled.
        self.send(Packet::Cancel(Cancel::F1 { count, mispredict: false }));
    }
}
