//! The words that the plugin sends.

use crate::QemuError;
use crate::follow::{Follow, Stop};
use crate::log;
use hartrace_ingress::Retired;
use std::ops::ControlFlow;

// As in plugin.c.
const BLOCK: u32 = -1i32 as u32;
const LOG: u32 = -2i32 as u32;
const LEFT: u32 = -3i32 as u32;
const ENDLESS: u32 = -4i32 as u32;
const FILLER: u32 = -5i32 as u32;

/// Blocks of QEMU have at most 512 instructions; more is not a block.
const LONGEST: u32 = 1 << 16;

/// Takes the stream apart.
#[derive(Debug)]
pub(crate) struct Stream<S> {
    pub(crate) follow: Follow<S>,
    /// A record that is not complete yet.
    rest: Vec<u32>,
    /// Words before `rest`.
    at: u64,
    /// A line of the log that is not complete yet.
    line: Vec<u8>,
}

impl<S: FnMut(&Retired) -> ControlFlow<()>> Stream<S> {
    pub(crate) fn new(follow: Follow<S>) -> Self {
        Self { follow, rest: Vec::new(), at: 0, line: Vec::new() }
    }

    /// Takes more words.
    pub(crate) fn feed(&mut self, words: &[u32]) -> Result<(), Stop> {
        if self.rest.is_empty() {
            let used = self.records(words)?;
            self.rest.extend_from_slice(&words[used..]);
        } else {
            let mut all = std::mem::take(&mut self.rest);
            all.extend_from_slice(words);
            let used = self.records(&all)?;
            all.drain(..used);
            self.rest = all;
        }
        Ok(())
    }

    /// Takes all complete records, and returns their length.
    fn records(&mut self, words: &[u32]) -> Result<usize, Stop> {
        let mut used = 0;
        while let Some(&word) = words.get(used) {
            if word < FILLER {
                self.follow.executed(word as usize).map_err(|stop| self.place(stop, used))?;
                used += 1;
                continue;
            }
            match self.record(&words[used..]).map_err(|stop| self.place(stop, used))? {
                0 => break,
                length => used += length,
            }
        }
        self.at += used as u64;
        Ok(used)
    }

    /// Takes the record at the start of `words`; 0 if it is not complete.
    fn record(&mut self, words: &[u32]) -> Result<usize, Stop> {
        match *words {
            [BLOCK, low, high, count, ref rest @ ..] => {
                if count == 0 || count > LONGEST {
                    return Err(Stop::report(format!("a block of {count} instructions")));
                }
                let (code, bits) = (count as usize, count.div_ceil(32) as usize);
                if rest.len() < code + bits {
                    return Ok(0);
                }
                let start = u64::from(high) << 32 | u64::from(low);
                self.follow.translated(start, &rest[..code], &rest[code..code + bits]);
                Ok(4 + code + bits)
            }
            [LOG, length, ref rest @ ..] => {
                let count = length.div_ceil(4) as usize;
                let Some(text) = rest.get(..count) else {
                    return Ok(0);
                };
                let bytes = text.iter().flat_map(|word| word.to_ne_bytes());
                for byte in bytes.take(length as usize) {
                    if byte != b'\n' {
                        self.line.push(byte);
                        continue;
                    }
                    if let Some(line) = log::line(&String::from_utf8_lossy(&self.line)) {
                        self.follow.logged(line)?;
                    }
                    self.line.clear();
                }
                Ok(2 + count)
            }
            [LEFT, passed, ..] => {
                self.follow.left(passed);
                Ok(2)
            }
            [ENDLESS, ..] => Err(Stop::error(QemuError::Endless { address: self.follow.newest() })),
            [FILLER, ..] => Ok(1),
            _ => Ok(0),
        }
    }

    /// The program ended. A record that was cut short describes what was not executed any more.
    pub(crate) fn end(&mut self) -> Result<(), Stop> {
        self.follow.end().map_err(|stop| self.place(stop, 0))
    }

    /// Says where in the stream it happened.
    fn place(&self, mut stop: Stop, used: usize) -> Stop {
        if let Stop::Error(error) = &mut stop
            && let QemuError::Report { at, .. } = error.as_mut()
        {
            *at = self.at + used as u64;
        }
        stop
    }
}
