//! System calls that ask for limits and the machine, and those that change what does not exist here: priorities, for instance.

use crate::abi::errno;
use crate::config::Xlen;
use crate::hart::Hart;
use crate::process::STACK;

/// Memory of the machine, as programs see it: the same on every machine that we run on.
const MEMORY: u64 = 4 << 30;

const UNLIMITED: u64 = u64::MAX;

/// Resources with limits.
mod resource {
    pub(super) const STACK: u64 = 3;
    pub(super) const FILES: u64 = 7;
    pub(super) const COUNT: u64 = 16;
}

/// Commands of `membarrier`: there is one processor, on which memory is always in order.
mod barrier {
    pub(super) const QUERY: u64 = 0;
    pub(super) const SUPPORTED: u64 = 0b111_1111;
}

/// Options of `prctl`.
mod option {
    pub(super) const SET_NAME: u64 = 15;
    pub(super) const GET_NAME: u64 = 16;
}

const EINVAL: i64 = 22;

impl Hart {
    /// Executes a system call on the machine. `None` if it is another one.
    pub(crate) fn machine_call(&mut self, number: u64) -> Option<u64> {
        self.process.as_ref()?;
        let [a0, a1, _, a3] = self.arguments();
        let word = if self.xlen == Xlen::Rv64 { 8 } else { 4 };
        Some(match number {
            // Affinity, scheduling, priorities, locks on memory, groups of processes: as Linux has them, to no effect.
            118 | 119 | 122 | 140 | 154 | 227..=231 => 0,
            120 | 125 | 126 => 0,
            121 => self.give(a1, &0_u32.to_le_bytes()),
            // 20 less the priority.
            141 => 20,
            155..=157 => 1,
            114 => self.give(a1, &words(word, &[0, 1000])),
            406 => self.give(a1, &words(8, &[0, 1000])),
            153 => {
                self.look_at_clock();
                // In hundredths of a second.
                let ticks = self.clint.time / 10_000;
                match a0 {
                    0 => ticks,
                    place => match self.give(place, &words(word, &[ticks, 0, 0, 0])) {
                        0 => ticks,
                        error => error,
                    },
                }
            }
            165 => {
                self.look_at_clock();
                let (seconds, micros) = (self.clint.time / 1_000_000, self.clint.time % 1_000_000);
                let mut usage = vec![seconds, micros];
                usage.resize(18, 0);
                self.give(a1, &words(word, &usage))
            }
            167 => match a0 {
                option::SET_NAME => 0,
                option::GET_NAME => self.give(a1, b"program\0\0\0\0\0\0\0\0\0"),
                _ => {
                    self.host.note_unknown(number);
                    errno(EINVAL)
                }
            },
            168 => {
                let places = [a0, a1].into_iter().filter(|place| *place != 0);
                let places: Vec<u64> = places.collect();
                places.into_iter().map(|place| self.give(place, &[0; 4])).max().unwrap_or(0)
            }
            179 => {
                self.look_at_clock();
                let unit = if self.xlen == Xlen::Rv64 { 1 } else { 4096 };
                let (seconds, memory) = (self.clint.time / 1_000_000, MEMORY / unit);
                let mut info = words(word, &[seconds, 0, 0, 0, memory, memory / 2, 0, 0, 0, 0]);
                // One process; then a gap, high memory, and what memory is counted in.
                info.extend(words(word, &[1, 0, 0]));
                info.extend((unit as u32).to_le_bytes());
                info.resize(info.len().next_multiple_of(word), 0);
                self.give(a0, &info)
            }
            258 => self.probe(a0, a1),
            // Code that was stored is always executed.
            259 => 0,
            261 if a1 >= resource::COUNT => errno(EINVAL),
            261 => {
                // A limit that is set has no effect.
                let limits = match a1 {
                    resource::STACK => [STACK.size, UNLIMITED],
                    resource::FILES => [1024, 4096],
                    _ => [UNLIMITED; 2],
                };
                if a3 == 0 { 0 } else { self.give(a3, &words(8, &limits)) }
            }
            283 => match a0 {
                barrier::QUERY => barrier::SUPPORTED,
                command if command.is_power_of_two() && command & barrier::SUPPORTED != 0 => 0,
                _ => errno(EINVAL),
            },
            _ => return None,
        })
    }

    /// `riscv_hwprobe`: no key is known.
    fn probe(&mut self, pairs: u64, count: u64) -> u64 {
        for pair in 0..count.min(1024) {
            let unknown = words(8, &[u64::MAX, 0]);
            let error = self.give(pairs.wrapping_add(16 * pair) & self.mask, &unknown);
            if error != 0 {
                return error;
            }
        }
        0
    }
}

/// Words of a number of bytes.
fn words(size: usize, values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes().into_iter().take(size)).collect()
}
