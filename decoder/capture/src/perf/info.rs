//! AUXTRACE_INFO: the trace units and their registers.

use super::Error;
use super::features::Features;
use super::fields::Fields;

/// The hardware trace in a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trace {
    /// CoreSight, of Arm.
    Coresight(Coresight),
    /// RISC-V trace.
    Riscv(Riscv),
}

/// CoreSight trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coresight {
    /// The version of the layout: 0, 1 or 2.
    pub version: u32,
    /// It was recorded in snapshots, so that buffers start anywhere.
    pub snapshot: bool,
    /// The trace units, one for each CPU.
    pub units: Vec<Unit>,
}

/// The trace unit of a CPU.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The CPU.
    pub cpu: u32,
    /// Its number on the trace bus, as the register has it: bit 31 says that it is not used.
    pub trace_id: u32,
    /// Its other registers.
    pub registers: EtmRegisters,
}

/// Registers of a trace unit. Those that the kernel did not provide are 0.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum EtmRegisters {
    /// ETMv3 or PTM.
    Etmv3 {
        /// ETMCR.
        cr: u32,
        /// ETMCCER.
        ccer: u32,
        /// ETMIDR.
        idr: u32,
    },
    /// ETMv4, or ETE with its TRCDEVARCH.
    Etmv4 {
        /// TRCCONFIGR.
        configr: u32,
        /// TRCIDR0, TRCIDR1, TRCIDR2 and TRCIDR8.
        idr: [u32; 4],
        /// TRCDEVARCH of an ETE.
        devarch: Option<u32>,
    },
}

/// AUX_OUTPUT_HW_ID: what a CPU is called in the trace.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct HwId {
    /// Where it is in the file.
    pub at: u64,
    /// The CPU.
    pub cpu: u32,
    /// The value that the driver wrote.
    pub value: u64,
}

impl HwId {
    /// The number on the trace bus, and its sink if there is one, where a CoreSight driver wrote it in a
    /// version that is known.
    pub const fn coresight(&self) -> Option<(u8, Option<u32>)> {
        let (major, minor) = (self.value >> 60, (self.value >> 56) & 0xf);
        let sink = if minor >= 1 { Some((self.value >> 8) as u32) } else { None };
        if major == 0 { Some((self.value as u8 & 0x7f, sink)) } else { None }
    }
}

/// RISC-V trace. None of the layouts is part of Linux yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Riscv {
    /// Which of them it is.
    pub layout: RiscvLayout,
    /// The trace units, where the layout describes them.
    pub cpus: Vec<RiscvCpu>,
}

/// Layouts of RISC-V trace in recordings.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RiscvLayout {
    /// The PMU `rvtrace`, which says nothing about its units.
    Rvtrace,
    /// The PMU `gtrace`: AUX records say which protocol it is.
    Gtrace,
    /// The PMU `rvtrace` with a description of each unit.
    Spacemit,
}

/// The trace unit of a hart, as a layout describes it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RiscvCpu {
    /// The CPU.
    pub cpu: u32,
    /// trTeFormat: 0 for E-Trace, 1 for N-Trace.
    pub format: u64,
    /// Bits of a source identifier; 0 if there is none.
    pub src_bits: u64,
    /// Its source identifier.
    pub src_id: u64,
}

const CS_ETM: u32 = 3;
/// Numbers of RISC-V trace before and after another kind took the first of them.
const RISCV: [u32; 2] = [7, 8];

const ETMV3: u64 = 0x3030_3030_3030_3030;
const ETMV4: u64 = 0x4040_4040_4040_4040;
const ETE: u64 = 0x5050_5050_5050_5050;

impl Trace {
    /// Reads an AUXTRACE_INFO record.
    pub(super) fn read(mut body: Fields<'_>, features: &Features) -> Result<Self, Error> {
        let byte = body.at();
        let kind = body.u32()?;
        body.u32()?;
        let name = match kind {
            CS_ETM => return Coresight::read(body).map(Self::Coresight),
            number if RISCV.contains(&number) => {
                if let Some(riscv) = Riscv::read(body, features)? {
                    return Ok(Self::Riscv(riscv));
                }
                "VPA DTL"
            }
            1 => "Intel PT",
            2 => "Intel BTS",
            4 => "Arm SPE",
            5 => "S/390 CPU measurement",
            6 => "HiSilicon PTT",
            _ => return Err(Error::Kind { byte, name: format!("unknown (type {kind})") }),
        };
        Err(Error::Kind { byte, name: name.to_owned() })
    }
}

