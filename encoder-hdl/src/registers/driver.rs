//! Registers of a trace encoder and of what is behind it: a type for each, with its fields.
//!
//! Where registers are and how they are read and written is up to the caller: each component has a
//! page of 4 KiB, and offsets count from there. Nothing here needs `std`, allocates or panics.
//!
//! Made by `hartrace_encoder_hdl::registers::rust_driver`; changes would be lost.

const fn get(word: u32, lsb: u32, width: u32) -> u32 {
    word >> lsb & u32::MAX >> (32 - width)
}

/// Bits of `value` past the width are left out.
const fn set(word: u32, lsb: u32, width: u32, value: u32) -> u32 {
    let ones = u32::MAX >> (32 - width);
    word & !(ones << lsb) | (value & ones) << lsb
}

/// Trace encoder.
pub mod te {
    use super::{get, set};

    /// `trTeControl`: Switches the encoder on and off.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrTeControl(pub u32);

    impl TrTeControl {
        /// Where it is.
        pub const OFFSET: u32 = 0x000;

        /// `trTeActive`: Switches the encoder on. While this reads as 0, the encoder is in reset,
        /// and so are all its other registers: they cannot be written. A write that sets this sets
        /// nothing else.
        #[must_use]
        pub const fn active(self) -> bool {
            get(self.0, 0, 1) == 1
        }

        /// With another `trTeActive`.
        #[must_use]
        pub const fn with_active(self, value: bool) -> Self {
            Self(set(self.0, 0, 1, value as u32))
        }

        /// `trTeEnable`: The encoder is in use. Clearing it ends the trace, all of which is sent.
        #[must_use]
        pub const fn enable(self) -> bool {
            get(self.0, 1, 1) == 1
        }

        /// With another `trTeEnable`.
        #[must_use]
        pub const fn with_enable(self, value: bool) -> Self {
            Self(set(self.0, 1, 1, value as u32))
        }

        /// `trTeInstTracing`: Instructions are traced. While `trTeInstTrigEnable` is 1, what is
        /// written is whether tracing is on when `trTeEnable` is set, cannot be written while the
        /// encoder is in use, and shows then what triggers made of it.
        #[must_use]
        pub const fn inst_tracing(self) -> bool {
            get(self.0, 2, 1) == 1
        }

        /// With another `trTeInstTracing`.
        #[must_use]
        pub const fn with_inst_tracing(self, value: bool) -> Self {
            Self(set(self.0, 2, 1, value as u32))
        }

        /// `trTeEmpty`: The encoder is not in use, and all its packets have left.
        #[must_use]
        pub const fn empty(self) -> bool {
            get(self.0, 3, 1) == 1
        }

        /// `trTeInstMode`: with branch maps.
        pub const INST_MODE_OPTIMIZED: u32 = 6;

        /// `trTeInstMode`: How instructions are traced.
        #[must_use]
        pub const fn inst_mode(self) -> u32 {
            get(self.0, 4, 3)
        }

        /// `trTeContext`: Packets carry the privilege level and, if the encoder has one, the
        /// context.
        #[must_use]
        pub const fn context(self) -> bool {
            get(self.0, 9, 1) == 1
        }

        /// `trTeInstTrigEnable`: Triggers of the hart switch tracing on and off.
        #[must_use]
        pub const fn inst_trig_enable(self) -> bool {
            get(self.0, 11, 1) == 1
        }

        /// With another `trTeInstTrigEnable`.
        #[must_use]
        pub const fn with_inst_trig_enable(self, value: bool) -> Self {
            Self(set(self.0, 11, 1, value as u32))
        }

        /// `trTeInstStallOrOverflow`: The hart was stalled or trace was lost, since this was
        /// cleared: by writing 1, or by setting `trTeEnable`.
        #[must_use]
        pub const fn inst_stall_or_overflow(self) -> bool {
            get(self.0, 12, 1) == 1
        }

        /// With another `trTeInstStallOrOverflow`.
        #[must_use]
        pub const fn with_inst_stall_or_overflow(self, value: bool) -> Self {
            Self(set(self.0, 12, 1, value as u32))
        }

        /// `trTeInstStallEna`: If there is no room for trace, the hart is stalled (1) or trace is
        /// lost (0).
        #[must_use]
        pub const fn inst_stall_ena(self) -> bool {
            get(self.0, 13, 1) == 1
        }

        /// With another `trTeInstStallEna`.
        #[must_use]
        pub const fn with_inst_stall_ena(self, value: bool) -> Self {
            Self(set(self.0, 13, 1, value as u32))
        }

        /// `trTeInhibitSrc`: The source is left out of packets.
        #[must_use]
        pub const fn inhibit_src(self) -> bool {
            get(self.0, 15, 1) == 1
        }

        /// `trTeInstSyncMode`: never.
        pub const INST_SYNC_MODE_OFF: u32 = 0;

        /// `trTeInstSyncMode`: packets.
        pub const INST_SYNC_MODE_PACKETS: u32 = 1;

        /// `trTeInstSyncMode`: clock cycles.
        pub const INST_SYNC_MODE_CYCLES: u32 = 2;

        /// `trTeInstSyncMode`: half-words of instructions.
        pub const INST_SYNC_MODE_HALF_WORDS: u32 = 3;

