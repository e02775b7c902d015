//! The part of Linux that a static program needs to start, print and end.
//!
//! Files and standard input are given beforehand, and files can only be read. There are neither threads nor signals;
//! the time is that of the hart. All other system calls fail with `ENOSYS`, and are remembered.

use crate::abi::errno;
use crate::config::{Range, Xlen};
use crate::hart::Hart;
use crate::memory::PAGE;
use crate::privileged::{Level, status};
use crate::process::{HEAP, MAPPINGS, Process, STACK};
use crate::program::{LoadError, Program};
use crate::stop::Exit;

impl Hart {
    /// Prepares memory, stack and registers for a process that runs `program`.
    pub(crate) fn start_process(
        &mut self,
        program: &Program,
        arguments: &[String],
        variables: &[String],
    ) -> Result<(), LoadError> {
        let (start, end) = program.extent();
        if end >= MAPPINGS.base - HEAP {
            return Err(LoadError::OutsideMemory { address: end });
        }
        let brk = end.next_multiple_of(PAGE);
        self.memory.add(Range { base: start, size: brk + HEAP - start });
        self.memory.add(STACK);
        self.memory.add(MAPPINGS);
        self.process = Some(Process::new(brk));
        self.level = Level::U;
        // User programs may use floating point and read all counters.
        self.csr.mstatus |= status::FS;
        (self.csr.mcounteren, self.csr.scounteren) = (!0, !0);
        self.fill_stack(program, arguments, variables);
        Ok(())
    }

    /// Writes `argc`, `argv`, the environment and the auxiliary vector, with the data they point to
    /// above them.
    fn fill_stack(&mut self, program: &Program, arguments: &[String], variables: &[String]) {
        let mut top = STACK.base + STACK.size - 16;
        // Random bytes for the program, the same each time.
        self.memory.write(top, b"hartrace hartrac");
        let random = top;
        let mut push = |text: &String| {
            top -= text.len() as u64 + 1;
            self.memory.write(top, text.as_bytes());
            top
        };
        let arguments: Vec<u64> = arguments.iter().map(&mut push).collect();
        let variables: Vec<u64> = variables.iter().map(&mut push).collect();
        let capabilities = "ACDFIM".bytes().fold(0, |bits, letter| bits | 1 << (letter - b'A'));
        let auxiliary = [
            (3, program.headers),
            (4, program.header_size),
            (5, program.header_count),
            (6, PAGE),
            (7, 0),
            (8, 0),
            (9, program.entry),
            (11, 1000),
            (12, 1000),
            (13, 1000),
            (14, 1000),
            (16, capabilities),
            (17, 100),
            (23, 0),
            (25, random),
            (0, 0),
        ];
        let mut words = vec![arguments.len() as u64];
        words.extend(arguments.into_iter().chain([0]).chain(variables).chain([0]));
        words.extend(auxiliary.into_iter().flat_map(|(kind, value)| [kind, value]));
        let size = if self.xlen == Xlen::Rv32 { 4 } else { 8 };
        let bytes: Vec<u8> =
            words.iter().flat_map(|word| word.to_le_bytes().into_iter().take(size)).collect();
        let sp = (top - bytes.len() as u64) & !15;
        self.memory.write(sp, &bytes);
        self.set(2, sp);
    }

    /// Executes the system call in the registers. Returns `Some` if it ends the program.
    pub(crate) fn system_call(&mut self) -> Option<Exit> {
        let number = self.x[17];
        let [a0, a1, a2] = [10, 11, 12].map(|register| self.x[register] & self.mask);
        let result = match number {
            93 | 94 => return Some(Exit::Exited(a0 as i32)),
            // A signal to itself, unless it only tests whether the process exists.
            129 | 130 if a1 & 127 != 0 => return Some(killed(a1)),
            131 if a2 & 127 != 0 => return Some(killed(a2)),
            129..=131 => 0,
            29 => errno(25),
            48 => self.find_path(a1),
            56 => self.open_path(a1, a2),
            57 => self.close_descriptor(a0),
            62 if self.xlen == Xlen::Rv32 => self.seek_far(a0, (a1 << 32) | a2),
            62 => self.seek(a0, a1, a2),
            63 if matches!(a0, 1 | 2) => errno(9),
            63 => self.read_next(a0, a1, a2),
            64 => self.write_from_memory(a0, a1, a2),
            65 => self.each_of_vector(a1, a2, |hart, base, size| hart.read_next(a0, base, size)),
            66 => self
                .each_of_vector(a1, a2, |hart, base, size| hart.write_from_memory(a0, base, size)),
            67 if self.xlen == Xlen::Rv64 => self.read_at(a0, a1, a2, self.x[13]),
            78 => errno(2),
            79 => self.stat_path(a0, a1, a2),
            80 => self.stat_descriptor(a0, a1),
            // There is one thread: identifiers are 1, and no thread waits.
            96 | 172 | 178 => 1,
            98 | 99 | 134 | 135 | 215 | 226 | 233 => 0,
            113 | 403 => self.tell_time(a1, number == 403),
            160 => self.tell_name(a0),
            169 => self.tell_time_of_day(a0),
            173 => 0,
            174..=177 => 1000,
            214 => self.of_process(|process| process.move_break(a0)),
            222 => {
                let flags = self.x[13];
                self.of_process(|process| process.map_memory(a1, flags))
            }
            261 => errno(1),
            278 => {
                let bytes: Vec<u8> = (0..a1.min(256)).map(|at| (at * 73 + 41) as u8).collect();
                match self.give(a0, &bytes) {
                    0 => bytes.len() as u64,
                    error => error,
                }
            }
            _ => {
                self.host.unknown.insert(number);
                errno(38)
            }
        };
        self.set(10, self.extend(result));
        None
    }

