//! Addresses, and the registers that they are relative to.

use super::Unit;
use hartrace_etmv4::{Address, Context, Form, Is, Packet};
use hartrace_isa::arm::{Isa, Place};

/// Registers that packets are relative to.
#[derive(Copy, Clone, Debug)]
pub(super) struct Registers {
    /// The last three addresses.
    held: [(u64, Is); 3],
    /// The instruction set of the last address, if all decoders agree on it.
    told: Option<Is>,
}

impl Default for Registers {
    fn default() -> Self {
        Self { held: [(0, Is::Is0); 3], told: None }
    }
}

/// The bit of an address packet that distinguishes T32 from A32.
pub(super) fn is(place: Place) -> Is {
    if place.isa == Isa::T32 { Is::Is1 } else { Is::Is0 }
}

/// A complete address.
fn whole(form: Form, place: Place) -> Address {
    Address { form, is: is(place), value: place.address }
}

impl Registers {
    /// Notes that an address was sent.
    pub(super) fn moved(&mut self, place: Place) {
        self.pushed(place.address, is(place));
        self.told = Some(is(place));
    }

    /// The same for an address in a Q element, or in an element that is cancelled. Decoders may or
    /// may not derive the instruction set of a following context from it, so the encoder does not
    /// rely on that.
    pub(super) fn pushed(&mut self, address: u64, is: Is) {
        let [a, b, _] = self.held;
        self.held = [(address, is), a, b];
        self.told = None;
    }

    /// Whether a context alone leaves the instruction set unchanged: decoders use that of the last
    /// address.
    pub(super) fn agrees(&self, isa: Isa) -> bool {
        self.told == Some(is(Place { address: 0, isa }))
    }

    /// All forms that can express an address, the shortest first.
    pub(super) fn forms(&self, place: Place) -> Vec<Address> {
        self.forms_as(place, is(place))
    }

    /// The same, in packets that leave out as many bits as for an address of this kind.
    pub(super) fn forms_as(&self, place: Place, is: Is) -> Vec<Address> {
        let address = place.address;
        let wide = place.isa == Isa::A64;
        let last = self.held[0].0;
        let shift = if is == Is::Is0 { 2 } else { 1 };
        let equal_above = |bits: u32| last >> bits == address >> bits;
        let mut forms = Vec::new();
        if let Some(number) = self.held.iter().position(|held| *held == (address, is)) {
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

impl Unit {
    pub(super) fn address(&mut self, place: Place) {
        let forms = self.registers.forms(place);
        let form = self.whims.choose(&forms);
        self.send(Packet::Address(form));
        self.moved(place);
    }

    pub(super) fn moved(&mut self, place: Place) {
        self.registers.moved(place);
        self.calls_count = true;
    }

    pub(super) fn address_with_context(&mut self, place: Place, el: u8) {
        let wide = place.isa == Isa::A64;
        let form = if wide { Form::Long64 } else { Form::Long32 };
        self.context = Context { el, sf: wide, ns: true, ..self.identified() };
        self.send(Packet::AddressContext(whole(form, place), self.context));
        self.moved(place);
    }

    /// A context with the identifiers that are traced.
    pub(super) fn identified(&self) -> Context {
        let config = self.config();
        let (bytes, vmid) = (u32::from(config.vmid_bytes), self.ids.vmid);
        let mask = u32::MAX.checked_shr(32 - 8 * bytes.clamp(1, 4)).unwrap_or(0);
        Context {
            vmid: (bytes > 0).then_some(vmid & mask),
            context_id: (config.context_id_bytes > 0).then_some(self.ids.context),
            ..Context::default()
        }
    }

    /// Sends the target of the preceding branch, which can only wait for the next element.
    pub(super) fn tell_target(&mut self) {
        if let Some(place) = self.target.take() {
            self.flush();
            self.address(place);
        }
    }
}