        /// `trTeInstSyncMode`: What the time until the next synchronisation is counted in. A value
        /// that is not listed is not taken.
        #[must_use]
        pub const fn inst_sync_mode(self) -> u32 {
            get(self.0, 16, 2)
        }

        /// With another `trTeInstSyncMode`.
        #[must_use]
        pub const fn with_inst_sync_mode(self, value: u32) -> Self {
            Self(set(self.0, 16, 2, value))
        }

        /// `trTeInstSyncMax`: The next synchronisation comes after 2^(this + 4) of them.
        #[must_use]
        pub const fn inst_sync_max(self) -> u32 {
            get(self.0, 20, 4)
        }

        /// With another `trTeInstSyncMax`.
        #[must_use]
        pub const fn with_inst_sync_max(self, value: u32) -> Self {
            Self(set(self.0, 20, 4, value))
        }

        /// `trTeFormat`: Efficient Trace for RISC-V.
        pub const FORMAT_E_TRACE: u32 = 0;

        /// `trTeFormat`: Format of the trace.
        #[must_use]
        pub const fn format(self) -> u32 {
            get(self.0, 24, 3)
        }
    }

    /// `trTeImpl`: What this is.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrTeImpl(pub u32);

    impl TrTeImpl {
        /// Where it is.
        pub const OFFSET: u32 = 0x004;

        /// `trTeVerMajor`: Major version of these registers.
        #[must_use]
        pub const fn ver_major(self) -> u32 {
            get(self.0, 0, 4)
        }

        /// `trTeVerMinor`: Minor version of these registers.
        #[must_use]
        pub const fn ver_minor(self) -> u32 {
            get(self.0, 4, 4)
        }

        /// `trTeCompType`: Kind of the component.
        #[must_use]
        pub const fn comp_type(self) -> u32 {
            get(self.0, 8, 4)
        }

        /// `trTeProtocolMajor`: Major version of the trace protocol.
        #[must_use]
        pub const fn protocol_major(self) -> u32 {
            get(self.0, 16, 4)
        }

        /// `trTeProtocolMinor`: Minor version of the trace protocol.
        #[must_use]
        pub const fn protocol_minor(self) -> u32 {
            get(self.0, 20, 4)
        }
    }

    /// `trTeInstFeatures`: Modes of the trace. What the encoder does not have reads as 0.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrTeInstFeatures(pub u32);

    impl TrTeInstFeatures {
        /// Where it is.
        pub const OFFSET: u32 = 0x008;

        /// `trTeInstNoAddrDiff`: Addresses are sent in full, not as differences.
        #[must_use]
        pub const fn inst_no_addr_diff(self) -> bool {
            get(self.0, 0, 1) == 1
        }

        /// With another `trTeInstNoAddrDiff`.
        #[must_use]
        pub const fn with_inst_no_addr_diff(self, value: bool) -> Self {
            Self(set(self.0, 0, 1, value as u32))
        }

        /// `trTeInstNoTrapAddr`: Addresses of trap handlers are not sent.
        #[must_use]
        pub const fn inst_no_trap_addr(self) -> bool {
            get(self.0, 1, 1) == 1
        }

        /// With another `trTeInstNoTrapAddr`.
        #[must_use]
        pub const fn with_inst_no_trap_addr(self, value: bool) -> Self {
            Self(set(self.0, 1, 1, value as u32))
        }

        /// `trTeInstEnSequentialJump`: Targets of jumps that follow from the instruction before
        /// them are not sent.
        #[must_use]
        pub const fn inst_en_sequential_jump(self) -> bool {
            get(self.0, 2, 1) == 1
        }

        /// With another `trTeInstEnSequentialJump`.
        #[must_use]
        pub const fn with_inst_en_sequential_jump(self, value: bool) -> Self {
            Self(set(self.0, 2, 1, value as u32))
        }

        /// `trTeInstEnImplicitReturn`: Targets of returns that follow from the call are not sent.
        #[must_use]
        pub const fn inst_en_implicit_return(self) -> bool {
            get(self.0, 3, 1) == 1
        }

        /// With another `trTeInstEnImplicitReturn`.
        #[must_use]
        pub const fn with_inst_en_implicit_return(self, value: bool) -> Self {
            Self(set(self.0, 3, 1, value as u32))
        }

        /// `trTeInstEnBranchPrediction`: Branches that were predicted are counted instead of sent.
        #[must_use]
        pub const fn inst_en_branch_prediction(self) -> bool {
            get(self.0, 4, 1) == 1
        }

        /// With another `trTeInstEnBranchPrediction`.
        #[must_use]
        pub const fn with_inst_en_branch_prediction(self, value: bool) -> Self {
            Self(set(self.0, 4, 1, value as u32))
        }

        /// `trTeInstEnJumpTargetCache`: Targets are sent as an index of the cache where that is
        /// shorter.
        #[must_use]
        pub const fn inst_en_jump_target_cache(self) -> bool {
            get(self.0, 5, 1) == 1
        }

        /// With another `trTeInstEnJumpTargetCache`.
        #[must_use]
        pub const fn with_inst_en_jump_target_cache(self, value: bool) -> Self {
            Self(set(self.0, 5, 1, value as u32))
        }

