//! The register bus, as software uses it.

use hartrace_encoder_hdl::registers::Table;
use hartrace_hdl_tools::verilate::{Input, Output, SimError, Simulation};
use std::collections::BTreeMap;

/// APB4 to the registers of some tables.
#[derive(Debug)]
pub(in crate::decoder) struct Bus {
    select: Input,
    enable: Input,
    write: Input,
    address: Input,
    data: Input,
    strobe: Input,
    read: Output,
    offsets: BTreeMap<String, u32>,
}

impl Bus {
    /// Each table is at an address; names are different in all of them.
    pub(in crate::decoder) fn new(
        sim: &Simulation,
        tables: &[(u32, &Table)],
    ) -> Result<Self, SimError> {
        let offsets = tables.iter().flat_map(|(at, table)| {
            table.registers.iter().map(move |of| (of.name(), at + of.offset))
        });
        Ok(Self {
            select: sim.input("psel_i")?,
            enable: sim.input("penable_i")?,
            write: sim.input("pwrite_i")?,
            address: sim.input("paddr_i")?,
            data: sim.input("pwdata_i")?,
            strobe: sim.input("pstrb_i")?,
            read: sim.output("prdata_o")?,
            offsets: offsets.collect(),
        })
    }

    /// An access; registers that the table does not have read as 0.
    fn access(&self, sim: &mut Simulation, name: &str, data: Option<u32>) -> Result<u32, SimError> {
        let Some(offset) = self.offsets.get(name) else { return Ok(0) };
        sim.set(self.select, 1);
        sim.set(self.enable, 0);
        sim.set(self.write, data.is_some().into());
        sim.set(self.address, u64::from(*offset));
        sim.set(self.data, data.unwrap_or(0).into());
        sim.set(self.strobe, 0xf);
        sim.clock()?;
        sim.set(self.enable, 1);
        sim.settle()?;
        let read = sim.get(self.read) as u32;
        sim.clock()?;
        sim.set(self.select, 0);
        sim.set(self.enable, 0);
        // What is read may depend on what was written.
        sim.clock()?;
        Ok(read)
    }

    pub(in crate::decoder) fn read(
        &self,
        sim: &mut Simulation,
        name: &str,
    ) -> Result<u32, SimError> {
        self.access(sim, name, None)
    }

    pub(in crate::decoder) fn write(
        &self,
        sim: &mut Simulation,
        name: &str,
        data: u32,
    ) -> Result<(), SimError> {
        self.access(sim, name, Some(data)).map(|_| ())
    }
}
