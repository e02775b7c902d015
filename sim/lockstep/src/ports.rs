//! The ports of the encoder, as far as they exist.

use crate::filter_request;
use hartrace_encoder_hdl::Config;
use hartrace_etrace::ingress::Retired;
use hartrace_hdl_tools::verilate::{Input, Output, SimError, Simulation};

/// Inputs that change only while nothing is traced, besides those of filters.
const CONTROLS: [&str; 10] = [
    "stall_i",
    "implicit_return_i",
    "implicit_exception_i",
    "full_address_i",
    "jump_target_cache_i",
    "branch_prediction_i",
    "sequential_jump_i",
    "resync_mode_i",
    "resync_max_i",
    "initially_on_i",
];

/// Whether an input changes only while nothing is traced.
pub(crate) fn is_control(name: &str) -> bool {
    let filter = |name: &str| filter_request::PORTS.contains(&name);
    CONTROLS.contains(&name) || name.strip_suffix("_i").is_some_and(filter)
}

/// The inputs that a hart drives.
#[derive(Debug)]
pub struct HartPorts {
    itype: Input,
    iaddr: Input,
    iretire: Input,
    ilastsize: Input,
    sijump: Option<Input>,
    cause: Input,
    tval: Input,
    privilege: Input,
    allow: Option<Input>,
    context: Option<(Input, Input)>,
    time: Option<Input>,
    trigger: Option<Input>,
    halted: Input,
    reset: Input,
    lost: Input,
    drained: Input,
}

/// Inputs from the control registers, and outputs.
#[derive(Debug)]
pub(crate) struct Ports {
    pub(crate) hart: HartPorts,
    pub(crate) enable: Input,
    pub(crate) resync_mode: Input,
    pub(crate) resync_max: Input,
    pub(crate) modes: Vec<(hartrace_etrace::Mode, Option<Input>)>,
    pub(crate) stalls: Option<Input>,
    pub(crate) initially_on: Option<Input>,
    pub(crate) filters: Vec<(&'static str, Input)>,
    pub(crate) ready: Input,
    pub(crate) stall: Option<Output>,
    pub(crate) lost: Output,
    pub(crate) active: Output,
    pub(crate) empty: Output,
    pub(crate) valid: Output,
    pub(crate) data: Output,
    pub(crate) len: Output,
}

impl Ports {
    pub(crate) fn new(sim: &Simulation) -> Result<Self, SimError> {
        use hartrace_etrace::Mode;
        let maybe = |name: &str| sim.input(name).ok();
        let modes = [
            (Mode::ImplicitReturn, "implicit_return_i"),
            (Mode::ImplicitException, "implicit_exception_i"),
            (Mode::FullAddress, "full_address_i"),
            (Mode::JumpTargetCache, "jump_target_cache_i"),
            (Mode::BranchPrediction, "branch_prediction_i"),
            (Mode::SequentiallyInferredJump, "sequential_jump_i"),
        ];
        let filters = filter_request::PORTS.into_iter();
        let filters =
            filters.filter_map(|name| Some((name, maybe(&format!("{name}_i"))?))).collect();
        Ok(Self {
            hart: HartPorts::new(sim, "")?,
            enable: sim.input("enable_i")?,
            resync_mode: sim.input("resync_mode_i")?,
            resync_max: sim.input("resync_max_i")?,
            modes: modes.map(|(mode, name)| (mode, maybe(name))).into(),
            stalls: maybe("stall_i"),
            initially_on: maybe("initially_on_i"),
            filters,
            ready: sim.input("ready_i")?,
            stall: sim.output("stall_o").ok(),
            lost: sim.output("lost_o")?,
            active: sim.output("active_o")?,
            empty: sim.output("empty_o")?,
            valid: sim.output("valid_o")?,
            data: sim.output("data_o")?,
            len: sim.output("len_o")?,
        })
    }
}

impl HartPorts {
    /// Finds the ports whose names start with `prefix`.
    pub fn new(sim: &Simulation, prefix: &str) -> Result<Self, SimError> {
        let input = |name: &str| sim.input(&format!("{prefix}{name}_i"));
        Ok(Self {
            itype: input("itype")?,
            iaddr: input("iaddr")?,
            iretire: input("iretire")?,
            ilastsize: input("ilastsize")?,
            sijump: input("sijump").ok(),
            cause: input("cause")?,
            tval: input("tval")?,
            privilege: input("priv")?,
            allow: input("allow").ok(),
            context: input("context").ok().zip(input("ctype").ok()),
            time: input("time").ok(),
            trigger: input("trigger").ok(),
            halted: input("halted")?,
            reset: input("reset")?,
            lost: input("lost")?,
            drained: input("drained")?,
        })
    }