        /// `trTeInstImplicitReturnMode`: whole addresses are compared.
        pub const INST_IMPLICIT_RETURN_MODE_STACK: u32 = 3;

        /// `trTeInstImplicitReturnMode`: How returns are told to follow from a call.
        #[must_use]
        pub const fn inst_implicit_return_mode(self) -> u32 {
            get(self.0, 6, 2)
        }

        /// `trTeInstEnRepeatedHistory`: Repeated branch maps are counted.
        #[must_use]
        pub const fn inst_en_repeated_history(self) -> bool {
            get(self.0, 8, 1) == 1
        }

        /// `trTeInstEnAllJumps`: Jumps that need not be sent are sent.
        #[must_use]
        pub const fn inst_en_all_jumps(self) -> bool {
            get(self.0, 9, 1) == 1
        }

        /// `trTeInstExtendAddrMSB`: The top bits of addresses are handled in another way.
        #[must_use]
        pub const fn inst_extend_addr_msb(self) -> bool {
            get(self.0, 10, 1) == 1
        }

        /// `trTeSrcID`: The source in packets.
        #[must_use]
        pub const fn src_id(self) -> u32 {
            get(self.0, 16, 12)
        }

        /// `trTeSrcBits`: How many bits the source has in packets.
        #[must_use]
        pub const fn src_bits(self) -> u32 {
            get(self.0, 28, 4)
        }
    }

    /// `trTeInstFilters`: Which filters are in use.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrTeInstFilters(pub u32);

    impl TrTeInstFilters {
        /// Where it is.
        pub const OFFSET: u32 = 0x00c;

        /// `trTeInstFilters`: A bit for each filter. Without any, everything is traced.
        #[must_use]
        pub const fn inst_filters(self) -> u32 {
            get(self.0, 0, 16)
        }

        /// With another `trTeInstFilters`.
        #[must_use]
        pub const fn with_inst_filters(self, value: u32) -> Self {
            Self(set(self.0, 0, 16, value))
        }
    }

    /// `trTsControl`: Time in packets.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrTsControl(pub u32);

    impl TrTsControl {
        /// Where it is.
        pub const OFFSET: u32 = 0x040;

        /// `trTsActive`: As `trTeActive`.
        #[must_use]
        pub const fn active(self) -> bool {
            get(self.0, 0, 1) == 1
        }

        /// `trTsCount`: The time is counted. Can be written at any time.
        #[must_use]
        pub const fn count(self) -> bool {
            get(self.0, 1, 1) == 1
        }

        /// With another `trTsCount`.
        #[must_use]
        pub const fn with_count(self, value: bool) -> Self {
            Self(set(self.0, 1, 1, value as u32))
        }

        /// `trTsReset`: The time starts again from 0.
        #[must_use]
        pub const fn reset(self) -> bool {
            get(self.0, 2, 1) == 1
        }

        /// With another `trTsReset`.
        #[must_use]
        pub const fn with_reset(self, value: bool) -> Self {
            Self(set(self.0, 2, 1, value as u32))
        }

        /// `trTsMode`: a counter of clock cycles.
        pub const MODE_INTERNAL_SYSTEM: u32 = 2;

        /// `trTsMode`: Where the time comes from.
        #[must_use]
        pub const fn mode(self) -> u32 {
            get(self.0, 4, 3)
        }

        /// `trTsPrescale`: one.
        pub const PRESCALE_1: u32 = 0;

        /// `trTsPrescale`: four.
        pub const PRESCALE_4: u32 = 1;

        /// `trTsPrescale`: sixteen.
        pub const PRESCALE_16: u32 = 2;

        /// `trTsPrescale`: sixty-four.
        pub const PRESCALE_64: u32 = 3;

        /// `trTsPrescale`: How many cycles one tick has.
        #[must_use]
        pub const fn prescale(self) -> u32 {
            get(self.0, 8, 2)
        }

        /// With another `trTsPrescale`.
        #[must_use]
        pub const fn with_prescale(self, value: u32) -> Self {
            Self(set(self.0, 8, 2, value))
        }

        /// `trTsEnable`: Packets carry the time.
        #[must_use]
        pub const fn enable(self) -> bool {
            get(self.0, 15, 1) == 1
        }

        /// `trTsWidth`: How many bits the time has; 63 stands for 64 as well.
        #[must_use]
        pub const fn width(self) -> u32 {
            get(self.0, 24, 6)
        }
    }

    /// `trTsCounterLow`: The time, which does not stop: read the high bits before and after the low
    /// bits, and both again if they differ.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrTsCounterLow(pub u32);

    impl TrTsCounterLow {
        /// Where it is.
        pub const OFFSET: u32 = 0x048;

        /// `trTsCounterLow`: Bits 31 to 0.
        #[must_use]
        pub const fn counter_low(self) -> u32 {
            get(self.0, 0, 32)
        }
    }

    /// `trTsCounterHigh`: The time.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrTsCounterHigh(pub u32);

    impl TrTsCounterHigh {
        /// Where it is.
        pub const OFFSET: u32 = 0x04c;

        /// `trTsCounterHigh`: Bits 63 to 32.
        #[must_use]
        pub const fn counter_high(self) -> u32 {
            get(self.0, 0, 32)
        }
    }

