use crate::packet::{Atoms, Cancel, ConditionalResult, Context, CycleCount, Exception, Return};
use crate::{Address, Class, Config, EmitError, Form, Headers, Is, MAX_PACKET, Packet};

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

    fn fixed(&mut self, value: u64, count: u8) {
        for byte in value.to_le_bytes().into_iter().take(count.into()) {
            self.byte(byte);
        }
    }

    fn unbounded(&mut self, mut value: u32) {
        while value > 0x7f {
            self.byte(value as u8 | 0x80);
            value >>= 7;
        }
        self.byte(value as u8);
    }

    /// `bits` of a value in bytes of seven bits, the `last` one of eight.
    fn bounded(&mut self, mut value: u64, bits: u32, last: u32) {
        let count = bits.div_ceil(7).clamp(1, last);
        for index in 1..=count {
            let more = if index < count { 0x80 } else { 0 };
            let byte = value as u8;
            self.byte(if index == last { byte } else { (byte & 0x7f) | more });
            value >>= 7;
        }
    }

    /// The same with as few bytes as the value needs.
    fn shortest(&mut self, value: u32, last: u32) {
        self.bounded(value.into(), u32::BITS.wrapping_sub(value.leading_zeros()), last);
    }

    fn address(&mut self, address: &Address) -> bool {
        let Address { form, is, value } = *address;
        let shift = is.shift();
        let low = match is {
            Is::Is0 => ((value >> 2) & 0x7f) | ((value >> 9) & 0x7f).wrapping_shl(8),
            Is::Is1 => ((value >> 1) & 0x7f) | (value & 0xff00),
        };
        let raw = (value & !0xffff) | low;
        let bits = address.bits();
        // Only bits that are sent, and none below the instruction set's alignment.
        let allowed = match bits {
            64 => u64::MAX,
            _ => 1u64.wrapping_shl(bits).wrapping_sub(1),
        } & !1u64.wrapping_shl(shift).wrapping_sub(1);
        match form {
            Form::Match(number) => return number < 3 && is == Is::Is0 && value == 0,
            Form::Short { two: false } => self.byte((value >> shift) as u8),
            Form::Short { two: true } => self.bounded(value >> shift, 14, 2),
            Form::Long32 => self.fixed(raw, 4),
            Form::Long64 => self.fixed(raw, 8),
        }
        value & !allowed == 0
    }

    fn context(&mut self, config: &Config, context: &Context) -> bool {
        let Context { el, sf, ns, nse, vmid, context_id } = *context;
        let bit = |set: bool, bit: u32| u8::from(set).wrapping_shl(bit);
        self.byte(
            (el & 3)
                | bit(nse, 3)
                | bit(sf, 4)
                | bit(ns, 5)
                | bit(vmid.is_some(), 6)
                | bit(context_id.is_some(), 7),
        );
        let mut fits = el < 4;
        for (value, bytes) in [(vmid, config.vmid_bytes), (context_id, config.context_id_bytes)] {
            let Some(value) = value else { continue };
            self.fixed(value.into(), bytes);
            let bits = u32::from(bytes).wrapping_mul(8);
            fits &= bytes > 0 && u64::from(value) >> bits == 0;
        }
        fits
    }

    fn exception(&mut self, exception: &Exception, third: Option<u8>) -> bool {
        let Exception { number, returns, fault_pending } = *exception;
        let e = match returns {
            Return::None => 0x00,
            Return::Address => 0x01,
            Return::Target => 0x40,
            Return::Reserved => 0x41,
        };
        let low = (number as u8 & 0x1f).wrapping_shl(1) | e;
        let second = (number >> 5) as u8 | u8::from(fault_pending).wrapping_shl(5);
        match third {
            Some(third) => {
                self.byte(low);
                self.byte(third);
            }
            None if second != 0 => {
                self.byte(low | 0x80);
                self.byte(second);
            }
            None => self.byte(low),
        }
        number < 0x400
    }

    fn result(&mut self, result: &ConditionalResult) -> bool {
        let ConditionalResult { key, result, .. } = *result;
        let first = (result & 0xf) | (key as u8 & 7).wrapping_shl(4);
        if key > 7 {
            self.byte(first | 0x80);
            self.unbounded(key >> 3);
        } else {
            self.byte(first);
        }
        result < 16
    }
}

/// The two low bits of a header that stand for these atoms.
fn hint(atoms: Option<Atoms>) -> Option<u8> {
    Some(match atoms.map(|atoms| (atoms.len(), atoms.bits())) {
        None => 0,
        Some((1, 1)) => 1,
        Some((2, 3)) => 2,
        Some((1, 0)) => 3,
        Some(_) => return None,
    })
}

