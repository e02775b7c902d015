//! The ports of a hart, and those of memory, in a model.

use crate::axi::{Address, Offers, Requests};
use crate::bus::Lines;
use hartrace_hdl_tools::verilate::{Input, Output, SimError, Simulation};

/// The `BURST` code of AXI for wrapping.
const WRAP: u64 = 2;

#[derive(Debug)]
struct AddressPorts {
    valid: Output,
    id: Output,
    address: Output,
    len: Output,
    size: Output,
    burst: Output,
    lock: Output,
    atop: Option<Output>,
}

impl AddressPorts {
    fn new(
        output: &dyn Fn(&str) -> Result<Output, SimError>,
        channel: &str,
    ) -> Result<Self, SimError> {
        let port = |name: &str| output(&format!("{channel}_{name}_o"));
        Ok(Self {
            valid: port("valid")?,
            id: port("id")?,
            address: port("addr")?,
            len: port("len")?,
            size: port("size")?,
            burst: port("burst")?,
            lock: port("lock")?,
            // Only writes have it.
            atop: port("atop").ok(),
        })
    }

    fn get(&self, sim: &Simulation) -> Option<Address> {
        (sim.get(self.valid) == 1).then(|| Address {
            id: sim.get(self.id) as u8,
            address: sim.get(self.address),
            len: sim.get(self.len) as u8,
            size: sim.get(self.size) as u8,
            wraps: sim.get(self.burst) == WRAP,
            lock: sim.get(self.lock) == 1,
            atop: self.atop.map_or(0, |atop| sim.get(atop) as u8),
        })
    }
}

/// The inputs of a hart that do not belong to memory.
#[derive(Debug)]
pub(crate) struct HartPorts {
    irq: Input,
    ipi: Input,
    time_irq: Input,
    debug_req: Input,
}

impl HartPorts {
    /// Finds the ports; the hart starts at `boot`.
    pub(crate) fn new(sim: &mut Simulation, hart: usize, boot: u64) -> Result<Self, SimError> {
        for (name, value) in [("boot_addr_i", boot), ("hart_id_i", hart as u64)] {
            let input = sim.input(name)?;
            sim.set(input, value);
        }
        Ok(Self {
            irq: sim.input("irq_i")?,
            ipi: sim.input("ipi_i")?,
            time_irq: sim.input("time_irq_i")?,
            debug_req: sim.input("debug_req_i")?,
        })
    }

    /// Sets interrupts and the request for debug mode.
    pub(crate) fn set_lines(&self, sim: &mut Simulation, lines: &Lines, time: u64) {
        sim.set(self.irq, lines.external.into());
        sim.set(self.ipi, lines.software.into());
        sim.set(self.time_irq, (time >= lines.compare).into());
        sim.set(self.debug_req, (lines.debug > 0).into());
    }
}

/// The port to memory: that of a hart, or of what is between harts and memory.
#[derive(Debug)]
pub(crate) struct AxiPorts {
    aw_ready: Input,
    w_ready: Input,
    ar_ready: Input,
    b: [Input; 3],
    r: [Input; 5],
    aw: AddressPorts,
    ar: AddressPorts,
    w_valid: Output,
    w_data: Output,
    w_strb: Output,
    w_last: Output,
    b_ready: Output,
    r_ready: Output,
}

impl AxiPorts {
    pub(crate) fn new(sim: &Simulation) -> Result<Self, SimError> {
        let input = |name: &str| sim.input(&format!("{name}_i"));
        let output = |name: &str| sim.output(name);
        Ok(Self {
            aw_ready: input("aw_ready")?,
            w_ready: input("w_ready")?,
            ar_ready: input("ar_ready")?,
            b: [input("b_valid")?, input("b_id")?, input("b_resp")?],
            r: [
                input("r_valid")?,
                input("r_id")?,
                input("r_data")?,
                input("r_resp")?,
                input("r_last")?,
            ],
            aw: AddressPorts::new(&output, "aw")?,
            ar: AddressPorts::new(&output, "ar")?,
            w_valid: output("w_valid_o")?,
            w_data: output("w_data_o")?,
            w_strb: output("w_strb_o")?,
            w_last: output("w_last_o")?,
            b_ready: output("b_ready_o")?,
            r_ready: output("r_ready_o")?,
        })
    }

    pub(crate) fn set_offers(&self, sim: &mut Simulation, offers: &Offers) {
        sim.set(self.ar_ready, offers.read_ready.into());
        sim.set(self.aw_ready, offers.write_ready.into());
        sim.set(self.w_ready, offers.data_ready.into());
        sim.set(self.r[0], offers.read.is_some().into());
        if let Some(beat) = offers.read {
            let [_, id, data, resp, last] = self.r;
            sim.set(id, beat.id.into());
            sim.set(data, beat.data);
            sim.set(resp, beat.resp.into());
            sim.set(last, beat.last.into());
        }
        sim.set(self.b[0], offers.written.is_some().into());
        if let Some(written) = offers.written {
            let [_, id, resp] = self.b;
            sim.set(id, written.id.into());
            sim.set(resp, written.resp.into());
        }
    }

    pub(crate) fn requests(&self, sim: &Simulation) -> Requests {
        let data = || {
            let strobe = sim.get(self.w_strb) as u8;
            (sim.get(self.w_data), strobe, sim.get(self.w_last) == 1)
        };
        Requests {
            read: self.ar.get(sim),
            write: self.aw.get(sim),
            data: (sim.get(self.w_valid) == 1).then(data),
            takes_read: sim.get(self.r_ready) == 1,
            takes_written: sim.get(self.b_ready) == 1,
        }
    }
}