    /// `trTeFilterControl`: What a filter asks for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrTeFilterControl(pub u32);

    impl TrTeFilterControl {
        /// How many there are at most.
        pub const COUNT: u32 = 8;

        /// Where number `index` is.
        #[must_use]
        pub const fn offset(index: u32) -> Option<u32> {
            if index < Self::COUNT { Some(0x400 + 0x20 * index) } else { None }
        }

        /// `trTeFilterEnable`: The filter takes part.
        #[must_use]
        pub const fn filter_enable(self) -> bool {
            get(self.0, 0, 1) == 1
        }

        /// With another `trTeFilterEnable`.
        #[must_use]
        pub const fn with_filter_enable(self, value: bool) -> Self {
            Self(set(self.0, 0, 1, value as u32))
        }

        /// `trTeFilterMatchPrivilege`: It asks for privilege levels.
        #[must_use]
        pub const fn filter_match_privilege(self) -> bool {
            get(self.0, 1, 1) == 1
        }

        /// With another `trTeFilterMatchPrivilege`.
        #[must_use]
        pub const fn with_filter_match_privilege(self, value: bool) -> Self {
            Self(set(self.0, 1, 1, value as u32))
        }

        /// `trTeFilterMatchEcause`: It asks for traps of some causes.
        #[must_use]
        pub const fn filter_match_ecause(self) -> bool {
            get(self.0, 2, 1) == 1
        }

        /// With another `trTeFilterMatchEcause`.
        #[must_use]
        pub const fn with_filter_match_ecause(self, value: bool) -> Self {
            Self(set(self.0, 2, 1, value as u32))
        }

        /// `trTeFilterMatchInterrupt`: It asks for interrupts, or for exceptions.
        #[must_use]
        pub const fn filter_match_interrupt(self) -> bool {
            get(self.0, 3, 1) == 1
        }

        /// With another `trTeFilterMatchInterrupt`.
        #[must_use]
        pub const fn with_filter_match_interrupt(self, value: bool) -> Self {
            Self(set(self.0, 3, 1, value as u32))
        }

        /// `trTeFilterMatchComp1`: It asks for the address range of its comparator.
        #[must_use]
        pub const fn filter_match_comp1(self) -> bool {
            get(self.0, 4, 1) == 1
        }

        /// With another `trTeFilterMatchComp1`.
        #[must_use]
        pub const fn with_filter_match_comp1(self, value: bool) -> Self {
            Self(set(self.0, 4, 1, value as u32))
        }

        /// `trTeFilterComp1`: The number of its comparator.
        #[must_use]
        pub const fn filter_comp1(self) -> u32 {
            get(self.0, 5, 3)
        }

        /// `trTeFilterMatchComp2`: It asks for a range of the context.
        #[must_use]
        pub const fn filter_match_comp2(self) -> bool {
            get(self.0, 8, 1) == 1
        }

        /// With another `trTeFilterMatchComp2`.
        #[must_use]
        pub const fn with_filter_match_comp2(self, value: bool) -> Self {
            Self(set(self.0, 8, 1, value as u32))
        }

        /// `trTeFilterComp2`: The number of its comparator of the context.
        #[must_use]
        pub const fn filter_comp2(self) -> u32 {
            get(self.0, 9, 3)
        }

        /// `trTeFilterMatchComp3`: It asks for traps with a value in a range.
        #[must_use]
        pub const fn filter_match_comp3(self) -> bool {
            get(self.0, 12, 1) == 1
        }

        /// With another `trTeFilterMatchComp3`.
        #[must_use]
        pub const fn with_filter_match_comp3(self, value: bool) -> Self {
            Self(set(self.0, 12, 1, value as u32))
        }

        /// `trTeFilterComp3`: The number of its comparator of trap values.
        #[must_use]
        pub const fn filter_comp3(self) -> u32 {
            get(self.0, 13, 3)
        }
    }

    /// `trTeFilterMatchInst`: The privilege levels and the kind of traps that a filter asks for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrTeFilterMatchInst(pub u32);

    impl TrTeFilterMatchInst {
        /// How many there are at most.
        pub const COUNT: u32 = 8;

        /// Where number `index` is.
        #[must_use]
        pub const fn offset(index: u32) -> Option<u32> {
            if index < Self::COUNT { Some(0x404 + 0x20 * index) } else { None }
        }

        /// `trTeFilterMatchChoicePrivilege`: A bit for each level.
        #[must_use]
        pub const fn filter_match_choice_privilege(self) -> u32 {
            get(self.0, 0, 8)
        }

        /// With another `trTeFilterMatchChoicePrivilege`.
        #[must_use]
        pub const fn with_filter_match_choice_privilege(self, value: u32) -> Self {
            Self(set(self.0, 0, 8, value))
        }

        /// `trTeFilterMatchValueInterrupt`: exceptions.
        pub const FILTER_MATCH_VALUE_INTERRUPT_EXCEPTION: bool = false;

        /// `trTeFilterMatchValueInterrupt`: interrupts.
        pub const FILTER_MATCH_VALUE_INTERRUPT_INTERRUPT: bool = true;

        /// `trTeFilterMatchValueInterrupt`: The kind of traps.
        #[must_use]
        pub const fn filter_match_value_interrupt(self) -> bool {
            get(self.0, 8, 1) == 1
        }

