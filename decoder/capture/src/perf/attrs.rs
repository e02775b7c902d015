//! The events that were recorded, and the identification at the end of every record of the kernel.

use super::Error;
use super::fields::Fields;
use std::collections::BTreeMap;

const TID: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const ID: u64 = 1 << 6;
const CPU: u64 = 1 << 7;
const STREAM_ID: u64 = 1 << 9;
const IDENTIFIER: u64 = 1 << 16;

/// The flag `sample_id_all`.
const SAMPLE_ID_ALL: u64 = 1 << 18;

/// Bytes of the fields of `perf_event_attr` that are read, which the first version had.
const READ: u64 = 48;

/// What was recorded of an event: the attribute of `perf_event_open`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Attr {
    sample_type: u64,
    sample_id_all: bool,
}

/// All events.
#[derive(Debug, Default)]
pub(super) struct Attrs {
    all: Vec<Attr>,
    /// The event of an identifier.
    by_id: BTreeMap<u64, usize>,
}

/// When, where and for whom the kernel wrote a record; what the recording does not say is `None`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SampleId {
    pub(super) pid: Option<u32>,
    pub(super) tid: Option<u32>,
    pub(super) time: Option<u64>,
    pub(super) cpu: Option<u32>,
}

impl Attrs {
    /// Adds an event. Its size is one of its fields; the rest of `fields` remains.
    pub(super) fn add<'a>(&mut self, mut fields: Fields<'a>) -> Result<Fields<'a>, Error> {
        let mut attr = fields;
        attr.take(4)?;
        let at = attr.at();
        let size = attr.u32()?;
        if u64::from(size) < READ {
            let what = "the size of an event attribute";
            return Err(Error::Value { byte: at, what, value: size.into() });
        }
        attr.take(16)?;
        let sample_type = attr.u64()?;
        attr.take(8)?;
        let sample_id_all = attr.u64()? & SAMPLE_ID_ALL != 0;
        self.all.push(Attr { sample_type, sample_id_all });
        fields.take(size as usize)?;
        Ok(fields)
    }

    /// Adds the identifiers of the last event. Bytes that are no whole identifier are ignored.
    pub(super) fn add_ids(&mut self, mut fields: Fields<'_>) {
        let Some(last) = self.all.len().checked_sub(1) else { return };
        while let Ok(id) = fields.u64() {
            self.by_id.insert(id, last);
        }
    }

    /// Splits a record of the kernel into its own fields and its identification.
    pub(super) fn split<'a>(&self, body: Fields<'a>) -> (Fields<'a>, SampleId) {
        let Some(attr) = self.of(body).filter(|attr| attr.sample_id_all) else {
            return (body, SampleId::default());
        };
        let has = |bit| attr.sample_type & bit != 0;
        let parts = [TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER];
        let count = parts.iter().filter(|bit| has(**bit)).count();
        let (own, end) = body.split_end(count.saturating_mul(8));
        // A record that is too short for it has none.
        (own, attr.sample_id(end).unwrap_or_default())
    }

    /// The event that a record belongs to. If events differ, all of them put their identifier last.
    fn of(&self, body: Fields<'_>) -> Option<Attr> {
        let first = *self.all.first()?;
        if self.all.iter().all(|other| *other == first) {
            return Some(first);
        }
        let id = body.split_end(8).1.u64().ok();
        let found = id.and_then(|id| self.all.get(*self.by_id.get(&id)?));
        Some(found.copied().unwrap_or(first))
    }
}

impl Attr {
    fn sample_id(&self, mut fields: Fields<'_>) -> Result<SampleId, Error> {
        let has = |bit| self.sample_type & bit != 0;
        let mut id = SampleId::default();
        if has(TID) {
            (id.pid, id.tid) = (Some(fields.u32()?), Some(fields.u32()?));
        }
        if has(TIME) {
            id.time = Some(fields.u64()?);
        }
        for bit in [ID, STREAM_ID] {
            if has(bit) {
                fields.u64()?;
            }
        }
        if has(CPU) {
            id.cpu = Some(fields.u32()?);
        }
        Ok(id)
    }
}
