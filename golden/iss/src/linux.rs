//! The part of Linux that a program needs to start, read, print and end.
//!
//! Files and standard input are given beforehand, and files can only be read; or they are those of this process, see
//! [`Hart::share`]. The time is that of the hart. All other system calls fail with `ENOSYS`, and
//! are counted. `thread_calls`, `signal_calls`, `mapping_calls` and `machine_calls` have those of threads, of signals, of memory and of the machine, `shared` those of shared files.

use crate::abi::errno;
use crate::config::{Range, Xlen};
use crate::hart::Hart;
use crate::mappings::{ARENA, Mappings};
use crate::memory::PAGE;
use crate::privileged::{Level, status};
use crate::process::{HEAP, Process, STACK};
use crate::program::{LoadError, Program};
use crate::signal_calls::{RETURN, TRAMPOLINE};
use crate::stop::Exit;

impl Hart {
    /// Prepares memory, stack and registers for a process that runs `program`, whose dynamic linker, if any, is at
    /// `linker` in `mappings`.
    pub(crate) fn start_process(
        &mut self,
        program: &Program,
        linker: Option<u64>,
        mappings: Mappings,
        arguments: &[String],
        variables: &[String],
    ) -> Result<(), LoadError> {
        let (start, end) = program.extent();
        if end >= ARENA.base - HEAP {
            return Err(LoadError::OutsideMemory { address: end });
        }
        let brk = end.next_multiple_of(PAGE);
        self.memory.add(Range { base: start, size: brk + HEAP - start });
        self.memory.add(STACK);
        self.memory.add(ARENA);
        self.memory.add(TRAMPOLINE);
        self.memory.write(TRAMPOLINE.base, &RETURN);
        self.process = Some(Process::new(brk, mappings));
        self.level = Level::U;
        // User programs may use floating point and read all counters.
        self.csr.mstatus |= status::FS;
        (self.csr.mcounteren, self.csr.scounteren) = (!0, !0);
        self.fill_stack(program, linker, arguments, variables);
        Ok(())
    }

    /// Writes `argc`, `argv`, the environment and the auxiliary vector, with the data they point to
    /// above them.
    fn fill_stack(
        &mut self,
        program: &Program,
        linker: Option<u64>,
        arguments: &[String],
        variables: &[String],
    ) {
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
            (7, linker.unwrap_or(0)),
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
        let mut result = self.thread_call(number);
        if result.is_none() {
            result = self.signal_call(number);
        }
        if result.is_none() {
            result = self.mapping_call(number).map(Ok);
        }
        if result.is_none() {
            result = self.machine_call(number).map(Ok);
        }
        #[cfg(unix)]
        if result.is_none() {
            result = self.shared_call(number);
        }
        match result.unwrap_or_else(|| self.other_call(number)) {
            Ok(result) => {
                self.set(10, self.extend(result));
                None
            }
            Err(exit) => Some(exit),
        }
    }

    /// Executes a system call that concerns neither threads nor mappings nor what is shared: its result, or how the program ends.
    fn other_call(&mut self, number: u64) -> Result<u64, Exit> {
        let [a0, a1, a2] = [10, 11, 12].map(|register| self.x[register] & self.mask);
        Ok(match number {
            94 => return Err(exited(a0)),
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
            78 => self.read_link(a1, a2, self.x[13] & self.mask),
            79 => self.stat_path(a0, a1, a2),
            80 => self.stat_descriptor(a0, a1),
            172 => 1,
            113 | 403 => self.tell_time(a1, number == 403),
            160 => self.tell_name(a0),
            169 => self.tell_time_of_day(a0),
            173 => 0,
            174..=177 => 1000,
            214 => self.of_process(|process| process.move_break(a0)),
            278 => {
                let bytes: Vec<u8> = (0..a1.min(256)).map(|at| (at * 73 + 41) as u8).collect();
                match self.give(a0, &bytes) {
                    0 => bytes.len() as u64,
                    error => error,
                }
            }
            _ => {
                self.host.note_unknown(number);
                errno(38)
            }
        })
    }

    /// Passes a call to the process.
    fn of_process(&mut self, call: impl FnOnce(&mut Process) -> u64) -> u64 {
        self.process.as_mut().map_or(errno(38), call)
    }

    /// Copies `bytes` to the place that the program requests.
    pub(crate) fn give(&mut self, place: u64, bytes: &[u8]) -> u64 {
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

/// Exit of a program with a status, of which a parent sees no more than 8 bits.
pub(crate) fn exited(status: u64) -> Exit {
    Exit::Exited((status & 0xff) as i32)
}