        /// With another `trTeFilterMatchValueInterrupt`.
        #[must_use]
        pub const fn with_filter_match_value_interrupt(self, value: bool) -> Self {
            Self(set(self.0, 8, 1, value as u32))
        }
    }

    /// `trTeFilterMatchEcauseLow`: The causes of traps that a filter asks for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrTeFilterMatchEcauseLow(pub u32);

    impl TrTeFilterMatchEcauseLow {
        /// How many there are at most.
        pub const COUNT: u32 = 8;

        /// Where number `index` is.
        #[must_use]
        pub const fn offset(index: u32) -> Option<u32> {
            if index < Self::COUNT { Some(0x408 + 0x20 * index) } else { None }
        }

        /// `trTeFilterMatchChoiceEcauseLow`: A bit for each of causes 0 to 31.
        #[must_use]
        pub const fn filter_match_choice_ecause_low(self) -> u32 {
            get(self.0, 0, 32)
        }

        /// With another `trTeFilterMatchChoiceEcauseLow`.
        #[must_use]
        pub const fn with_filter_match_choice_ecause_low(self, value: u32) -> Self {
            Self(set(self.0, 0, 32, value))
        }
    }

    /// `trTeFilterMatchEcauseHigh`: The causes of traps that a filter asks for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrTeFilterMatchEcauseHigh(pub u32);

    impl TrTeFilterMatchEcauseHigh {
        /// How many there are at most.
        pub const COUNT: u32 = 8;

        /// Where number `index` is.
        #[must_use]
        pub const fn offset(index: u32) -> Option<u32> {
            if index < Self::COUNT { Some(0x40c + 0x20 * index) } else { None }
        }

        /// `trTeFilterMatchChoiceEcauseHigh`: A bit for each of causes 32 to 63.
        #[must_use]
        pub const fn filter_match_choice_ecause_high(self) -> u32 {
            get(self.0, 0, 32)
        }

        /// With another `trTeFilterMatchChoiceEcauseHigh`.
        #[must_use]
        pub const fn with_filter_match_choice_ecause_high(self, value: u32) -> Self {
            Self(set(self.0, 0, 32, value))
        }
    }

    /// `trTeCompControl`: What a comparator compares.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrTeCompControl(pub u32);

    impl TrTeCompControl {
        /// How many there are at most.
        pub const COUNT: u32 = 8;

        /// Where number `index` is.
        #[must_use]
        pub const fn offset(index: u32) -> Option<u32> {
            if index < Self::COUNT { Some(0x600 + 0x20 * index) } else { None }
        }

        /// `trTeCompPInput`: the address of instructions.
        pub const COMP_P_INPUT_IADDR: u32 = 0;

        /// `trTeCompPInput`: the context.
        pub const COMP_P_INPUT_CONTEXT: u32 = 1;

        /// `trTeCompPInput`: the value of a trap.
        pub const COMP_P_INPUT_TVAL: u32 = 2;

        /// `trTeCompPInput`: What is compared first.
        #[must_use]
        pub const fn comp_p_input(self) -> u32 {
            get(self.0, 0, 2)
        }

        /// `trTeCompSInput`: the address of instructions.
        pub const COMP_S_INPUT_IADDR: u32 = 0;

        /// `trTeCompSInput`: the context.
        pub const COMP_S_INPUT_CONTEXT: u32 = 1;

        /// `trTeCompSInput`: the value of a trap.
        pub const COMP_S_INPUT_TVAL: u32 = 2;

        /// `trTeCompSInput`: What is compared second.
        #[must_use]
        pub const fn comp_s_input(self) -> u32 {
            get(self.0, 2, 2)
        }

        /// `trTeCompPFunction`: it is at least the value.
        pub const COMP_P_FUNCTION_GREATER_OR_EQUAL: u32 = 5;

        /// `trTeCompPFunction`: How the first is compared.
        #[must_use]
        pub const fn comp_p_function(self) -> u32 {
            get(self.0, 4, 3)
        }

        /// `trTeCompSFunction`: it is at most the value.
        pub const COMP_S_FUNCTION_LESS_OR_EQUAL: u32 = 3;

        /// `trTeCompSFunction`: How the second is compared.
        #[must_use]
        pub const fn comp_s_function(self) -> u32 {
            get(self.0, 8, 3)
        }

        /// `trTeCompMatchMode`: both have to hold.
        pub const COMP_MATCH_MODE_BOTH: u32 = 1;

        /// `trTeCompMatchMode`: How they are combined.
        #[must_use]
        pub const fn comp_match_mode(self) -> u32 {
            get(self.0, 12, 2)
        }

        /// `trTeCompPNotify`: The first is reported.
        #[must_use]
        pub const fn comp_p_notify(self) -> bool {
            get(self.0, 14, 1) == 1
        }

        /// `trTeCompSNotify`: The second is reported.
        #[must_use]
        pub const fn comp_s_notify(self) -> bool {
            get(self.0, 15, 1) == 1
        }
    }

    /// `trTeCompPmatchLow`: The first value of a range.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrTeCompPmatchLow(pub u32);

    impl TrTeCompPmatchLow {
        /// How many there are at most.
        pub const COUNT: u32 = 8;

