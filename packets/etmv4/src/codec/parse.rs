use super::record::Record;
use crate::packet::{
    Cancel, ConditionalResult, Context, CycleCount, Exception, Packet, Q, Return, Timestamp,
    TraceInfo,
};
use crate::table::{FieldName as F, Section as S};
use crate::walk::walk;
use crate::{Address, Atoms, Form, Headers, Is, Kind, Layout, ParseError};

impl Packet {
    /// Reads the packet at the start of `bytes` and returns it with its length. Bytes after it do not
    /// matter.
    ///
    /// [`ParseError::Incomplete`] is resumable: call again with at least as many more bytes as it says.
    #[inline]
    pub fn parse(headers: &Headers, bytes: &[u8]) -> Result<(Self, usize), ParseError> {
        let header = *bytes.first().ok_or(ParseError::Incomplete { missing: 1 })?;
        let atoms = headers.atoms(header);
        if !atoms.is_empty() {
            return Ok((Self::Atoms(atoms), 1));
        }
        longer(headers.layout(), header, bytes)
    }
}

/// Reads a packet other than atoms.
#[inline(never)]
fn longer(layout: &Layout, header: u8, bytes: &[u8]) -> Result<(Packet, usize), ParseError> {
    let mut record = Record::NONE;
    for field in layout.row(header).map_or(&[][..], |row| row.fields) {
        record.extract(field, header.into());
    }
    let (kind, len) = walk(layout, bytes, |section, number, count| {
        record.add(section, count);
        for field in layout.fields(section) {
            record.extract(field, number);
        }
    })?;
    match record.packet(kind) {
        Some(packet) => Ok((packet, len)),
        None => Err(ParseError::Reserved(header)),
    }
}

impl Record {
    /// Builds the packet of a kind from these fields; `None` if no packet has this kind.
    #[inline(always)]
    fn packet(&self, kind: Kind) -> Option<Packet> {
        use Kind as K;
        Some(match kind {
            K::Async => Packet::Async,
            K::Discard => Packet::Discard,
            K::Overflow => Packet::Overflow,
            K::TraceInfo => Packet::TraceInfo(TraceInfo {
                info: self.number(F::Info),
                key: self.number(F::P0Key),
                speculation: self.number(F::Speculation),
                threshold: self.number(F::Threshold),
                window: self.number(F::Window),
            }),
            K::Timestamp => Packet::Timestamp(Timestamp {
                value: self.get(F::Timestamp),
                bits: S::Timestamp.longest().bits(self.first_len()),
                cycles: self.number(F::Cycles),
            }),
            K::TraceOn => Packet::TraceOn,
            K::FunctionReturn => Packet::FunctionReturn,
            K::Exception => Packet::Exception(self.exception(self.is(F::FaultPending))),
            K::Reset => Packet::Reset(self.exception(false), self.code()),
            K::TransactionFail => Packet::TransactionFail(self.exception(false), self.code()),
            K::ExceptionReturn => Packet::ExceptionReturn,
            K::Ite => Packet::Ite {
                el: self.get(F::ExceptionLevel) as u8,
                value: self.get(F::Instrumentation),
            },
            K::TransactionStart => Packet::TransactionStart,
            K::TransactionCommit => Packet::TransactionCommit,
            K::CycleCountF1 => Packet::CycleCount(CycleCount::F1 {
                commit: self.number(F::Commit),
                count: self.number(F::Cycles),
            }),
            K::CycleCountF2 => Packet::CycleCount(CycleCount::F2 {
                far: self.is(F::Far),
                commit: self.get(F::Commit) as u8,
                count: self.get(F::Cycles) as u8,
            }),
            K::CycleCountF3 => Packet::CycleCount(CycleCount::F3 {
                commit: self.get(F::Commit) as u8,
                count: self.get(F::Cycles) as u8,
            }),
            K::NumberedMarker => Packet::NumberedMarker(self.get(F::Marker) as u8),
            K::UnnumberedMarker => Packet::UnnumberedMarker(self.get(F::Marker) as u8),
            K::Commit => Packet::Commit(self.get(F::Commit) as u32),
            K::CancelF1 | K::CancelF1Mispredict => Packet::Cancel(Cancel::F1 {
                count: self.get(F::Cancel) as u32,
                mispredict: kind == K::CancelF1Mispredict,
            }),
            K::Mispredict => Packet::Mispredict(Atoms::of_hint(self.get(F::Atoms))),
            K::CancelF2 => Packet::Cancel(Cancel::F2(Atoms::of_hint(self.get(F::Atoms)))),
            K::CancelF3 => Packet::Cancel(Cancel::F3 {
                atom: self.is(F::Atoms),
                count: (self.get(F::Cancel) as u8).wrapping_add(2),
            }),
            K::ConditionalF1 => Packet::ConditionalF1(self.get(F::ConditionalKey) as u32),
            K::ConditionalF2 => Packet::ConditionalF2(self.get(F::Conditional) as u8),
            K::ConditionalF3 => {
                Packet::ConditionalF3 { z: self.is(F::Z), num: self.get(F::Num) as u8 }
            }
            K::ConditionalFlush => Packet::ConditionalFlush,
            K::ResultF1 => {
                let result = |result, key, ci| ConditionalResult {
                    key: self.get(key) as u32,
                    result: self.get(result) as u8,
                    ci: self.is(ci),
                };
                let two = self.has(F::Result2);
                let second = two.then(|| result(F::Result2, F::ResultKey2, F::Ci2));
                Packet::ResultF1(result(F::Result1, F::ResultKey1, F::Ci1), second)
            }
            K::ResultF2 => {
                Packet::ResultF2 { two: self.is(F::Two), token: self.get(F::Tokens) as u8 }
            }
            K::ResultF3 => Packet::ResultF3(self.get(F::Tokens) as u16),
            K::ResultF4 => Packet::ResultF4(self.get(F::Tokens) as u8),
            K::Ignore => Packet::Ignore,
            K::Event => Packet::Event(self.get(F::Events) as u8),
            K::TimestampMarker => Packet::TimestampMarker,
            K::Context => Packet::Context(self.has(F::Sf).then(|| self.context())),
            K::AddressContext32Is0
            | K::AddressContext32Is1
            | K::AddressContext64Is0
            | K::AddressContext64Is1 => Packet::AddressContext(self.address()?, self.context()),
            K::AddressMatch
            | K::AddressShortIs0
            | K::AddressShortIs1
            | K::Address32Is0
            | K::Address32Is1
            | K::Address64Is0
            | K::Address64Is1 => Packet::Address(self.address()?),
            K::SourceMatch
            | K::SourceShortIs0
            | K::SourceShortIs1
            | K::Source32Is0
            | K::Source32Is1
            | K::Source64Is0
            | K::Source64Is1 => Packet::Source(self.address()?),
            K::Q => Packet::Q(Q { count: self.number(F::Instructions), address: self.address() }),
            K::AtomF1 | K::AtomF2 | K::AtomF3 | K::AtomF4 | K::AtomF5 | K::AtomF6 => {
                Packet::Atoms(Atoms::of(0xc0 | self.get(F::Atoms) as u8)?)
            }
            K::Extension => return None,
        })
    }

