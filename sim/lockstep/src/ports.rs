//! The ports of the encoder, as far as it has them.

use hartrace_verilate::{Input, Output, SimError, Simulation};

/// Inputs of the hart and of the control registers, outputs.
#[derive(Debug)]
pub(crate) struct Ports {
    pub(crate) itype: Input,
    pub(crate) iaddr: Input,
    pub(crate) iretire: Input,
    pub(crate) ilastsize: Input,
    pub(crate) sijump: Option<Input>,
    pub(crate) cause: Input,
    pub(crate) tval: Input,
    pub(crate) privilege: Input,
    pub(crate) context: Option<(Input, Input)>,
    pub(crate) time: Option<Input>,
    pub(crate) trigger: Option<Input>,
    pub(crate) halted: Input,
    pub(crate) reset: Input,
    pub(crate) enable: Input,
    pub(crate) resync_mode: Input,
    pub(crate) resync_max: Input,
    pub(crate) modes: Vec<(hartrace_etrace::Mode, Option<Input>)>,
    pub(crate) privileges: Input,
    pub(crate) initially_on: Option<Input>,
    pub(crate) ranges: Option<[Input; 3]>,
    pub(crate) ready: Input,
    pub(crate) stall: Option<Output>,
    pub(crate) lost: Option<Output>,
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
        let context = maybe("context_i").zip(maybe("ctype_i"));
        let ranges = match (maybe("ranges_i"), maybe("low_i"), maybe("high_i")) {
            (Some(ranges), Some(low), Some(high)) => Some([ranges, low, high]),
            _ => None,
        };
        let modes = [
            (Mode::ImplicitReturn, "implicit_return_i"),
            (Mode::ImplicitException, "implicit_exception_i"),
            (Mode::FullAddress, "full_address_i"),
            (Mode::JumpTargetCache, "jump_target_cache_i"),
            (Mode::BranchPrediction, "branch_prediction_i"),
            (Mode::SequentialJump, "sequential_jump_i"),
        ];
        Ok(Self {
            itype: sim.input("itype_i")?,
            iaddr: sim.input("iaddr_i")?,
            iretire: sim.input("iretire_i")?,
            ilastsize: sim.input("ilastsize_i")?,
            sijump: maybe("sijump_i"),
            cause: sim.input("cause_i")?,
            tval: sim.input("tval_i")?,
            privilege: sim.input("priv_i")?,
            context,
            time: maybe("time_i"),
            trigger: maybe("trigger_i"),
            halted: sim.input("halted_i")?,
            reset: sim.input("reset_i")?,
            enable: sim.input("enable_i")?,
            resync_mode: sim.input("resync_mode_i")?,
            resync_max: sim.input("resync_max_i")?,
            modes: modes.map(|(mode, name)| (mode, maybe(name))).into(),
            privileges: sim.input("privileges_i")?,
            initially_on: maybe("initially_on_i"),
            ranges,
            ready: sim.input("ready_i")?,
            stall: sim.output("stall_o").ok(),
            lost: sim.output("lost_o").ok(),
            active: sim.output("active_o")?,
            empty: sim.output("empty_o")?,
            valid: sim.output("valid_o")?,
            data: sim.output("data_o")?,
            len: sim.output("len_o")?,
        })
    }
}