        /// Where number `index` is.
        #[must_use]
        pub const fn offset(index: u32) -> Option<u32> {
            if index < Self::COUNT { Some(0x610 + 0x20 * index) } else { None }
        }

        /// `trTeCompPMatchLow`: Bits 31 to 0. Bits that addresses or the context do not have read
        /// as 0.
        #[must_use]
        pub const fn comp_p_match_low(self) -> u32 {
            get(self.0, 0, 32)
        }

        /// With another `trTeCompPMatchLow`.
        #[must_use]
        pub const fn with_comp_p_match_low(self, value: u32) -> Self {
            Self(set(self.0, 0, 32, value))
        }
    }

    /// `trTeCompPmatchHigh`: The first value of a range.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrTeCompPmatchHigh(pub u32);

    impl TrTeCompPmatchHigh {
        /// How many there are at most.
        pub const COUNT: u32 = 8;

        /// Where number `index` is.
        #[must_use]
        pub const fn offset(index: u32) -> Option<u32> {
            if index < Self::COUNT { Some(0x614 + 0x20 * index) } else { None }
        }

        /// `trTeCompPMatchHigh`: Bits 63 to 32. Bits that addresses or the context do not have read
        /// as 0.
        #[must_use]
        pub const fn comp_p_match_high(self) -> u32 {
            get(self.0, 0, 32)
        }

        /// With another `trTeCompPMatchHigh`.
        #[must_use]
        pub const fn with_comp_p_match_high(self, value: u32) -> Self {
            Self(set(self.0, 0, 32, value))
        }
    }

    /// `trTeCompSmatchLow`: The last value of a range.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrTeCompSmatchLow(pub u32);

    impl TrTeCompSmatchLow {
        /// How many there are at most.
        pub const COUNT: u32 = 8;

        /// Where number `index` is.
        #[must_use]
        pub const fn offset(index: u32) -> Option<u32> {
            if index < Self::COUNT { Some(0x618 + 0x20 * index) } else { None }
        }

        /// `trTeCompSMatchLow`: Bits 31 to 0. Bits that addresses or the context do not have read
        /// as 0.
        #[must_use]
        pub const fn comp_s_match_low(self) -> u32 {
            get(self.0, 0, 32)
        }

        /// With another `trTeCompSMatchLow`.
        #[must_use]
        pub const fn with_comp_s_match_low(self, value: u32) -> Self {
            Self(set(self.0, 0, 32, value))
        }
    }

    /// `trTeCompSmatchHigh`: The last value of a range.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrTeCompSmatchHigh(pub u32);

    impl TrTeCompSmatchHigh {
        /// How many there are at most.
        pub const COUNT: u32 = 8;

        /// Where number `index` is.
        #[must_use]
        pub const fn offset(index: u32) -> Option<u32> {
            if index < Self::COUNT { Some(0x61c + 0x20 * index) } else { None }
        }

        /// `trTeCompSMatchHigh`: Bits 63 to 32. Bits that addresses or the context do not have read
        /// as 0.
        #[must_use]
        pub const fn comp_s_match_high(self) -> u32 {
            get(self.0, 0, 32)
        }

        /// With another `trTeCompSMatchHigh`.
        #[must_use]
        pub const fn with_comp_s_match_high(self, value: u32) -> Self {
            Self(set(self.0, 0, 32, value))
        }
    }

    /// `hartraceTeStatus`: What the specification has no place for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct HartraceTeStatus(pub u32);

    impl HartraceTeStatus {
        /// Where it is.
        pub const OFFSET: u32 = 0xe00;

        /// `hartraceTeDropped`: Packets were thrown away, because 0 was written to `trTeActive`
        /// twice. Until 1 is written or `trTeEnable` is set.
        #[must_use]
        pub const fn dropped(self) -> bool {
            get(self.0, 0, 1) == 1
        }

        /// With another `hartraceTeDropped`.
        #[must_use]
        pub const fn with_dropped(self, value: bool) -> Self {
            Self(set(self.0, 0, 1, value as u32))
        }
    }
}

/// Trace RAM sink.
pub mod ram_sink {
    use super::{get, set};

    /// `trRamControl`: Switches the sink on and off.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrRamControl(pub u32);

    impl TrRamControl {
        /// Where it is.
        pub const OFFSET: u32 = 0x000;

        /// `trRamActive`: Switches the sink on. While this reads as 0, the sink is in reset, and so
        /// are its other registers: they cannot be written. A write that sets this sets nothing
        /// else.
        #[must_use]
        pub const fn active(self) -> bool {
            get(self.0, 0, 1) == 1
        }

        /// With another `trRamActive`.
        #[must_use]
        pub const fn with_active(self, value: bool) -> Self {
            Self(set(self.0, 0, 1, value as u32))
        }

        /// `trRamEnable`: The sink is in use. It cannot be set while `hartraceRamOutside` is 1.
        /// Clearing it flushes what waits. A write that memory refuses clears it, and with
        /// `trRamStopOnWrap` a full buffer.
        #[must_use]
        pub const fn enable(self) -> bool {
            get(self.0, 1, 1) == 1
        }

        /// With another `trRamEnable`.
        #[must_use]
        pub const fn with_enable(self, value: bool) -> Self {
            Self(set(self.0, 1, 1, value as u32))
        }

