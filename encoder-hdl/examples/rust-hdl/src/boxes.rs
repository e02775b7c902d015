//! Black boxes for `te_core` and `te_branch_map` of the configuration `small`, and for a FIFO.
//!
//! Written by `HARTRACE_BLESS=1 cargo test -p hartrace-rust-hdl --test declared`.

use crate::black_box;
use rust_hdl_core::prelude::*;

black_box! {
    /// The module `te_core`.
    pub struct TeCore {
        /// `clk_i`.
        in clk_i: Clock,
        /// `rst_ni`.
        in rst_ni: Bit,
        /// how the block ends
        in itype_i: Bits<6>,
        /// address of its first instruction
        in iaddr_i: Bits<128>,
        /// half-words retired
        in iretire_i: Bits<10>,
        /// its last instruction has 4 bytes
        in ilastsize_i: Bits<2>,
        /// of the trap
        in cause_i: Bits<5>,
        /// of the trap
        in tval_i: Bits<64>,
        /// privilege level
        in priv_i: Bits<2>,
        /// the hart is halted behind what retires
        in halted_i: Bit,
        /// the hart is reset behind what retires
        in reset_i: Bit,
        /// what retires is incomplete: some of it was lost on the way here
        in lost_i: Bit,
        /// nothing that retired while trace_o was set is still to come
        in drained_i: Bit,
        /// trace
        in enable_i: Bit,
        /// resynchronise: 0 never, 1 packets, 2 cycles, 3 half-words
        in resync_mode_i: Bits<2>,
        /// after 2^(max + 4) of them
        in resync_max_i: Bits<4>,
        /// the mode is on
        in full_address_i: Bit,
        /// levels that are traced, one bit each
        in privileges_i: Bits<4>,
        /// ranges that are in use; without any, all is traced
        in ranges_i: Bit,
        /// first address of each range
        in low_i: Bits<63>,
        /// last address of each range
        in high_i: Bits<63>,
        /// what retires is lost
        out lost_o: Bit,
        /// what retires from now on is traced
        out trace_o: Bit,
        /// tracing; configuration must not change
        out active_o: Bit,
        /// nothing is on its way
        out empty_o: Bit,
        /// `valid_o`.
        out valid_o: Bit,
        /// `ready_i`.
        in ready_i: Bit,
        /// a payload, first byte lowest
        out data_o: Bits<144>,
        /// its bytes
        out len_o: Bits<5>,
    }
}

black_box! {
    /// The module `te_branch_map`.
    pub struct TeBranchMap {
        /// `clk_i`.
        in clk_i: Clock,
        /// `rst_ni`.
        in rst_ni: Bit,
        /// there is a branch in the slot
        in branch_i: Bits<2>,
        /// and it goes into the map, or the packet
        in push_i: Bits<2>,
        /// it was not taken
        in not_taken_i: Bits<2>,
        /// the slot is behind the packet that is sent
        in cut_i: Bits<2>,
        /// they are taken over now
        in moves_i: Bit,
        /// a packet with all branches before the cut is sent
        in flush_i: Bit,
        /// outcomes for that packet; a set bit is a branch not taken
        out map_o: Bits<31>,
        /// their number
        out branches_o: Bits<5>,
        /// there are branches already
        out some_o: Bit,
        /// a branch in this slot has to be reported at once
        out must_o: Bits<2>,
    }
}

black_box! {
    /// The module `fifo_32x8`.
    pub struct Fifo32x8 {
        /// `clk_i`.
        in clk_i: Clock,
        /// `rst_ni`.
        in rst_ni: Bit,
        /// `valid_i`.
        in valid_i: Bit,
        /// `ready_o`.
        out ready_o: Bit,
        /// `data_i`.
        in data_i: Bits<32>,
        /// `valid_o`.
        out valid_o: Bit,
        /// `ready_i`.
        in ready_i: Bit,
        /// `data_o`.
        out data_o: Bits<32>,
        /// words within
        out usage_o: Bits<4>,
        /// `full_o`.
        out full_o: Bit,
    }
}
