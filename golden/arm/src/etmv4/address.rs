//! The addresses that packets are relative to.

use hartrace_arm_isa::{Isa, Place};
use hartrace_etmv4::{Address, Form, Is};

/// The last three addresses.
#[derive(Copy, Clone, Debug)]
pub(super) struct Registers([(u64, Is); 3]);

impl Default for Registers {
    fn default() -> Self {
        Self([(0, Is::Is0); 3])
    }
}

/// The bit of an address packet that tells T32 from A32.
fn is(place: Place) -> Is {
    if place.isa == Isa::T32 { Is::Is1 } else { Is::Is0 }
}

/// All of an address.
pub(super) fn whole(form: Form, place: Place) -> Address {
    Address { form, is: is(place), value: place.address }
}

impl Registers {
    /// An address was sent.
    pub(super) fn moved(&mut self, place: Place) {
        self.pushed(place.address, is(place));
    }

    pub(super) fn pushed(&mut self, address: u64, is: Is) {
        let [a, b, _] = self.0;
        self.0 = [(address, is), a, b];
    }

    /// All forms that say an address, the shortest first.
    pub(super) fn forms(&self, place: Place) -> Vec<Address> {
        let (address, is) = (place.address, is(place));
        let wide = place.isa == Isa::A64;
        let last = self.0[0].0;
        let shift = if is == Is::Is0 { 2 } else { 1 };
        let equal_above = |bits: u32| last >> bits == address >> bits;
        let mut forms = Vec::new();
        if let Some(number) = self.0.iter().position(|held| *held == (address, is)) {
            forms.push(Address { form: Form::Match(number as u8), is: Is::Is0, value: 0 });
        }
        for (two, bits) in [(false, 7 + shift), (true, 15 + shift)] {
            if equal_above(bits) {
                let value = address & ((1 << bits) - 1);
                forms.push(Address { form: Form::Short { two }, is, value });
            }
        }
        if !wide || equal_above(32) {
            forms.push(Address { form: Form::Long32, is, value: address & 0xffff_ffff });
        }
        if wide {
            forms.push(Address { form: Form::Long64, is, value: address });
        }
        forms
    }
}