        /// `trRamEmpty`: Everything is in memory.
        #[must_use]
        pub const fn empty(self) -> bool {
            get(self.0, 3, 1) == 1
        }

        /// `trRamMode`: to system memory.
        pub const MODE_SMEM: bool = true;

        /// `trRamMode`: Where trace goes.
        #[must_use]
        pub const fn mode(self) -> bool {
            get(self.0, 4, 1) == 1
        }

        /// `trRamStopOnWrap`: When the buffer is full, the sink stops.
        #[must_use]
        pub const fn stop_on_wrap(self) -> bool {
            get(self.0, 8, 1) == 1
        }

        /// With another `trRamStopOnWrap`.
        #[must_use]
        pub const fn with_stop_on_wrap(self, value: bool) -> Self {
            Self(set(self.0, 8, 1, value as u32))
        }

        /// `trRamMemFormat`: bytes of trace.
        pub const MEM_FORMAT_BYTES: u32 = 0;

        /// `trRamMemFormat`: What memory holds.
        #[must_use]
        pub const fn mem_format(self) -> u32 {
            get(self.0, 9, 2)
        }

        /// `trRamAsyncFreq`: How often a run of null packets is put in, from which a reader can
        /// start in a buffer that has wrapped. 0: never. Otherwise at least one in 2^(n + 7) bytes
        /// (D21).
        #[must_use]
        pub const fn async_freq(self) -> u32 {
            get(self.0, 12, 3)
        }

        /// With another `trRamAsyncFreq`.
        #[must_use]
        pub const fn with_async_freq(self, value: u32) -> Self {
            Self(set(self.0, 12, 3, value))
        }
    }

    /// `trRamImpl`: What this is.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrRamImpl(pub u32);

    impl TrRamImpl {
        /// Where it is.
        pub const OFFSET: u32 = 0x004;

        /// `trRamVerMajor`: Major version of these registers.
        #[must_use]
        pub const fn ver_major(self) -> u32 {
            get(self.0, 0, 4)
        }

        /// `trRamVerMinor`: Minor version of these registers.
        #[must_use]
        pub const fn ver_minor(self) -> u32 {
            get(self.0, 4, 4)
        }

        /// `trRamCompType`: Kind of the component.
        #[must_use]
        pub const fn comp_type(self) -> u32 {
            get(self.0, 8, 4)
        }

        /// `trRamHasSRAM`: The sink has memory of its own.
        #[must_use]
        pub const fn has_sram(self) -> bool {
            get(self.0, 12, 1) == 1
        }

        /// `trRamHasSMEM`: The sink can write to system memory.
        #[must_use]
        pub const fn has_smem(self) -> bool {
            get(self.0, 13, 1) == 1
        }
    }

    /// `trRamStartLow`: The first word of the buffer.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrRamStartLow(pub u32);

    impl TrRamStartLow {
        /// Where it is.
        pub const OFFSET: u32 = 0x010;

        /// `trRamStartLow`: Bits 31 to 2 of its address. Bits below a word cannot be written.
        #[must_use]
        pub const fn start_low(self) -> u32 {
            get(self.0, 2, 30)
        }

        /// With another `trRamStartLow`.
        #[must_use]
        pub const fn with_start_low(self, value: u32) -> Self {
            Self(set(self.0, 2, 30, value))
        }
    }

    /// `trRamStartHigh`: The first word of the buffer.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrRamStartHigh(pub u32);

    impl TrRamStartHigh {
        /// Where it is.
        pub const OFFSET: u32 = 0x014;

        /// `trRamStartHigh`: Bits 63 to 32 of its address.
        #[must_use]
        pub const fn start_high(self) -> u32 {
            get(self.0, 0, 32)
        }

        /// With another `trRamStartHigh`.
        #[must_use]
        pub const fn with_start_high(self, value: u32) -> Self {
            Self(set(self.0, 0, 32, value))
        }
    }

    /// `trRamLimitLow`: The last word of the buffer.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrRamLimitLow(pub u32);

    impl TrRamLimitLow {
        /// Where it is.
        pub const OFFSET: u32 = 0x018;

        /// `trRamLimitLow`: Bits 31 to 2 of its address. Bits below a word cannot be written.
        #[must_use]
        pub const fn limit_low(self) -> u32 {
            get(self.0, 2, 30)
        }

        /// With another `trRamLimitLow`.
        #[must_use]
        pub const fn with_limit_low(self, value: u32) -> Self {
            Self(set(self.0, 2, 30, value))
        }
    }

    /// `trRamLimitHigh`: The last word of the buffer.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrRamLimitHigh(pub u32);

    impl TrRamLimitHigh {
        /// Where it is.
        pub const OFFSET: u32 = 0x01c;

        /// `trRamLimitHigh`: Bits 63 to 32 of its address.
        #[must_use]
        pub const fn limit_high(self) -> u32 {
            get(self.0, 0, 32)
        }

        /// With another `trRamLimitHigh`.
        #[must_use]
        pub const fn with_limit_high(self, value: u32) -> Self {
            Self(set(self.0, 0, 32, value))
        }
    }

    /// `trRamWPLow`: Where the next word goes. Writing it clears `trRamWrap`, `hartraceRamError`
    /// and `hartraceRamLost`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrRamWPLow(pub u32);

