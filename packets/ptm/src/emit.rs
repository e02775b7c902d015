use crate::{Address, Config, EmitError, Exception, Isa, MAX_PACKET, Packet, Reason};

/// The bytes of a packet, collected.
struct Out {
    bytes: [u8; MAX_PACKET],
    len: usize,
}

impl Out {
    fn byte(&mut self, byte: u8) {
        if let Some(to) = self.bytes.get_mut(self.len) {
            *to = byte;
            self.len = self.len.wrapping_add(1);
        }
    }

    fn fixed(&mut self, value: u32, count: u8) -> bool {
        for byte in value.to_le_bytes().into_iter().take(count.into()) {
            self.byte(byte);
        }
        u64::from(value) >> u32::from(count).wrapping_mul(8) == 0
    }

    /// Writes a cycle count. `first` holds the bits of the first byte that do not belong to the
    /// count.
    fn cycles(&mut self, first: u8, count: u32) {
        let low = (count as u8 & 0xf).wrapping_shl(2);
        let mut rest = count >> 4;
        self.byte(first | low | if rest > 0 { 0x40 } else { 0 });
        while rest > 0 {
            let more = if rest > 0x7f { 0x80 } else { 0 };
            self.byte(rest as u8 & 0x7f | more);
            rest >>= 7;
        }
    }

    /// Writes an address. `low` is bit 0 of the first byte, `mark` is bit X of the last.
    fn address(&mut self, address: &Address, low: u8, mark: bool) -> bool {
        let Address { raw, bytes, isa } = *address;
        let more = if bytes > 1 { 0x80 } else { 0 };
        self.byte((raw as u8 & 0x3f).wrapping_shl(1) | more | low);
        let x = if mark { 0x40 } else { 0 };
        for (index, shift) in [(2, 6u32), (3, 13), (4, 20)] {
            let byte = (raw >> shift) as u8;
            match bytes {
                _ if bytes > index => self.byte(byte | 0x80),
                _ if bytes == index => self.byte(byte & 0x3f | x),
                _ => {}
            }
        }
        if bytes == 5 {
            let byte = (raw >> 27) as u8;
            self.byte(
                x | match isa {
                    Some(Isa::Jazelle) => 0x20 | byte & 0x1f,
                    Some(Isa::Thumb) => 0x10 | byte & 0x0f,
                    _ => 0x08 | byte & 0x07,
                },
            );
        }
        let told = !matches!(isa, Some(Isa::ThumbEe)) && isa.is_some() == (bytes == 5);
        let fits = u64::from(raw) >> address.raw_bits() == 0;
        (1..=5).contains(&bytes) && told && fits && !(mark && bytes == 1)
    }

    fn exception(&mut self, exception: &Exception) -> bool {
        let Exception { number, ns, alt_isa, hyp } = *exception;
        let alt = if alt_isa { 0x40 } else { 0 };
        let more = if hyp.is_some() { 0x80 } else { 0 };
        self.byte(more | alt | (number as u8 & 0xf).wrapping_shl(1) | u8::from(ns));
        if let Some(hyp) = hyp {
            self.byte((number >> 4) as u8 & 0x1f | if hyp { 0x20 } else { 0 });
        }
        number < if hyp.is_some() { 0x200 } else { 0x10 }
    }
}

impl Packet {
    /// Writes the packet to the start of `out` and returns its length.
    pub fn emit(&self, config: &Config, out: &mut [u8]) -> Result<usize, EmitError> {
        let mut packet = Out { bytes: [0; MAX_PACKET], len: 0 };
        if !self.put(config, &mut packet) {
            return Err(EmitError::Value(self.kind()));
        }
        let to = out.get_mut(..packet.len).ok_or(EmitError::BufferTooSmall)?;
        for (to, from) in to.iter_mut().zip(packet.bytes) {
            *to = from;
        }
        Ok(packet.len)
    }

