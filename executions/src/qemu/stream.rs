//! The words that the plugin sends.

use crate::qemu::stop::Stop;
use crate::qemu::{Exit, QemuError};
use hartrace_iss::Mapping;

// The same values as in plugin.c.
const BLOCK: u32 = -1i32 as u32;
const LOG: u32 = -2i32 as u32;
const LEFT: u32 = -3i32 as u32;
const THREAD: u32 = -4i32 as u32;
const YIELD: u32 = -5i32 as u32;
const MAPPED: u32 = -6i32 as u32;

/// The longest path of a file.
const PATH: u32 = 1 << 12;

/// Blocks of QEMU have at most 512 instructions; anything much larger is not a block.
const LONGEST: u32 = 1 << 16;

/// The receiver of the stream.
pub(crate) trait Blocks {
    /// A new block, with the words of its instructions and which of them are counted.
    fn translated(&mut self, start: u64, words: &[u32], counters: &[u32]);

    /// A line of the log.
    fn logged(&mut self, line: &str) -> Result<(), Stop>;

    /// The current block ends with the instruction that has counter `passed`.
    fn left(&mut self, passed: u32);

    /// The next block starts.
    fn executed(&mut self, next: usize) -> Result<(), Stop>;

    /// Another thread continues.
    fn thread(&mut self, number: u64) -> Result<(), Stop>;

    /// The thread continues with a block, after others.
    fn yields(&mut self, next: usize) -> Result<(), Stop>;

    /// Code of a file was mapped.
    fn mapped(&mut self, mapping: Mapping);

    /// Nothing more is executed.
    fn end(&mut self) -> Result<(), Stop>;

    /// Where execution started, if it did.
    fn first_address(&self) -> Option<u64>;

    /// Start of the block that was translated last.
    fn newest(&self) -> u64;

    /// The figures of the run, if this is its end.
    fn exit(&self, code: Option<i32>) -> Exit;
}

/// Parses the stream.
#[derive(Debug)]
pub(crate) struct Stream<F> {
    pub(crate) follow: F,
    /// A record that is not complete yet.
    rest: Vec<u32>,
    /// Number of words before `rest`.
    at: u64,
    /// A line of the log that is not complete yet.
    line: Vec<u8>,
}

impl<F: Blocks> Stream<F> {
    pub(crate) fn new(follow: F) -> Self {
        Self { follow, rest: Vec::new(), at: 0, line: Vec::new() }
    }

    /// Adds more words.
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

