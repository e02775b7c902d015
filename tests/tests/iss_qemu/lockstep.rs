//! The ISS, following one step after QEMU.
//!
//! QEMU's rows arrive while it runs, and for each row the ISS executes as many instructions. Nothing is
//! kept, so a run may have any length.

use hartrace_etrace::ingress::{IType, Retired};
use hartrace_iss::{Exit, Hart, Step};

/// The machine timer interrupt.
const TIMER: u64 = 7;
const BREAKPOINT: u64 = 3;

/// What QEMU reports.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Told {
    /// Addresses, and causes of system calls: user mode.
    Addresses,
    /// Also causes and values of traps.
    Traps,
    /// Also the privilege of each instruction.
    TrapsAndPrivilege,
}

/// An ISS that has to execute the same as QEMU.
pub(crate) struct Lockstep {
    pub(crate) hart: Hart,
    told: Told,
    /// The program's entry, until it is reached: QEMU's reset code does not belong to the program.
    entry: Option<u64>,
    /// The itype of the previous row.
    before: IType,
    steps: Vec<Step>,
    exit: Option<Exit>,
    /// Address of the last instruction that was started.
    pub(crate) last: u64,
    /// Instructions that retired, as QEMU counts them: without `ecall` and `ebreak`.
    pub(crate) instructions: u64,
    /// QEMU's instructions before the entry.
    pub(crate) reset_code: u64,
    pub(crate) traps: u64,
}

impl Lockstep {
    pub(crate) fn new(hart: Hart, entry: u64, told: Told) -> Self {
        Self {
            hart,
            told,
            entry: Some(entry),
            before: IType::None,
            steps: Vec::new(),
            exit: None,
            last: entry,
            instructions: 0,
            reset_code: 0,
            traps: 0,
        }
    }

    /// Executes at most `limit` steps into `self.steps`.
    fn run(&mut self, limit: u64) -> Result<(), String> {
        self.steps.clear();
        if let Some(exit) = self.exit {
            return Err(format!("the ISS has ended with {exit:?}, QEMU goes on"));
        }
        let steps = &mut self.steps;
        let exit = self.hart.run(limit, &mut |step: &Step| steps.push(*step));
        self.exit = Some(exit).filter(|&exit| exit != Exit::Limit);
        match (self.steps.is_empty(), self.exit) {
            (true, Some(exit)) => Err(format!("the ISS ends with {exit:?}, QEMU goes on")),
            _ => Ok(()),
        }
    }

    /// Executes and compares the next row of QEMU.
    pub(crate) fn row(&mut self, row: &Retired) -> Result<(), String> {
        if self.entry.is_some_and(|entry| entry != row.iaddr) {
            // Four bytes each; see docs/design/iss.md.
            self.reset_code += u64::from(row.iretire / 2);
            return Ok(());
        }
        self.entry = None;
        self.compare(row).map_err(|what| {
            let recent: Vec<String> = self.steps.iter().map(|step| format!("{step:x?}")).collect();
            let at = self.instructions;
            format!("after {at} instructions: {what}\nQEMU {row:x?}\nISS {}", recent.join("\n    "))
        })
    }

    fn compare(&mut self, row: &Retired) -> Result<(), String> {
        let (mut pc, end) = (row.iaddr, row.next_address());
        let (mut last, mut size) = (pc, 0);
        while pc < end {
            // No instruction is longer than two half-words, so this never goes too far.
            self.run((end - pc).div_ceil(4))?;
            for step in &self.steps {
                if step.trap.is_some() || step.pc != pc {
                    return Err(format!("QEMU executes 0x{pc:x}, the ISS 0x{:x}", step.pc));
                }
                if self.told == Told::TrapsAndPrivilege && step.privilege != row.privilege {
                    return Err(format!("0x{pc:x} is executed in {} mode", step.privilege));
                }
                (last, size) = (pc, u64::from(step.size));
                pc += size;
                self.instructions += 1;
            }
        }
        if pc != end || size > 0 && (last, size) != (row.last_address(), row.last_bytes()) {
            return Err(format!("QEMU's block ends at 0x{end:x}, the ISS's at 0x{pc:x}"));
        }
        self.last = last;
        if row.itype.is_trap() {
            self.trap(row)?;
        }
        self.before = row.itype;
        Ok(())
    }

    fn trap(&mut self, row: &Retired) -> Result<(), String> {
        let interrupt = row.itype == IType::Interrupt;
        // QEMU decides when the timer interrupt occurs. The program causes all other interrupts.
        let timer = interrupt && row.cause == TIMER;
        if timer {
            self.hart.set_time(u64::MAX);
        }
        let ran = self.run(1);
        if timer {
            self.hart.set_time(0);
        }
        ran?;
        let Some(&Step { pc, privilege, trap: Some(trap), kind, .. }) = self.steps.first() else {
            return Err("QEMU takes a trap, the ISS does not".to_owned());
        };
        if (kind, pc, trap.cause) != (row.itype, row.next_address(), row.cause) {
            return Err("traps differ".to_owned());
        }
        // The address of a breakpoint is one of two values that the specification allows; QEMU reports
        // the other, which is 0.
        let zero = trap.cause == BREAKPOINT && !interrupt && row.tval == 0;
        if self.told >= Told::Traps && trap.tval != row.tval && !zero {
            return Err(format!("tval 0x{:x}, in QEMU 0x{:x}", trap.tval, row.tval));
        }
        // QEMU does not report the privilege after a trap return if nothing was executed there.
        let led = row.iretire == 0 && self.before == IType::TrapReturn;
        if self.told == Told::TrapsAndPrivilege && !led && privilege != row.privilege {
            return Err(format!("privilege {privilege}, in QEMU {}", row.privilege));
        }
        if !interrupt {
            self.last = pc;
        }
        self.traps += 1;
        Ok(())
    }

    /// Ends the comparison with QEMU. The ISS has ended as well, or ends without leaving the loop that
    /// waits for it.
    pub(crate) fn end(&mut self) -> Result<Exit, String> {
        let mut away = None;
        let near = self.last.wrapping_sub(8)..self.last.wrapping_add(8);
        let exit = match self.exit {
            Some(exit) => exit,
            None => self.hart.run(100, &mut |step: &Step| {
                if !near.contains(&step.pc) || step.trap.is_some() {
                    away = Some(*step);
                }
            }),
        };
        match away {
            Some(step) => {
                Err(format!("QEMU has ended at 0x{:x}, the ISS does {step:x?}", self.last))
            }
            None => Ok(exit),
        }
    }
}