impl Packet {
    /// Writes the packet to the start of `out` and returns its length.
    pub fn emit(&self, headers: &Headers, out: &mut [u8]) -> Result<usize, EmitError> {
        let config = headers.config();
        let kind = self.kind();
        let mut packet = Out { bytes: [0; MAX_PACKET], len: 0 };
        let fits = self.put(config, &mut packet).unwrap_or(false);
        let header = packet.bytes.first().copied().unwrap_or(0);
        if matches!(headers.class(header), Class::Reserved | Class::NotConfigured(_))
            || matches!(self, Self::Reset(..) | Self::TransactionFail(..)) && !config.is_ete()
        {
            return Err(EmitError::NotConfigured(kind));
        }
        if !fits {
            return Err(EmitError::Value(kind));
        }
        let to = out.get_mut(..packet.len).ok_or(EmitError::BufferTooSmall)?;
        for (to, from) in to.iter_mut().zip(packet.bytes) {
            *to = from;
        }
        Ok(packet.len)
    }

    /// `None` or `false` if a value does not fit.
    fn put(&self, config: &Config, out: &mut Out) -> Option<bool> {
        let bit = |set: bool, bit: u32| u8::from(set).wrapping_shl(bit);
        let is_bit = |address: &Address| u8::from(address.is == Is::Is1);
        Some(match *self {
            Self::Async => {
                out.fixed(0, 8);
                out.fixed(0x8000_0000, 4);
                true
            }
            Self::Discard => {
                out.fixed(0x0300, 2);
                true
            }
            Self::Overflow => {
                out.fixed(0x0500, 2);
                true
            }
            Self::TraceInfo(info) => {
                let sections = [info.info, info.key, info.speculation, info.threshold, info.window];
                let present = sections
                    .iter()
                    .zip(0u32..)
                    .fold(0, |all, (section, index)| all | bit(section.is_some(), index));
                out.byte(0x01);
                out.byte(present);
                sections.into_iter().flatten().for_each(|value| out.unbounded(value));
                true
            }
            Self::Timestamp(ts) => {
                out.byte(0x02 | u8::from(ts.cycles.is_some()));
                out.bounded(ts.value, ts.bits.into(), 9);
                let cycles = ts.cycles.unwrap_or(0);
                if ts.cycles.is_some() {
                    out.shortest(cycles, 3);
                }
                let sized =
                    ts.bits == 64 || ts.bits > 0 && ts.bits < 64 && ts.bits.is_multiple_of(7);
                let mask = config.cycle_count_mask() & 0x3f_ffff;
                let whole = ts.bits == 64 || ts.value.checked_shr(ts.bits.into()) == Some(0);
                sized && ts.bits != 63 && whole && cycles & !mask == 0
            }
            Self::TraceOn => header(out, 0x04, true),
            Self::FunctionReturn => header(out, 0x05, true),
            Self::Exception(exception) => {
                out.byte(0x06);
                let special = config.is_ete() && matches!(exception.number, 0x00 | 0x18);
                out.exception(&exception, None) && !special
            }
            Self::Reset(exception, third) => {
                out.byte(0x06);
                out.exception(&exception, Some(third))
                    && exception.number == 0
                    && !exception.fault_pending
            }
            Self::TransactionFail(exception, third) => {
                out.byte(0x06);
                out.exception(&exception, Some(third))
                    && exception.number == 0x18
                    && !exception.fault_pending
            }
            Self::ExceptionReturn => header(out, 0x07, true),
            Self::TransactionStart => header(out, 0x0a, true),
            Self::TransactionCommit => header(out, 0x0b, true),
            Self::Ite { el, value } => {
                out.byte(0x09);
                out.byte(el);
                out.fixed(value, 8);
                true
            }
            Self::CycleCount(CycleCount::F1 { commit, count }) => {
                out.byte(if count.is_some() { 0x0e } else { 0x0f });
                commit.into_iter().for_each(|value| out.unbounded(value));
                count.into_iter().for_each(|value| out.shortest(value, 3));
                commit.is_none() == config.commopt && count.unwrap_or(0) < 1 << 22
            }
            Self::CycleCount(CycleCount::F2 { far, commit, count }) => {
                out.byte(0x0c | u8::from(far));
                out.byte(commit.wrapping_shl(4) | (count & 0xf));
                commit < 16 && count < 16
            }
            Self::CycleCount(CycleCount::F3 { commit, count }) => {
                header(out, 0x10 | (commit & 3).wrapping_shl(2) | (count & 3), commit < 4)
                    && count < 4
            }
            Self::NumberedMarker(number) => header(out, 0x20 | (number & 7), number < 8),
            Self::UnnumberedMarker(count) => header(out, 0x28 | (count & 7).min(4), count < 5),
            Self::Commit(count) => {
                out.byte(0x2d);
                out.unbounded(count);
                true
            }
            Self::Cancel(Cancel::F1 { count, mispredict }) => {
                out.byte(if mispredict { 0x2f } else { 0x2e });
                out.unbounded(count);
                true
            }
            Self::Mispredict(atoms) => header(out, 0x30 | hint(atoms)?, true),
            Self::Cancel(Cancel::F2(atoms)) => header(out, 0x34 | hint(atoms)?, true),
            Self::Cancel(Cancel::F3 { atom, count }) => {
                let field = count.wrapping_sub(2);
                header(out, 0x38 | (field & 3).wrapping_shl(1) | u8::from(atom), field < 4)
            }
            Self::ConditionalF1(key) => {
                out.byte(0x6c);
                out.unbounded(key);
                true
            }
            Self::ConditionalF2(bits) => header(out, 0x40 | (bits & 3).min(2), bits < 3),
            Self::ConditionalF3 { z, num } => {
                out.byte(0x6d);
                out.byte((num & 0x3f).wrapping_shl(1) | u8::from(z));
                num < 64
            }
            Self::ConditionalFlush => header(out, 0x43, true),
            Self::ResultF1(first, None) => {
                out.byte(0x6e | u8::from(first.ci));
                out.result(&first)
            }
            Self::ResultF1(first, Some(second)) => {
                out.byte(0x68 | bit(second.ci, 1) | u8::from(first.ci));
                out.result(&first) & out.result(&second)
            }
            Self::ResultF2 { two, token } => {
                header(out, 0x48 | bit(two, 2) | (token & 3).min(2), token < 3)
            }
            Self::ResultF3(tokens) => {
                out.byte(0x50 | (tokens >> 8) as u8 & 0xf);
                out.byte(tokens as u8);
                tokens < 1 << 12
            }
            Self::ResultF4(token) => header(out, 0x44 | (token & 3).min(2), token < 3),
            Self::Ignore => header(out, 0x70, true),
            Self::Event(bits) => header(out, 0x70 | (bits & 0xf).max(1), (1..16).contains(&bits)),
            Self::TimestampMarker => header(out, 0x88, true),
            Self::Context(None) => header(out, 0x80, true),
            Self::Context(Some(context)) => {
                out.byte(0x81);
                out.context(config, &context)
            }
            Self::Address(address) => {
                out.byte(match address.form {
                    Form::Match(number) => 0x90 | (number & 3).min(2),
                    Form::Short { .. } => 0x95_u8.wrapping_add(is_bit(&address)),
                    Form::Long32 => 0x9a_u8.wrapping_add(is_bit(&address)),
                    Form::Long64 => 0x9d_u8.wrapping_add(is_bit(&address)),
                });
                out.address(&address)
            }
            Self::AddressContext(address, context) => {
                out.byte(match address.form {
                    Form::Long32 => 0x82_u8.wrapping_add(is_bit(&address)),
                    Form::Long64 => 0x85_u8.wrapping_add(is_bit(&address)),
                    _ => return None,
                });
                out.address(&address) & out.context(config, &context)
            }
            Self::Source(address) => {
                out.byte(match address.form {
                    Form::Match(number) => 0xb0 | (number & 3).min(2),
                    Form::Short { .. } => 0xb4_u8.wrapping_add(is_bit(&address)),
                    Form::Long32 => 0xb6_u8.wrapping_add(is_bit(&address)),
                    Form::Long64 => 0xb8_u8.wrapping_add(is_bit(&address)),
                });
                out.address(&address)
            }
            Self::Q(q) => {
                out.byte(match q.address.map(|address| (address.form, is_bit(&address))) {
                    Some((Form::Match(number), _)) => 0xa0 | (number & 3).min(2),
                    Some((Form::Short { .. }, is)) => 0xa5_u8.wrapping_add(is),
                    Some((Form::Long32, is)) => 0xaa_u8.wrapping_add(is),
                    Some((Form::Long64, _)) => return None,
                    None if q.count.is_some() => 0xac,
                    None => 0xaf,
                });
                let fits = q.address.is_none_or(|address| out.address(&address));
                q.count.into_iter().for_each(|count| out.unbounded(count));
                fits && (q.count.is_some() || q.address.is_none())
            }
            Self::Atoms(atoms) => header(out, atoms.header()?, true),
        })
    }
}

fn header(out: &mut Out, byte: u8, fits: bool) -> bool {
    out.byte(byte);
    fits
}
