//! Finding a frame in a stream that is damaged or was entered in the middle.

use crate::{Framing, LENGTH, esp32, reference, rv_tracer, smi};

/// Looks for the start of a frame, byte by byte.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Hunt {
    /// Number of bytes with `length` 0 directly before this one.
    run: usize,
}

impl Hunt {
    /// Whether a frame starts with the next byte, `byte`, at position `at` of the stream.
    pub(crate) fn found(&mut self, framing: Framing, byte: u8, at: u64) -> bool {
        match framing {
            Framing::Encap(params) => self.after_nulls(byte, params.null_run()),
            Framing::Atb(params) => self.after_nulls(byte, params.null_run()),
            Framing::RvTracer => at.is_multiple_of(rv_tracer::RECORD as u64),
            Framing::Reference => reference::is_header(byte),
            Framing::Smi(_) => smi::is_header(byte),
            Framing::Esp32 => esp32::is_header(byte),
        }
    }

    /// Whether `byte` is the first non-null byte after at least `least` null bytes.
    fn after_nulls(&mut self, byte: u8, least: usize) -> bool {
        if byte & LENGTH == 0 {
            self.run = self.run.saturating_add(1);
            return false;
        }
        core::mem::take(&mut self.run) >= least
    }

    /// Whether the bytes end in a run of nulls that no frame contains: reading can continue there.
    fn found_at_end(&self, framing: Framing) -> bool {
        match framing {
            Framing::Encap(params) => self.run >= params.null_run(),
            Framing::Atb(params) => self.run >= params.null_run(),
            _ => false,
        }
    }
}

impl Framing {
    /// Returns how many of `bytes` to drop to reach the start of a frame; `None` if none is found.
    ///
    /// `at` is the position of `bytes` in the stream; only rv_tracer's records need it.
    ///
    /// | framing | a frame starts |
    /// |---|---|
    /// | `Encap`, `Atb` | after at least N + 1 bytes with `length` 0, where N is the longest that can follow a header: certain |
    /// | `RvTracer` | at multiples of 40: certain if the stream started at a record |
    /// | `Reference`, `Smi`, `Esp32` | where a byte could be the header of one: a guess, since payload bytes may look the same |
    ///
    /// Spec: RISC-V Trace Encapsulation 1.0, null packets.
    pub fn sync_forward(&self, bytes: &[u8], at: u64) -> Option<usize> {
        let mut hunt = Hunt::default();
        for (index, byte) in bytes.iter().enumerate() {
            if hunt.found(*self, *byte, at.saturating_add(index as u64)) {
                return Some(index);
            }
        }
        hunt.found_at_end(*self).then_some(bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AtbParams, EncapParams, SmiParams};
    use std::vec;

    #[test]
    fn a_run_that_fits_in_a_frame_is_no_sync() {
        let framings = [
            (Framing::Encap(EncapParams::new(12, 4, 2).unwrap()), 31 + 4 + 1),
            (Framing::Encap(EncapParams::new(0, 0, 0).unwrap()), 31),
            (Framing::Atb(AtbParams::new(1, 8).unwrap()), 31 + 8),
        ];
        for (framing, longest) in framings {
            let mut bytes = vec![0x03, 0xff];
            bytes.resize(2 + longest, 0x60);
            bytes.push(0x01);
            assert_eq!(framing.sync_forward(&bytes, 0), None);
            // With one more, the run cannot lie within a frame.
            bytes.insert(2, 0x80);
            assert_eq!(framing.sync_forward(&bytes, 0), Some(bytes.len() - 1));
            bytes.pop();
            assert_eq!(framing.sync_forward(&bytes, 0), Some(bytes.len()));
        }
    }

    #[test]
    fn scattered_nulls_are_no_run() {
        let framing = Framing::Encap(EncapParams::new(0, 0, 0).unwrap());
        assert_eq!(framing.sync_forward(&[0x00, 0x00, 0x01].repeat(40), 0), None);
    }

    #[test]
    fn records_are_found_by_position() {
        let sync = |at| Framing::RvTracer.sync_forward(&[0; 50], at);
        assert_eq!(sync(0), Some(0));
        assert_eq!(sync(1), Some(39));
        assert_eq!(sync(40), Some(0));
        assert_eq!(Framing::RvTracer.sync_forward(&[0; 10], 1), None);
        assert_eq!(Framing::RvTracer.sync_forward(&[0; 10], u64::MAX), None);
    }

    #[test]
    fn headers_are_guessed() {
        let bytes = [0xff, 0x40, 0x83, 0x42, 0x1f, 0x04];
        assert_eq!(Framing::Reference.sync_forward(&bytes, 0), Some(3));
        assert_eq!(Framing::Esp32.sync_forward(&bytes, 0), Some(4));
        let smi = Framing::Smi(SmiParams::new(0).unwrap());
        assert_eq!(smi.sync_forward(&bytes[1..], 0), Some(2));
    }
}
