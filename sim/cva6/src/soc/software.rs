//! The role of software: access to control registers over APB.

use crate::soc::SocError;
use hartrace_hdl_tools::verilate::{Input, Output, SimError, Simulation};

/// The largest number of cycles for a response, and of reads of a register before software gives
/// up.
const PATIENCE: u32 = 20_000;

/// Bytes of the registers of a hart, or of a sink.
const PAGE: u32 = 0x1000;

/// A bus.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apb {
    sel: Input,
    enable: Input,
    write: Input,
    address: Input,
    data: Input,
    strobe: Input,
    ready: Output,
    answer: Output,
    error: Output,
}

/// A simulation, and what goes on around it.
pub(crate) trait Clocked {
    /// The simulation with the registers.
    fn simulation(&mut self) -> &mut Simulation;

    /// Advances everything one clock cycle; outputs are those before its edge.
    fn tick(&mut self) -> Result<(), SimError>;
}

impl Apb {
    pub(crate) fn new(sim: &Simulation) -> Result<Self, SimError> {
        Ok(Self {
            sel: sim.input("psel_i")?,
            enable: sim.input("penable_i")?,
            write: sim.input("pwrite_i")?,
            address: sim.input("paddr_i")?,
            data: sim.input("pwdata_i")?,
            strobe: sim.input("pstrb_i")?,
            ready: sim.output("pready_o")?,
            answer: sim.output("prdata_o")?,
            error: sim.output("pslverr_o")?,
        })
    }

    /// The offset of the registers of a hart.
    pub(crate) fn page(hart: usize) -> u32 {
        PAGE * hart as u32
    }

    pub(crate) fn write(
        &self,
        on: &mut impl Clocked,
        address: u32,
        data: u32,
    ) -> Result<(), SocError> {
        self.access(on, address, Some(data)).map(drop)
    }

    /// Reads a register until a condition holds.
    pub(crate) fn wait(
        &self,
        on: &mut impl Clocked,
        address: u32,
        until: impl Fn(u32) -> bool,
    ) -> Result<(), SocError> {
        let mut word = 0;
        for _ in 0..PATIENCE {
            word = self.access(on, address, None)?;
            if until(word) {
                return Ok(());
            }
        }
        Err(SocError::Register { address, problem: format!("stays 0x{word:x}") })
    }

    fn access(
        &self,
        on: &mut impl Clocked,
        address: u32,
        write: Option<u32>,
    ) -> Result<u32, SocError> {
        let is_write = u64::from(write.is_some());
        let sim = on.simulation();
        sim.set(self.sel, 1);
        sim.set(self.enable, 0);
        sim.set(self.write, is_write);
        sim.set(self.address, address.into());
        sim.set(self.data, write.unwrap_or_default().into());
        sim.set(self.strobe, 0xf * is_write);
        on.tick()?;
        on.simulation().set(self.enable, 1);
        for _ in 0..PATIENCE {
            on.tick()?;
            let sim = on.simulation();
            if sim.get(self.ready) == 1 {
                sim.set(self.sel, 0);
                return match sim.get(self.error) {
                    0 => Ok(sim.get(self.answer) as u32),
                    _ => Err(SocError::Register { address, problem: "bus error".to_owned() }),
                };
            }
        }
        Err(SocError::Register { address, problem: "no answer".to_owned() })
    }
}
