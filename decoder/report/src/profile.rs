//! Profiles that hardware counted.

use hartrace_decoder::block_table::Ends;
use hartrace_decoder::{Edge, Edges, Leaves};
use thiserror::Error;

/// Bytes of a record.
const RECORD: usize = 24;

/// A dump of a profile cannot be read.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// It ends within a record: it is cut off, or it is not a profile.
    #[error("a profile has records of 24 bytes, but the last one has {0}")]
    Incomplete(usize),
    /// There is no such kind of instruction: it is not a profile.
    #[error("byte {index}: {kind} is not a kind of branch or jump (1 to 6)")]
    Kind {
        /// Where it is.
        index: usize,
        /// The kind.
        kind: u8,
    },
}

/// Reads a dump of the edge profile of a hardware decoder: the records that it spilled to memory, and its entries as
/// they were read over the bus, in any order. The result is printed by [`Tables`](crate::tables::Tables), as that of `decode --emit
/// edges`.
///
/// A record has the address of the branch or jump, where it went, how often (seven bytes) and the kind of the
/// instruction, each with the lowest byte first. A record with a count of 0 is an empty entry.
///
/// # Errors
///
/// If it is not a profile.
pub fn read_profile(dump: &[u8]) -> Result<Edges, ProfileError> {
    let (records, rest) = dump.as_chunks::<RECORD>();
    if !rest.is_empty() {
        return Err(ProfileError::Incomplete(rest.len()));
    }
    let mut edges = Edges::default();
    for (record, bytes) in records.iter().enumerate() {
        let (words, _) = bytes.as_chunks::<8>();
        let &[from, to, counted] = words else { continue };
        let [from, to, counted] = [from, to, counted].map(u64::from_le_bytes);
        let (times, kind) = (counted & (u64::MAX >> 8), (counted >> 56) as u8);
        if times > 0 {
            let index = record.saturating_mul(RECORD).saturating_add(RECORD - 1);
            let leaves = leaves(kind).ok_or(ProfileError::Kind { index, kind })?;
            edges.count(Edge { from, to, kind: leaves }, times);
        }
    }
    Ok(edges)
}

/// What an instruction is to software, from what it is to hardware.
fn leaves(kind: u8) -> Option<Leaves> {
    match Ends::ALL.get(usize::from(kind))? {
        Ends::Branch => Some(Leaves::Branch),
        Ends::Jump | Ends::Call => Some(Leaves::Jump),
        Ends::Indirect | Ends::IndirectCall | Ends::Return => Some(Leaves::Indirect),
        Ends::Next | Ends::NoCode => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(from: u64, to: u64, count: u64, kind: u8) -> [u8; RECORD] {
        let words = [from, to, count | u64::from(kind) << 56].map(u64::to_le_bytes);
        std::array::from_fn(|i| words[i / 8][i % 8])
    }

    #[test]
    fn spilled_records_and_entries_are_summed_up() {
        let mut dump = Vec::new();
        for (from, to, count, kind) in
            [(4, 8, 15, 1), (4, 0x100, 3, 1), (4, 8, 2, 1), (0, 0, 0, 0), (8, 4, 7, 6)]
        {
            dump.extend(record(from, to, count, kind));
        }
        let edge = |from, to, kind| Edge { from, to, kind };
        let edges = read_profile(&dump).map(Edges::sorted);
        let wanted = vec![
            (edge(4, 8, Leaves::Branch), 17),
            (edge(4, 0x100, Leaves::Branch), 3),
            (edge(8, 4, Leaves::Indirect), 7),
        ];
        assert_eq!(edges, Ok(wanted));
        // A table joins parts.
        let mut all = Edges::default();
        all.merge(read_profile(&dump).unwrap());
        assert_eq!(all.sorted().len(), 3);
    }

    #[test]
    fn something_else_is_refused() {
        let dump = [record(4, 8, 1, 1), record(4, 8, 1, 7)].concat();
        let error = read_profile(&dump).map(Edges::sorted).unwrap_err();
        assert_eq!(error.to_string(), "byte 47: 7 is not a kind of branch or jump (1 to 6)");
        let error = read_profile(&dump[..30]).map(Edges::sorted).unwrap_err();
        assert_eq!(error, ProfileError::Incomplete(6));
    }
}
