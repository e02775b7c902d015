//! Checksums of rows: what has changed since it was written is not read.

use super::rows::{Batch, Field, Kind};
use flate2::Crc;

/// Bytes that are added up at once.
const PIECE: usize = 1 << 16;

/// The CRC-32 of rows, in order, however they are divided into batches.
#[derive(Debug, Default)]
pub(super) struct RowSum {
    crc: Crc,
    rows: u64,
    piece: Vec<u8>,
}

impl RowSum {
    /// Adds rows of a table with these columns.
    pub(super) fn add(&mut self, fields: &[Field], batch: &Batch) {
        for row in 0..batch.len() {
            for (field, column) in fields.iter().zip(&batch.columns) {
                let value = column.get(row).copied().unwrap_or_default();
                match field.kind {
                    Kind::Text => {
                        let text = batch.texts.get(value as usize).map_or("", String::as_str);
                        self.piece.extend_from_slice(&(text.len() as u64).to_le_bytes());
                        self.piece.extend_from_slice(text.as_bytes());
                    }
                    _ => self.piece.extend_from_slice(&value.to_le_bytes()),
                }
            }
            if self.piece.len() >= PIECE {
                self.flush();
            }
        }
        self.flush();
        self.rows = self.rows.saturating_add(batch.len() as u64);
    }

    fn flush(&mut self) {
        self.crc.update(&self.piece);
        self.piece.clear();
    }

    /// The number of rows and their sum.
    pub(super) fn text(&self) -> String {
        format!("{} {:08x}", self.rows, self.crc.sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Emit;

    #[test]
    fn rows_do_not_depend_on_batches() {
        let fields = Emit::Gaps.fields(false);
        let batch = |rows: &[(u64, &str)]| {
            let mut batch = Batch::new(fields.len());
            for (byte, cause) in rows {
                let cause = batch.text((*cause).into());
                batch.push([0, Field::NO_SOURCE, *byte, 1, cause]);
            }
            batch
        };
        let sum = |batches: &[Batch]| {
            let mut sum = RowSum::default();
            batches.iter().for_each(|batch| sum.add(&fields, batch));
            sum.text()
        };
        let all = sum(&[batch(&[(7, "a"), (8, "bc")])]);
        assert_eq!(sum(&[batch(&[(7, "a")]), batch(&[(8, "bc")])]), all);
        for other in [&[(7, "a"), (8, "bd")][..], &[(8, "bc"), (7, "a")], &[(7, "a")], &[]] {
            assert_ne!(sum(&[batch(other)]), all, "{other:?}");
        }
    }
}