    /// Passes a call to the process.
    fn of_process(&mut self, call: impl FnOnce(&mut Process) -> u64) -> u64 {
        self.process.as_mut().map_or(errno(38), call)
    }

    /// Copies `bytes` to the place that the program requests.
    fn give(&mut self, place: u64, bytes: &[u8]) -> u64 {
        if self.memory.write(place, bytes) { 0 } else { errno(14) }
    }

    /// Calls `part` for every piece of memory in a vector, until one is not used whole.
    fn each_of_vector(
        &mut self,
        vector: u64,
        count: u64,
        part: impl Fn(&mut Self, u64, u64) -> u64,
    ) -> u64 {
        let size: u64 = if self.xlen == Xlen::Rv32 { 4 } else { 8 };
        let mut total = 0;
        for index in 0..count.min(1024) {
            let at = vector.wrapping_add(index * 2 * size);
            let load = |at| match size {
                4 => self.memory.load::<4>(at),
                _ => self.memory.load::<8>(at),
            };
            let (Some(base), Some(length)) = (load(at), load(at.wrapping_add(size))) else {
                return errno(14);
            };
            let result = part(self, base, length);
            if (result as i64) < 0 {
                return if total > 0 { total } else { result };
            }
            total += result;
            if result < length {
                break;
            }
        }
        total
    }

    /// `llseek`, which passes the result through memory.
    fn seek_far(&mut self, descriptor: u64, offset: u64) -> u64 {
        let [place, whence] = [13, 14].map(|register| self.x[register] & self.mask);
        let result = self.seek(descriptor, offset, whence);
        if (result as i64) < 0 { result } else { self.give(place, &result.to_le_bytes()) }
    }

    /// Writes `struct timespec`, with a microsecond per tick.
    fn tell_time(&mut self, place: u64, wide: bool) -> u64 {
        self.look_at_clock();
        let (seconds, nanos) = (self.clint.time / 1_000_000, self.clint.time % 1_000_000 * 1000);
        self.give_pair(place, seconds, nanos, wide)
    }

    fn tell_time_of_day(&mut self, place: u64) -> u64 {
        self.look_at_clock();
        self.give_pair(place, self.clint.time / 1_000_000, self.clint.time % 1_000_000, false)
    }

    fn give_pair(&mut self, place: u64, first: u64, second: u64, wide: bool) -> u64 {
        let size = if self.xlen == Xlen::Rv32 && !wide { 4 } else { 8 };
        let bytes: Vec<u8> = [first, second]
            .into_iter()
            .flat_map(|word| word.to_le_bytes().into_iter().take(size))
            .collect();
        self.give(place, &bytes)
    }

    /// Writes `struct utsname`: six strings of 65 bytes.
    fn tell_name(&mut self, place: u64) -> u64 {
        let mut bytes = [0; 6 * 65];
        let machine: &[u8] = if self.xlen == Xlen::Rv32 { b"riscv32" } else { b"riscv64" };
        let texts: [&[u8]; 6] = [b"Linux", b"hartrace", b"6.1.0", b"#1", machine, b""];
        for (text, place) in texts.iter().zip(bytes.chunks_exact_mut(65)) {
            place[..text.len()].copy_from_slice(text);
        }
        self.give(place, &bytes)
    }
}

/// Exit of a program that a signal ends.
fn killed(signal: u64) -> Exit {
    Exit::Exited(128 + (signal & 127) as i32)
}