    /// The value of an optional field of at most 32 bits.
    fn number(&self, name: F) -> Option<u32> {
        self.has(name).then(|| self.get(name) as u32)
    }

    fn exception(&self, fault_pending: bool) -> Exception {
        Exception {
            number: self.get(F::Type) as u16,
            returns: Return::of(self.get(F::Returns)),
            fault_pending,
        }
    }

    /// The code of a reset or a failed transaction: a separate byte, or the second one.
    fn code(&self) -> u8 {
        self.get(if self.has(F::Code) { F::Code } else { F::SecondByte }) as u8
    }

    fn context(&self) -> Context {
        Context {
            el: self.get(F::ExceptionLevel) as u8,
            sf: self.is(F::Sf),
            ns: self.is(F::Ns),
            nse: self.is(F::Nse),
            vmid: self.number(F::Vmid),
            context_id: self.number(F::ContextId),
        }
    }

    /// The address, if there is one.
    fn address(&self) -> Option<Address> {
        if self.has(F::Match) {
            let form = Form::Match(self.get(F::Match) as u8);
            return Some(Address { form, is: Is::Is0, value: 0 });
        }
        // An address is always the first section.
        let short = Form::Short { two: self.first_len() == 2 };
        let (form, is) = match { self.sections }.next()? {
            S::ShortIs0 => (short, Is::Is0),
            S::ShortIs1 => (short, Is::Is1),
            S::Long32Is0 => (Form::Long32, Is::Is0),
            S::Long32Is1 => (Form::Long32, Is::Is1),
            S::Long64Is0 => (Form::Long64, Is::Is0),
            S::Long64Is1 => (Form::Long64, Is::Is1),
            _ => return None,
        };
        Some(Address { form, is, value: self.get(F::Address) })
    }
}
