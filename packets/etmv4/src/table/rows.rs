//! Headers: which packets they start.

use super::field::{Field, FieldName};
use super::needs::Needs;
use super::section::Section;
use crate::Kind;
use {FieldName as F, Kind as K, Needs as N, Section as S};

/// A packet: the headers it starts with, and the sections that are always present.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// The first of the headers.
    pub first: u8,
    /// The last of them.
    pub last: u8,
    /// The kind of the packet, unless a [`Rule`](crate::Rule) of its sections changes it.
    pub kind: Kind,
    /// The configurations that have it.
    pub needs: Needs,
    /// The fields of the header.
    pub fields: &'static [Field],
    /// The sections that are always present. The rules of a section may add others.
    pub sections: &'static [Section],
}

impl Row {
    /// Whether a header is one of its headers.
    pub const fn has(&self, header: u8) -> bool {
        self.first <= header && header <= self.last
    }

    /// The same packet, restricted to configurations with a feature.
    const fn needs(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    /// The same packet, with these fields in its header.
    const fn fields(self, fields: &'static [Field]) -> Self {
        Self { fields, ..self }
    }

    const fn q(self) -> Self {
        self.needs(N::Q)
    }

    const fn ete(self) -> Self {
        self.needs(N::Ete(true))
    }

    const fn conditional(self) -> Self {
        self.needs(N::Conditional)
    }
}

const fn range(first: u8, last: u8, kind: Kind, sections: &'static [Section]) -> Row {
    Row { first, last, kind, needs: N::Nothing, fields: &[], sections }
}

const fn one(header: u8, kind: Kind, sections: &'static [Section]) -> Row {
    range(header, header, kind, sections)
}

const fn f(name: FieldName, from: u8, width: u8) -> Field {
    Field::new(name, from, width)
}

const MATCH: &[Field] = &[f(F::Match, 0, 2)];
const ATOMS: &[Field] = &[f(F::Atoms, 0, 6)];
const HINT: &[Field] = &[f(F::Atoms, 0, 2)];
const TOKENS: &[Field] = &[f(F::Tokens, 0, 2)];
const TOKENS_TWO: &[Field] = &[f(F::Tokens, 0, 2), f(F::Two, 2, 1)];
const CI: &[Field] = &[f(F::Ci1, 0, 1)];
const CI_CI: &[Field] = &[f(F::Ci1, 0, 1), f(F::Ci2, 1, 1)];

/// The packets of the instruction trace stream. A header that is in no row is reserved.
// Spec: IHI 0064, "Instruction trace packets".
pub const ROWS: &[Row] = &[
    one(0x00, K::Extension, &[S::Extension]),
    one(0x01, K::TraceInfo, &[S::Control]),
    one(0x02, K::Timestamp, &[S::Timestamp]),
    one(0x03, K::Timestamp, &[S::Timestamp, S::TimestampCycles]),
    one(0x04, K::TraceOn, &[]),
    one(0x05, K::FunctionReturn, &[]).needs(N::V8M),
    one(0x06, K::Exception, &[S::Exception]),
    one(0x07, K::ExceptionReturn, &[]).needs(N::Ete(false)),
    one(0x09, K::Ite, &[S::Level, S::Instrumentation]).needs(N::Version(0x53)),
    one(0x0a, K::TransactionStart, &[]).ete(),
    one(0x0b, K::TransactionCommit, &[]).ete(),
    range(0x0c, 0x0d, K::CycleCountF2, &[S::CommitCycles]).fields(&[f(F::Far, 0, 1)]),
    one(0x0e, K::CycleCountF1, &[S::Commit, S::CycleCount]).needs(N::Commopt(false)),
    one(0x0f, K::CycleCountF1, &[S::Commit]).needs(N::Commopt(false)),
    one(0x0e, K::CycleCountF1, &[S::CycleCount]).needs(N::Commopt(true)),
    one(0x0f, K::CycleCountF1, &[]).needs(N::Commopt(true)),
    range(0x10, 0x1f, K::CycleCountF3, &[]).fields(&[f(F::Cycles, 0, 2), f(F::Commit, 2, 2)]),
    range(0x20, 0x27, K::NumberedMarker, &[]).needs(N::Data).fields(&[f(F::Marker, 0, 3)]),
    range(0x28, 0x2c, K::UnnumberedMarker, &[]).needs(N::Data).fields(&[f(F::Marker, 0, 3)]),
    one(0x2d, K::Commit, &[S::Commit]),
    one(0x2e, K::CancelF1, &[S::Cancel]),
    one(0x2f, K::CancelF1Mispredict, &[S::Cancel]),
    range(0x30, 0x33, K::Mispredict, &[]).fields(HINT),
    range(0x34, 0x37, K::CancelF2, &[]).fields(HINT),
    range(0x38, 0x3f, K::CancelF3, &[]).fields(&[f(F::Atoms, 0, 1), f(F::Cancel, 1, 2)]),
    range(0x40, 0x42, K::ConditionalF2, &[]).conditional().fields(&[f(F::Conditional, 0, 2)]),
    one(0x43, K::ConditionalFlush, &[]).conditional(),
    range(0x44, 0x46, K::ResultF4, &[]).conditional().fields(TOKENS),
    range(0x48, 0x4a, K::ResultF2, &[]).conditional().fields(TOKENS_TWO),
    range(0x4c, 0x4e, K::ResultF2, &[]).conditional().fields(TOKENS_TWO),
    range(0x50, 0x5f, K::ResultF3, &[S::Tokens]).conditional().fields(&[f(F::Tokens, 0, 4).at(8)]),
    range(0x68, 0x6b, K::ResultF1, &[S::Result1, S::Result2]).conditional().fields(CI_CI),
    one(0x6c, K::ConditionalF1, &[S::ConditionalKey]).conditional(),
    one(0x6d, K::ConditionalF3, &[S::Conditional]).conditional(),
    range(0x6e, 0x6f, K::ResultF1, &[S::Result1]).conditional().fields(CI),
    one(0x70, K::Ignore, &[]).needs(N::Version(0x43)),
    range(0x71, 0x7f, K::Event, &[]).fields(&[f(F::Events, 0, 4)]),
    one(0x80, K::Context, &[]),
    one(0x81, K::Context, &[S::Context]),
    one(0x82, K::AddressContext32Is0, &[S::Long32Is0, S::Context]),
    one(0x83, K::AddressContext32Is1, &[S::Long32Is1, S::Context]),
    one(0x85, K::AddressContext64Is0, &[S::Long64Is0, S::Context]),
    one(0x86, K::AddressContext64Is1, &[S::Long64Is1, S::Context]),
    one(0x88, K::TimestampMarker, &[]).needs(N::Version(0x46)),
    range(0x90, 0x92, K::AddressMatch, &[]).fields(MATCH),
    one(0x95, K::AddressShortIs0, &[S::ShortIs0]),
    one(0x96, K::AddressShortIs1, &[S::ShortIs1]),
    one(0x9a, K::Address32Is0, &[S::Long32Is0]),
    one(0x9b, K::Address32Is1, &[S::Long32Is1]),
    one(0x9d, K::Address64Is0, &[S::Long64Is0]),
    one(0x9e, K::Address64Is1, &[S::Long64Is1]),
    range(0xa0, 0xa2, K::Q, &[S::Instructions]).q().fields(MATCH),
    one(0xa5, K::Q, &[S::ShortIs0, S::Instructions]).q(),
    one(0xa6, K::Q, &[S::ShortIs1, S::Instructions]).q(),
    one(0xaa, K::Q, &[S::Long32Is0, S::Instructions]).q(),
    one(0xab, K::Q, &[S::Long32Is1, S::Instructions]).q(),
    one(0xac, K::Q, &[S::Instructions]).q(),
    one(0xaf, K::Q, &[]).q(),
    range(0xb0, 0xb2, K::SourceMatch, &[]).ete().fields(MATCH),
    one(0xb4, K::SourceShortIs0, &[S::ShortIs0]).ete(),
    one(0xb5, K::SourceShortIs1, &[S::ShortIs1]).ete(),
    one(0xb6, K::Source32Is0, &[S::Long32Is0]).ete(),
    one(0xb7, K::Source32Is1, &[S::Long32Is1]).ete(),
    one(0xb8, K::Source64Is0, &[S::Long64Is0]).ete(),
    one(0xb9, K::Source64Is1, &[S::Long64Is1]).ete(),
    range(0xc0, 0xd4, K::AtomF6, &[]).fields(ATOMS),
    range(0xd5, 0xd7, K::AtomF5, &[]).fields(ATOMS),
    range(0xd8, 0xdb, K::AtomF2, &[]).fields(ATOMS),
    range(0xdc, 0xdf, K::AtomF4, &[]).fields(ATOMS),
    range(0xe0, 0xf4, K::AtomF6, &[]).fields(ATOMS),
    one(0xf5, K::AtomF5, &[]).fields(ATOMS),
    range(0xf6, 0xf7, K::AtomF1, &[]).fields(ATOMS),
    range(0xf8, 0xff, K::AtomF3, &[]).fields(ATOMS),
];

/// The row of a header in some configuration.
pub(crate) const fn row_of(header: u8) -> Option<&'static Row> {
    let mut rest = ROWS;
    while let [row, others @ ..] = rest {
        if row.has(header) {
            return Some(row);
        }
        rest = others;
    }
    None
}

/// The first header of a kind of packet; 0 if there is none.
pub(crate) const fn header_of(kind: Kind) -> u8 {
    let mut rest = ROWS;
    while let [row, others @ ..] = rest {
        if row.kind as u8 == kind as u8 {
            return row.first;
        }
        rest = others;
    }
    0
}
