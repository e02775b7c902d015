//! What is known of the machine: sections after the records, or records of a pipe.

use super::Error;
use super::fields::Fields;
use std::collections::BTreeMap;

/// Numbers of features that are read.
const BUILD_ID: u64 = 2;
const ARCH: u64 = 6;
const NRCPUS: u64 = 7;
const PMU_MAPPINGS: u64 = 16;

/// Flag of a build identifier: its size is in the byte after it.
const HAS_SIZE: u16 = 1 << 15;

#[derive(Debug, Default)]
pub(super) struct Features {
    pub(super) arch: Option<String>,
    pub(super) cpus: Option<u32>,
    /// Names of PMUs by type.
    pub(super) pmus: BTreeMap<u32, String>,
    /// Build identifiers of files, in hexadecimal digits.
    pub(super) build_ids: BTreeMap<String, String>,
}

impl Features {
    /// Reads a feature; those that are not needed are ignored.
    pub(super) fn add(&mut self, number: u64, mut fields: Fields<'_>) -> Result<(), Error> {
        match number {
            ARCH => self.arch = Some(fields.string()?),
            NRCPUS => self.cpus = Some(fields.u32()?),
            PMU_MAPPINGS => {
                for _ in 0..fields.u32()? {
                    let number = fields.u32()?;
                    self.pmus.insert(number, fields.string()?);
                }
            }
            BUILD_ID => {
                while !fields.is_empty() {
                    let at = fields.at();
                    fields.u32()?;
                    let (misc, size) = (fields.u16()?, fields.u16()?);
                    let Some(rest) = usize::from(size).checked_sub(8) else {
                        let what = "the size of a build identifier";
                        return Err(Error::Value { byte: at, what, value: size.into() });
                    };
                    let body = fields.take(rest)?;
                    let what = "a build identifier";
                    self.add_build_id(misc, Fields::new(body, at.saturating_add(8), what))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads a record with the build identifier of a file.
    pub(super) fn add_build_id(&mut self, misc: u16, mut body: Fields<'_>) -> Result<(), Error> {
        body.u32()?;
        let id = body.take(20)?;
        let size = usize::from(body.u8()?);
        body.take(3)?;
        // Without a size, those of 16 bytes are padded with zeros.
        let padded = id.ends_with(&[0; 4]);
        let size = if misc & HAS_SIZE != 0 {
            size
        } else if padded {
            16
        } else {
            20
        };
        self.build_ids.insert(body.text(), hex(id.get(..size).unwrap_or(id)));
        Ok(())
    }
}

/// Hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
