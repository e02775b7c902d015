use super::record::Record;
use crate::packet::{Cancel, ConditionalResult, Context, CycleCount, Exception, Return};
use crate::table::{Effect, End, FieldName as F, ROWS, Row, Section as S, Sections, ones};
use crate::{
    Address, Atoms, EmitError, Form, Headers, Is, Kind, Layout, MAX_PACKET, Packet, Q, Stepper,
    Timestamp,
};

impl Packet {
    /// Writes the packet to the start of `out` and returns its length.
    pub fn emit(&self, headers: &Headers, out: &mut [u8]) -> Result<usize, EmitError> {
        let layout = headers.layout();
        let kind = self.kind();
        let mut rows = ROWS
            .iter()
            .filter(|row| row.needs.met(layout.config()) && layout.can_be(row, kind))
            .peekable();
        if rows.peek().is_none() {
            return Err(EmitError::NotConfigured(kind));
        }
        let packet =
            self.record().and_then(|record| rows.find_map(|row| record.write(layout, row, kind)));
        let packet = packet.ok_or(EmitError::Value(kind))?;
        let to = out.get_mut(..packet.len).ok_or(EmitError::BufferTooSmall)?;
        for (to, from) in to.iter_mut().zip(packet.bytes) {
            *to = from;
        }
        Ok(packet.len)
    }

    /// The fields of the packet and its sections; `None` if no packet can hold a value.
    fn record(&self) -> Option<Record> {
        let none = Record::NONE;
        Some(match *self {
            Self::Async => none.with(S::Extension).with(S::Zeros),
            Self::Discard | Self::Overflow => none.with(S::Extension),
            Self::TraceInfo(info) => none
                .with(S::Control)
                .with_some(S::Info, F::Info, info.info)
                .with_some(S::P0Key, F::P0Key, info.key)
                .with_some(S::Speculation, F::Speculation, info.speculation)
                .with_some(S::Threshold, F::Threshold, info.threshold)
                .with_some(S::Window, F::Window, info.window),
            Self::Timestamp(Timestamp { value, bits, cycles }) => {
                let shape = S::Timestamp.longest();
                let first = (1..=shape.most).find(|count| shape.bits(*count) == bits)?;
                none.with(S::Timestamp).set(F::Timestamp, value).first(Some(first)).with_some(
                    S::TimestampCycles,
                    F::Cycles,
                    cycles,
                )
            }
            Self::Exception(exception) => none.with_exception(&exception),
            Self::Reset(exception, code) => {
                none.with_exception(&exception).with(S::ResetCode).set(F::Code, code)
            }
            Self::TransactionFail(exception, code) => {
                none.with_exception(&exception).with(S::FailCode).set(F::Code, code)
            }
            Self::Ite { el, value } => none
                .with(S::Level)
                .set(F::ExceptionLevel, el)
                .with(S::Instrumentation)
                .set(F::Instrumentation, value),
            Self::CycleCount(CycleCount::F1 { commit, count }) => none
                .with_some(S::Commit, F::Commit, commit)
                .with_some(S::CycleCount, F::Cycles, count),
            Self::CycleCount(CycleCount::F2 { far, commit, count }) => none
                .with(S::CommitCycles)
                .set(F::Far, far)
                .set(F::Commit, commit)
                .set(F::Cycles, count),
            Self::CycleCount(CycleCount::F3 { commit, count }) => {
                none.set(F::Commit, commit).set(F::Cycles, count)
            }
            Self::NumberedMarker(number) | Self::UnnumberedMarker(number) => {
                none.set(F::Marker, number)
            }
            Self::Commit(count) => none.with(S::Commit).set(F::Commit, count),
            Self::Cancel(Cancel::F1 { count, .. }) => none.with(S::Cancel).set(F::Cancel, count),
            Self::Mispredict(atoms) | Self::Cancel(Cancel::F2(atoms)) => {
                let hint = (0u8..4).find(|hint| Atoms::of_hint(u64::from(*hint)) == atoms)?;
                none.set(F::Atoms, hint)
            }
            Self::Cancel(Cancel::F3 { atom, count }) => {
                none.set(F::Atoms, atom).set(F::Cancel, count.checked_sub(2)?)
            }
            Self::ConditionalF1(key) => none.with(S::ConditionalKey).set(F::ConditionalKey, key),
            Self::ConditionalF2(bits) => none.set(F::Conditional, bits),
            Self::ConditionalF3 { z, num } => {
                none.with(S::Conditional).set(F::Z, z).set(F::Num, num)
            }
            Self::ResultF1(ConditionalResult { key, result, ci }, second) => {
                let record = none
                    .with(S::Result1)
                    .set(F::ResultKey1, key)
                    .set(F::Result1, result)
                    .set(F::Ci1, ci);
                let Some(ConditionalResult { key, result, ci }) = second else {
                    return Some(record);
                };
                record
                    .with(S::Result2)
                    .set(F::ResultKey2, key)
                    .set(F::Result2, result)
                    .set(F::Ci2, ci)
            }
            Self::ResultF2 { two, token } => none.set(F::Two, two).set(F::Tokens, token),
            Self::ResultF3(tokens) => none.with(S::Tokens).set(F::Tokens, tokens),
            Self::ResultF4(token) => none.set(F::Tokens, token),
            Self::Event(bits) => none.set(F::Events, bits),
            Self::Context(None) => none,
            Self::Context(Some(context)) => none.with_context(&context),
            Self::Address(address) | Self::Source(address) => none.with_address(&address)?,
            Self::AddressContext(address, context) => {
                none.with_address(&address)?.with_context(&context)
            }
            Self::Q(Q { count, address }) => {
                let record = none.with_some(S::Instructions, F::Instructions, count);
                match address {
                    Some(address) => record.with_address(&address)?,
                    None => record,
                }
            }
            Self::Atoms(atoms) => none.set(F::Atoms, atoms.header()? & 0x3f),
            Self::TraceOn
            | Self::FunctionReturn
            | Self::ExceptionReturn
            | Self::TransactionStart
            | Self::TransactionCommit
            | Self::ConditionalFlush
            | Self::Ignore
            | Self::TimestampMarker => none,
        })
    }
}

