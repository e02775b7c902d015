//! The host at `tohost` and `fromhost`: exit, console, and system calls through memory, as bare-metal
//! test programs and the proxy kernel use them.

use crate::abi::errno;
use crate::config::Xlen;
use crate::hart::Hart;
use crate::host::FIRST_FILE;
use crate::stop::Exit;

impl Hart {
    /// Handles the request of the program, if there is one.
    pub(crate) fn serve_host(&mut self) -> Option<Exit> {
        let (tohost, fromhost) = self.host.mailboxes?;
        self.host_halves = [false; 2];
        let command = self.memory.load::<8>(tohost)?;
        if command != 0 {
            self.memory.store::<8>(tohost, 0);
            let payload = command & 0xffff_ffff_ffff;
            match (command >> 56, command >> 48 & 0xff) {
                (0, 0) if payload & 1 == 1 => return Some(Exit::Exited((payload >> 1) as i32)),
                (0, 0) => {
                    if let Some(exit) = self.host_call(payload) {
                        return Some(exit);
                    }
                    self.host.replies.push_back(1);
                }
                (1, 1) => self.print(&[payload as u8]),
                // There is never any input; other devices do not exist.
                _ => {}
            }
        }
        if let Some(&reply) = self.host.replies.front()
            && self.memory.load::<8>(fromhost) == Some(0)
        {
            self.memory.store::<8>(fromhost, reply);
            self.host.replies.pop_front();
        }
        // Further replies wait until the program has accepted this one.
        if !self.host.replies.is_empty() {
            self.call_host();
        }
        None
    }

    /// Handles a store of `size` bytes to the mailboxes.
    pub(crate) fn store_to_host(&mut self, address: u64, size: u64) {
        self.call_host();
        let Some((tohost, _)) = self.host.mailboxes else { return };
        let offset = address.wrapping_sub(tohost);
        for (half, stored) in self.host_halves.iter_mut().enumerate() {
            let start = 4 * half as u64;
            *stored |= offset < start + 4 && start < offset.saturating_add(size);
        }
        // Both halves are there: no need to wait.
        if self.host_halves == [true; 2] {
            self.host_due = self.retired;
        }
    }

    /// Makes the host check its mailboxes. RV32 programs write `tohost` in two halves, in any
    /// order, so both are present only after some instructions.
    pub(crate) fn call_host(&mut self) {
        // Programs that end store in a loop, which must not postpone the answer.
        if !std::mem::replace(&mut self.host_called, true) {
            let patience = if self.xlen == Xlen::Rv32 { 16 } else { 0 };
            self.host_due = self.retired + patience;
        }
    }

    pub(crate) fn print(&mut self, bytes: &[u8]) {
        // The program cannot react to a console that was closed.
        let _ = self.console.write_all(bytes);
    }

    /// Executes a system call whose number and arguments are at `place`, where the result is stored
    /// too.
    fn host_call(&mut self, place: u64) -> Option<Exit> {
        let word = |index: u64| self.memory.load::<8>(place + 8 * index).unwrap_or(0);
        let [number, a0, a1, a2, a3] = std::array::from_fn(|index| word(index as u64));
        let result = match number {
            93 => return Some(Exit::Exited(a0 as i32)),
            56 => {
                let name = self.memory.read(a1, a2).unwrap_or_default();
                let name = name.split(|&byte| byte == 0).next().unwrap_or_default().to_vec();
                self.host.open(&name)
            }
            57 => self.close_descriptor(a0),
            62 => self.seek(a0, a1, a2),
            63 => self.read_next(a0, a1, a2),
            64 => self.write_from_memory(a0, a1, a2),
            67 => self.read_at(a0, a1, a2, a3),
            80 => self.stat_descriptor(a0, a1),
            2011 => self.main_variables(a0, a1),
            _ => {
                self.host.note_unknown(number);
                errno(38)
            }
        };
        self.memory.store::<8>(place, result);
        None
    }

    /// Prints memory. Returns the result of `write`.
    pub(crate) fn write_from_memory(&mut self, descriptor: u64, buffer: u64, size: u64) -> u64 {
        if !(1..FIRST_FILE).contains(&descriptor) {
            return errno(9);
        }
        let Some(bytes) = self.memory.read(buffer, size) else { return errno(14) };
        let bytes = bytes.to_vec();
        self.print(&bytes);
        size
    }

    /// Writes the arguments of the program in the form that the proxy kernel requests.
    fn main_variables(&mut self, buffer: u64, size: u64) -> u64 {
        let arguments = &self.host.arguments;
        let mut words = vec![arguments.len() as u64];
        let mut text = Vec::new();
        let table = (arguments.len() as u64 + 3) * 8;
        for argument in arguments {
            words.push(buffer.wrapping_add(table + text.len() as u64));
            text.extend(argument.bytes().chain([0]));
        }
        words.extend([0, 0]);
        let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).chain(text).collect();
        match bytes.len() as u64 {
            length if length > size => errno(12),
            _ if self.memory.write(buffer, &bytes) => 0,
            _ => errno(14),
        }
    }
}