    /// Writes the packet; `false` if a value does not fit.
    fn put(&self, config: &Config, out: &mut Out) -> bool {
        let counted = |cycles: Option<u32>| cycles.is_some() == config.cycle_accurate;
        match *self {
            Self::Async { extra } => {
                for _ in 0..extra.min(10).wrapping_add(5) {
                    out.byte(0);
                }
                out.byte(0x80);
                extra <= 10
            }
            Self::ISync(sync) => {
                let thumb = sync.isa != Isa::Arm;
                let reason: u8 = match sync.reason {
                    Reason::Periodic => 0,
                    Reason::TraceOn => 1,
                    Reason::Overflow => 2,
                    Reason::DebugExit => 3,
                };
                let bit = |set: bool, bit: u32| u8::from(set).wrapping_shl(bit);
                out.byte(0x08);
                out.fixed(sync.address | u32::from(thumb), 4);
                out.byte(
                    reason.wrapping_shl(5)
                        | bit(sync.ns, 3)
                        | bit(sync.isa == Isa::ThumbEe, 2)
                        | bit(sync.hyp, 1)
                        | 1,
                );
                sync.cycles.into_iter().for_each(|count| out.cycles(0, count));
                let identified = match sync.context_id {
                    Some(id) => {
                        config.context_id_bytes > 0 && out.fixed(id, config.context_id_bytes)
                    }
                    None => config.context_id_bytes == 0,
                };
                let count = config.cycle_accurate && sync.reason != Reason::Periodic;
                sync.address & 1 == 0
                    && sync.isa != Isa::Jazelle
                    && sync.cycles.is_some() == count
                    && identified
            }
            Self::Trigger => header(out, 0x0c),
            Self::Vmid(vmid) => {
                out.byte(0x3c);
                out.byte(vmid);
                true
            }
            Self::Timestamp(ts) => {
                out.byte(if ts.clock_changed { 0x46 } else { 0x42 });
                let (most, whole) = if config.timestamp_64 { (9, 64) } else { (7, 48) };
                let count = u32::from(ts.bits).div_ceil(7).min(most);
                let mut value = ts.value;
                for index in 1..=count {
                    let more = if index < count { 0x80 } else { 0 };
                    let byte = value as u8;
                    out.byte(match index == most {
                        true if config.timestamp_64 => byte,
                        true => byte & 0x3f,
                        false => byte & 0x7f | more,
                    });
                    value >>= 7;
                }
                ts.cycles.into_iter().for_each(|count| out.cycles(0, count));
                let bits = u32::from(ts.bits);
                let sized = bits == whole
                    || (7..whole).contains(&bits) && bits.is_multiple_of(7) && bits != 63;
                let fits = bits == 64 || ts.value.checked_shr(bits) == Some(0);
                sized && fits && counted(ts.cycles)
            }
            Self::Ignore => header(out, 0x66),
            Self::ContextId(id) => {
                out.byte(0x6e);
                out.fixed(id, config.context_id_bytes)
            }
            Self::Waypoint { address, alt_isa } => {
                out.byte(0x72);
                let fits = out.address(&address, 0, alt_isa.is_some());
                if let Some(alt) = alt_isa {
                    out.byte(if alt { 0x40 } else { 0 });
                }
                fits && (alt_isa.is_none() || address.bytes == 5)
            }
            Self::ExceptionReturn => header(out, 0x76),
            Self::Branch { address, exception, cycles } => {
                let fits = out.address(&address, 1, exception.is_some());
                let known = exception.is_none_or(|exception| out.exception(&exception));
                cycles.into_iter().for_each(|count| out.cycles(0, count));
                fits && known && counted(cycles)
            }
            Self::Atoms(atoms) => {
                // The oldest is at the top, below the bit that marks the end; 0 is E.
                let len = u32::from(atoms.len());
                let not_taken = (!atoms.bits()).reverse_bits() >> 8u32.wrapping_sub(len);
                out.byte(0x80 | 1u8.wrapping_shl(len.wrapping_add(1)) | not_taken.wrapping_shl(1));
                !config.cycle_accurate
            }
            Self::Atom { taken, cycles } => {
                out.cycles(0x80 | if taken { 0 } else { 2 }, cycles);
                config.cycle_accurate
            }
        }
    }
}

fn header(out: &mut Out, byte: u8) -> bool {
    out.byte(byte);
    true
}