    impl TrRamWPLow {
        /// Where it is.
        pub const OFFSET: u32 = 0x020;

        /// `trRamWrap`: The buffer was full, and was continued at its start.
        #[must_use]
        pub const fn wrap(self) -> bool {
            get(self.0, 0, 1) == 1
        }

        /// `trRamWPLow`: Bits 31 to 2 of the address. Bits below a word cannot be written.
        #[must_use]
        pub const fn wp_low(self) -> u32 {
            get(self.0, 2, 30)
        }

        /// With another `trRamWPLow`.
        #[must_use]
        pub const fn with_wp_low(self, value: u32) -> Self {
            Self(set(self.0, 2, 30, value))
        }
    }

    /// `trRamWPHigh`: Where the next word goes. Writing it clears what writing `trRamWPLow` clears.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrRamWPHigh(pub u32);

    impl TrRamWPHigh {
        /// Where it is.
        pub const OFFSET: u32 = 0x024;

        /// `trRamWPHigh`: Bits 63 to 32 of the address.
        #[must_use]
        pub const fn wp_high(self) -> u32 {
            get(self.0, 0, 32)
        }

        /// With another `trRamWPHigh`.
        #[must_use]
        pub const fn with_wp_high(self, value: u32) -> Self {
            Self(set(self.0, 0, 32, value))
        }
    }

    /// `hartraceRamStatus`: What the specification has no place for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct HartraceRamStatus(pub u32);

    impl HartraceRamStatus {
        /// Where it is.
        pub const OFFSET: u32 = 0xe00;

        /// `hartraceRamError`: Memory refused a write since `trRamWPLow` was written.
        #[must_use]
        pub const fn error(self) -> bool {
            get(self.0, 0, 1) == 1
        }

        /// `hartraceRamLost`: Words were thrown away since `trRamWPLow` was written, because the
        /// sink was stopped or not enabled.
        #[must_use]
        pub const fn lost(self) -> bool {
            get(self.0, 1, 1) == 1
        }

        /// `hartraceRamOutside`: `trRamWP` is not in the buffer, so the sink cannot be enabled.
        #[must_use]
        pub const fn outside(self) -> bool {
            get(self.0, 2, 1) == 1
        }

        /// `hartraceRamFill`: How many bytes of the word before `trRamWP` are trace.
        #[must_use]
        pub const fn fill(self) -> u32 {
            get(self.0, 8, 8)
        }
    }
}

/// ATB bridge.
pub mod atb_bridge {
    use super::{get, set};

    /// `trAtbBridgeControl`: Switches the bridge on and off.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrAtbBridgeControl(pub u32);

    impl TrAtbBridgeControl {
        /// Where it is.
        pub const OFFSET: u32 = 0x000;

        /// `trAtbBridgeActive`: Switches the bridge on. While this reads as 0, the bridge is in
        /// reset, and so are its other fields: they cannot be written. A write that sets this sets
        /// nothing else.
        #[must_use]
        pub const fn active(self) -> bool {
            get(self.0, 0, 1) == 1
        }

        /// With another `trAtbBridgeActive`.
        #[must_use]
        pub const fn with_active(self, value: bool) -> Self {
            Self(set(self.0, 0, 1, value as u32))
        }

        /// `trAtbBridgeEnable`: The bridge is in use. Clearing it flushes what waits.
        #[must_use]
        pub const fn enable(self) -> bool {
            get(self.0, 1, 1) == 1
        }

        /// With another `trAtbBridgeEnable`.
        #[must_use]
        pub const fn with_enable(self, value: bool) -> Self {
            Self(set(self.0, 1, 1, value as u32))
        }

        /// `trAtbBridgeEmpty`: Everything has left.
        #[must_use]
        pub const fn empty(self) -> bool {
            get(self.0, 3, 1) == 1
        }

        /// `trAtbBridgeID`: ATID of the trace. ATB reserves 0x00 and 0x70 to 0x7f; they are not
        /// refused.
        #[must_use]
        pub const fn id(self) -> u32 {
            get(self.0, 8, 7)
        }

        /// With another `trAtbBridgeID`.
        #[must_use]
        pub const fn with_id(self, value: u32) -> Self {
            Self(set(self.0, 8, 7, value))
        }
    }

    /// `trAtbBridgeImpl`: What this is.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TrAtbBridgeImpl(pub u32);

    impl TrAtbBridgeImpl {
        /// Where it is.
        pub const OFFSET: u32 = 0x004;

        /// `trAtbBridgeVerMajor`: Major version of these registers.
        #[must_use]
        pub const fn ver_major(self) -> u32 {
            get(self.0, 0, 4)
        }

        /// `trAtbBridgeVerMinor`: Minor version of these registers.
        #[must_use]
        pub const fn ver_minor(self) -> u32 {
            get(self.0, 4, 4)
        }

        /// `trAtbBridgeCompType`: Kind of the component.
        #[must_use]
        pub const fn comp_type(self) -> u32 {
            get(self.0, 8, 4)
        }

        /// `trAtbBridgeAsyncFreq`: How often alignment packets are put in: never.
        #[must_use]
        pub const fn async_freq(self) -> u32 {
            get(self.0, 12, 3)
        }
    }
}