impl Record {
    fn with_exception(self, exception: &Exception) -> Self {
        let Exception { number, returns, fault_pending } = *exception;
        let returns = match returns {
            Return::None => 0u8,
            Return::Address => 1,
            Return::Target => 2,
            Return::Reserved => 3,
        };
        self.with(S::Exception)
            .set(F::Type, number)
            .set(F::Returns, returns)
            .set(F::FaultPending, fault_pending)
    }

    fn with_context(self, context: &Context) -> Self {
        let Context { el, sf, ns, nse, vmid, context_id } = *context;
        self.with(S::Context)
            .set(F::ExceptionLevel, el)
            .set(F::Sf, sf)
            .set(F::Ns, ns)
            .set(F::Nse, nse)
            .with_some(S::Vmid, F::Vmid, vmid)
            .with_some(S::ContextId, F::ContextId, context_id)
    }

    fn with_address(self, address: &Address) -> Option<Self> {
        let Address { form, is, value } = *address;
        let section = match (form, is) {
            (Form::Match(number), Is::Is0) if value == 0 => {
                return Some(self.set(F::Match, number));
            }
            (Form::Match(_), _) => return None,
            (Form::Short { .. }, Is::Is0) => S::ShortIs0,
            (Form::Short { .. }, Is::Is1) => S::ShortIs1,
            (Form::Long32, Is::Is0) => S::Long32Is0,
            (Form::Long32, Is::Is1) => S::Long32Is1,
            (Form::Long64, Is::Is0) => S::Long64Is0,
            (Form::Long64, Is::Is1) => S::Long64Is1,
        };
        let first = match form {
            Form::Short { two } => Some(1u8.wrapping_add(two.into())),
            _ => None,
        };
        Some(self.with(section).set(F::Address, value).first(first))
    }

    /// Writes the packet by a row of the table; `None` if the row has other sections or fields, or no room
    /// for a value.
    fn write(&self, layout: &Layout, row: &Row, kind: Kind) -> Option<Out> {
        const OPTIONAL: Sections = Sections::optional();
        if self.sections.without(OPTIONAL) != Sections::of(row.sections)
            || !row.fields.iter().all(|field| self.has(field.name))
        {
            return None;
        }
        let mut left = self.clone();
        let mut header = u64::from(row.first);
        for field in row.fields {
            header = header & !field.insert(u64::MAX) | left.remove(field);
        }
        let header = u8::try_from(header).ok().filter(|header| row.has(*header))?;
        let mut out = Out { bytes: [0; MAX_PACKET], len: 0 };
        out.byte(header);
        for section in self.sections {
            let mut number = 0;
            for field in layout.fields(section) {
                number |= left.remove(field);
            }
            let shape = layout.shape(section);
            let count = left.first.take().unwrap_or_else(|| shape.bytes_for(number));
            for index in 0..count {
                let byte = number.checked_shr(shape.bits(index).into()).unwrap_or(0);
                let more = shape.end != End::Fixed && index.wrapping_add(1) < count;
                out.byte(
                    (byte & ones(shape.width(index))) as u8
                        | u8::from(more).wrapping_shl(7)
                        | self.decided(layout, section, index, kind),
                );
            }
            // No room for all bits of the number, or for an identifier that is not traced (O4).
            if count == 0 || number & !ones(shape.bits(count)) != 0 {
                return None;
            }
        }
        (left.is_done() && out.is_packet(layout, kind)).then_some(out)
    }

    /// Bits of a byte that announce other sections, or determine the kind of the packet if the section
    /// contains nothing else.
    fn decided(&self, layout: &Layout, section: S, index: u8, kind: Kind) -> u8 {
        let wanted = |effect| match effect {
            Effect::Section(section) => self.sections.contains(section),
            Effect::Kind(decided) => decided == kind && section.fields().is_empty(),
            Effect::Malformed => false,
        };
        let rules = layout.rules(section).iter().filter(|rule| rule.test.equal);
        let told = rules.filter(|rule| rule.first == index && wanted(rule.effect));
        told.fold(0, |all, rule| all | rule.test.value)
    }
}

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

    /// Whether the bytes are exactly one packet of this kind.
    fn is_packet(&self, layout: &Layout, kind: Kind) -> bool {
        let mut stepper = Stepper::default();
        let mut ends = self.bytes.iter().take(self.len).map(|byte| stepper.step(layout, *byte).end);
        let last = ends.by_ref().take(self.len.wrapping_sub(1)).all(|end| end.is_none());
        last && ends.next() == Some(Some(Ok(kind)))
    }
}