    /// Drives the rows of one cycle, or nothing. Nothing was lost before them, and nothing is behind them.
    pub fn drive(&self, sim: &mut Simulation, config: &Config, rows: &[Retired]) {
        let params = &config.etrace;
        sim.set(self.lost, 0);
        sim.set(self.drained, 1);
        if rows.is_empty() {
            // Without a block all other signals are ignored. A hart that is halted or in reset stays
            // so until it continues.
            sim.set(self.itype, 0);
            sim.set(self.iretire, 0);
            if let Some(port) = self.trigger {
                sim.set(port, 0);
            }
            return;
        }
        let mut itype = Lanes::new(config.itype_width_p);
        let mut iaddr = Lanes::new(params.iaddress_width_p);
        let mut iretire = Lanes::new(config.iretire_width_p);
        let (mut size, mut sijump, mut notify) = (0, 0, 0);
        let (mut on, mut off, mut halted, mut reset) = (false, false, false, false);
        for (lane, row) in rows.iter().enumerate() {
            itype.push(row.itype.raw().into());
            iaddr.push(row.iaddr);
            iretire.push(row.iretire.into());
            size |= (u64::from(row.ilastsize) & 1) << lane;
            sijump |= u64::from(row.sijump) << lane;
            notify |= u64::from(row.trigger.notify) << lane;
            on |= row.trigger.on;
            off |= row.trigger.off;
            halted |= row.halted;
            reset |= row.reset;
        }
        sim.set_wide(self.itype, &itype.words);
        sim.set_wide(self.iaddr, &iaddr.words);
        sim.set_wide(self.iretire, &iretire.words);
        sim.set(self.ilastsize, size);
        if let Some(port) = self.sijump {
            sim.set(port, sijump);
        }
        let trap = rows.last().copied().unwrap_or(Retired::plain(0));
        sim.set(self.cause, cut(trap.cause, params.ecause_width_p));
        sim.set(self.tval, cut(trap.tval, params.iaddress_width_p));
        sim.set(self.privilege, cut(trap.privilege.0.into(), params.privilege_width_p));
        if let Some((context, ctype)) = self.context {
            sim.set(context, cut(trap.context, params.context_width_p));
            let kind = rows.first().map_or(0, |row| row.ctype as u64);
            sim.set(ctype, kind);
        }
        if let Some(port) = self.time {
            sim.set(port, cut(trap.time, params.time_width_p));
        }
        if let Some(port) = self.trigger {
            sim.set(port, u64::from(on) | u64::from(off) << 1 | notify << 2);
        }
        self.halt(sim, halted, reset);
    }

    /// Lets these levels be traced, one bit each, if the encoder has such an input. Returns whether it has.
    pub fn allow(&self, sim: &mut Simulation, levels: u64) -> bool {
        if let Some(port) = self.allow {
            sim.set(port, levels & ((1 << port.width()) - 1));
        }
        self.allow.is_some()
    }

    /// Something was lost on the way here, in this cycle.
    pub fn lose(&self, sim: &mut Simulation) {
        sim.set(self.lost, 1);
    }

    /// Something that retired is still to come after this cycle.
    pub fn delay(&self, sim: &mut Simulation) {
        sim.set(self.drained, 0);
    }

    /// Halts or resets the hart, or lets it continue.
    pub fn halt(&self, sim: &mut Simulation, halted: bool, reset: bool) {
        sim.set(self.halted, halted.into());
        sim.set(self.reset, reset.into());
    }
}

/// The low bits.
pub(crate) fn cut(value: u64, width: u8) -> u64 {
    if width < 64 { value & ((1 << width) - 1) } else { value }
}

/// Values of the lanes side by side: at most four of 64 bits.
struct Lanes {
    width: u8,
    at: usize,
    words: [u64; 4],
}

impl Lanes {
    fn new(width: u8) -> Self {
        Self { width, at: 0, words: [0; 4] }
    }

    fn push(&mut self, value: u64) {
        let value = cut(value, self.width);
        let (word, bit) = (self.at / 64, self.at % 64);
        self.words[word] |= value << bit;
        if bit + usize::from(self.width) > 64 {
            self.words[word + 1] |= value >> (64 - bit);
        }
        self.at += usize::from(self.width);
    }
}