impl Coresight {
    fn read(mut body: Fields<'_>) -> Result<Self, Error> {
        let at = body.at();
        let version = match body.u64()? {
            version @ 0..=2 => version as u32,
            value => {
                let what = "the version of the CoreSight description, which may be 0 to 2,";
                return Err(Error::Value { byte: at, what, value });
            }
        };
        // The upper half is the number of the PMU.
        let cpus = body.u64()? as u32;
        let snapshot = body.u64()? != 0;
        // Not reserved in advance: the number may be anything.
        let mut units = Vec::new();
        for _ in 0..cpus {
            units.push(Unit::read(version, &mut body)?);
        }
        Ok(Self { version, snapshot, units })
    }
}

impl Unit {
    fn read(version: u32, body: &mut Fields<'_>) -> Result<Self, Error> {
        let at = body.at();
        let (magic, cpu) = (body.u64()?, body.u64()? as u32);
        let usual = match magic {
            ETMV3 => 4,
            ETMV4 => 7,
            ETE if version > 0 => 8,
            value => {
                let what = "the kind of a trace unit";
                return Err(Error::Value { byte: at, what, value });
            }
        };
        let byte = body.at();
        let count = if version == 0 { usual } else { body.u64()? };
        if count < usual {
            let what = "the number of registers of a trace unit";
            return Err(Error::Value { byte, what, value: count });
        }
        let mut words = [0; 8];
        for (word, _) in words.iter_mut().zip(0..usual) {
            *word = body.u64()? as u32;
        }
        // Later versions may have more.
        let more = count.saturating_sub(usual).saturating_mul(8);
        body.take(usize::try_from(more).unwrap_or(usize::MAX))?;
        let [a, trace_id, c, d, e, f, _, devarch] = words;
        let registers = match magic {
            ETMV3 => EtmRegisters::Etmv3 { cr: a, ccer: c, idr: d },
            _ => {
                let devarch = (magic == ETE).then_some(devarch);
                EtmRegisters::Etmv4 { configr: a, idr: [c, d, e, f], devarch }
            }
        };
        Ok(Self { cpu, trace_id, registers })
    }
}

/// Words that describe a unit in the layout of SpacemiT.
const SPACEMIT: usize = 7;

impl Riscv {
    /// The layout is not stated: it follows from the name of the PMU, the architecture, and the length.
    /// `None` if it is no RISC-V trace.
    fn read(mut body: Fields<'_>, features: &Features) -> Result<Option<Self>, Error> {
        let words = body.rest().len() / 8;
        let first = body.u64()?;
        let named = |number: u64| {
            let name = u32::try_from(number).ok().and_then(|number| features.pmus.get(&number));
            name.map(String::as_str)
        };
        let riscv = features.arch.as_deref().is_some_and(|arch| arch.starts_with("riscv"));
        let cpus = first as u32;
        let described = usize::try_from(cpus).unwrap_or(usize::MAX).saturating_mul(SPACEMIT);
        let layout = match (words, named(first), named(first >> 32)) {
            (1, Some("gtrace"), _) => RiscvLayout::Gtrace,
            (1, Some("rvtrace"), _) => RiscvLayout::Rvtrace,
            (1, None, _) if riscv => RiscvLayout::Rvtrace,
            (_, _, Some("rvtrace")) if words == described.saturating_add(1) => {
                RiscvLayout::Spacemit
            }
            (_, _, None) if riscv && words == described.saturating_add(1) => RiscvLayout::Spacemit,
            _ => return Ok(None),
        };
        let mut all = Vec::new();
        if layout == RiscvLayout::Spacemit {
            for _ in 0..cpus {
                let cpu = body.u64()? as u32;
                let _parameters = body.u64()?;
                let format = body.u64()?;
                let _context = body.u64()?;
                let inhibited = body.u64()? != 0;
                let (src_bits, src_id) = (body.u64()?, body.u64()?);
                let src_bits = if inhibited { 0 } else { src_bits };
                all.push(RiscvCpu { cpu, format, src_bits, src_id });
            }
        }
        Ok(Some(Self { layout, cpus: all }))
    }
}