    /// Processes all complete records, and returns their length.
    fn records(&mut self, words: &[u32]) -> Result<usize, Stop> {
        let mut used = 0;
        while let Some(&word) = words.get(used) {
            if word < MAPPED {
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

    /// Processes the record at the start of `words`; returns 0 if it is not complete.
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
                    self.follow.logged(&String::from_utf8_lossy(&self.line))?;
                    self.line.clear();
                }
                Ok(2 + count)
            }
            [LEFT, passed, ..] => {
                self.follow.left(passed);
                Ok(2)
            }
            [THREAD, number, ..] => {
                self.follow.thread(number.into())?;
                Ok(2)
            }
            [YIELD, next, ..] => {
                self.follow.yields(next as usize)?;
                Ok(2)
            }
            [MAPPED, a, b, c, d, e, f, length, ref rest @ ..] => {
                if length > PATH {
                    return Err(Stop::report(format!("a path of {length} bytes")));
                }
                let Some(text) = rest.get(..length.div_ceil(4) as usize) else {
                    return Ok(0);
                };
                let bytes = text.iter().flat_map(|word| word.to_ne_bytes());
                let path: Vec<u8> = bytes.take(length as usize).collect();
                let wide = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
                let file = String::from_utf8_lossy(&path).into_owned();
                let (address, size, offset) = (wide(a, b), wide(c, d), wide(e, f));
                self.follow.mapped(Mapping { file, address, size, offset });
                Ok(8 + text.len())
            }
            _ => Ok(0),
        }
    }

    /// Ends the stream with the program. A truncated record describes what was not executed any
    /// more.
    pub(crate) fn end(&mut self) -> Result<(), Stop> {
        self.follow.end().map_err(|stop| self.place(stop, 0))
    }

    /// Adds the position in the stream.
    fn place(&self, mut stop: Stop, used: usize) -> Stop {
        if let Stop::Error(error) = &mut stop
            && let QemuError::Report { at, .. } = error.as_mut()
        {
            *at = self.at + used as u64;
        }
        stop
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qemu::Mode;
    use crate::qemu::block_rows::BlockRows;
    use hartrace_etrace::ingress::{CType, IType, Privilege, Retired};
    use hartrace_isa::{Isa, Xlen};
    use std::ops::ControlFlow;

    /// Feeds words in pieces of this size.
    fn rows(words: &[u32], mode: Mode, piece: usize) -> Result<Vec<Retired>, Stop> {
        let mut rows = Vec::new();
        let sink = |row: &Retired| {
            rows.push(*row);
            ControlFlow::Continue(())
        };
        let mut stream =
            Stream::new(BlockRows::new(mode, Isa::new(Xlen::Rv64), None, |_| {}, sink));
        for words in words.chunks(piece) {
            stream.feed(words)?;
        }
        stream.end()?;
        drop(stream);
        Ok(rows)
    }

    fn log(text: &str) -> Vec<u32> {
        let mut words = vec![LOG, text.len() as u32];
        words.extend(text.as_bytes().chunks(4).map(|chunk| {
            let mut bytes = [0; 4];
            bytes[..chunk.len()].copy_from_slice(chunk);
            u32::from_ne_bytes(bytes)
        }));
        words
    }

    /// Block 0: lw, lw, addi, c.j to itself; both loads and the addi are counted. Block 1: ret.
    fn start() -> Vec<u32> {
        let mut words = vec![BLOCK, 0x1000, 0, 4, 0x0000_2583, 0x0000_2603, 0x0015_8593, 0xbfd5];
        words.extend([0b0111, BLOCK, 0x2000, 0, 1, 0x8082, 0]);
        words
    }

    #[test]
    fn left_at_the_second_load() {
        let mut words = start();
        words.extend([0, 0, LEFT, 2, 1]);
        for piece in 1..words.len() {
            let rows = rows(&words, Mode::User, piece).unwrap();
            let found: Vec<_> = rows.iter().map(|r| (r.iaddr, r.iretire, r.itype)).collect();
            let whole = (0x1000, 7, IType::InferableTailCall);
            let part = (0x1000, 2, IType::Exception);
            assert_eq!(found, [whole, part, (0x2000, 1, IType::Return)]);
            assert_eq!(rows[1].cause, 13);
        }
    }

    /// A thread that others come before is interrupted where it goes on; one in a system call has its trap already.
    #[test]
    fn threads_in_turn() {
        let mut words = start();
        words.extend([BLOCK, 0x3000, 0, 1, 0x0000_0073, 1]); // ecall
        words.extend([0, YIELD, 0, THREAD, 1, 2, THREAD, 0, 0, LEFT, 2, 1, THREAD, 1, 1]);
        for piece in 1..words.len() {
            let rows = rows(&words, Mode::User, piece).unwrap();
            let found: Vec<_> =
                rows.iter().map(|r| (r.iaddr, r.iretire, r.itype, r.context)).collect();
            let expected = [
                (0x1000, 7, IType::InferableTailCall, 0),
                (0x1000, 0, IType::Interrupt, 0),
                (0x3000, 0, IType::Exception, 1),
                (0x1000, 2, IType::Exception, 0),
                (0x2000, 1, IType::Return, 0),
                (0x2002, 0, IType::Interrupt, 0),
                (0x2000, 1, IType::Return, 1),
            ];
            assert_eq!(found, expected);
            let changes: Vec<_> = rows.iter().map(|r| r.ctype == CType::Precise).collect();
            assert_eq!(changes, [false, false, true, true, false, false, true]);
        }
    }

    #[test]
    fn the_log_decides() {
        let trap = "riscv_cpu_do_interrupt: hart:0, async:1, cause:7, epc:0x1000, tval:0x0, x\n";
        let mut words = start();
        words.extend(log("IN: \nPriv: 0; Virt: 0\nIN: \nPriv: 1; Virt: 0\n"));
        words.push(0);
        words.extend(log(trap));
        words.push(1);
        let rows = rows(&words, Mode::System, 3).unwrap();
        let found: Vec<_> = rows.iter().map(|r| (r.iaddr, r.itype, r.privilege)).collect();
        let block = (0x1000, IType::InferableTailCall, Privilege::U);
        let interrupt = (0x1000, IType::Interrupt, Privilege::U);
        assert_eq!(found, [block, interrupt, (0x2000, IType::Return, Privilege::S)]);
    }

    #[test]
    fn contradictions_are_errors() {
        let with = |more: &[u32]| rows(&[&start()[..], more].concat(), Mode::System, 100);
        assert!(with(&[0, 7]).is_err()); // no such block
        assert!(with(&[0, LEFT, 4, 1]).is_err()); // no such counter
        assert!(with(&[0, 0, 1]).is_err()); // a jump to another place, and no trap
        assert!(with(&[BLOCK, 0, 0, 0]).is_err()); // an empty block
        assert!(with(&[LOG, u32::MAX, 0]).is_ok()); // cut short
        assert!(with(&[MAPPED, 0, 0, 0, 0, 0, 0, u32::MAX]).is_err()); // no path is so long
        assert!(with(&[0, YIELD, 9]).is_err()); // no such block
    }
}
