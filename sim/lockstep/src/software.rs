//! The values that software writes to the control registers.

use crate::Setting;
use hartrace_encoder_hdl::Config;
use hartrace_encoder_hdl::registers::driver::te::{
    TrTeCompPmatchHigh, TrTeCompPmatchLow, TrTeCompSmatchHigh, TrTeCompSmatchLow, TrTeControl,
    TrTeFilterControl, TrTeFilterMatchEcauseHigh, TrTeFilterMatchEcauseLow, TrTeFilterMatchInst,
    TrTeInstFeatures, TrTeInstFilters,
};

impl Setting {
    /// Returns `trTeControl` with the encoder switched off; `triggers` selects whether triggers have an
    /// effect.
    #[must_use]
    pub fn control(&self, triggers: bool) -> TrTeControl {
        TrTeControl::default()
            .with_active(true)
            .with_inst_sync_mode(self.resync.0.into())
            .with_inst_sync_max(self.resync.1.into())
            .with_inst_stall_ena(self.stall)
            .with_inst_trig_enable(triggers)
    }

    /// Returns the writes that configure the encoder of a hart and switch it on, starting from a reset of
    /// all registers: offsets in the page of the hart, and words.
    ///
    /// What exceeds the filters and comparators of the registers is left out.
    #[must_use]
    pub fn writes(&self, config: &Config, triggers: bool) -> Vec<(u32, u32)> {
        let filters = self.filters.len() as u32;
        let mut writes = vec![
            (TrTeControl::OFFSET, 0),
            (TrTeControl::OFFSET, TrTeControl::default().with_active(true).0),
            (TrTeInstFeatures::OFFSET, self.features().0),
            (TrTeInstFilters::OFFSET, (1 << filters) - 1),
        ];
        let mut write = |offset: Option<u32>, word: u32| {
            writes.extend(offset.map(|offset| (offset, word)));
        };
        // Comparators of addresses have the first numbers, then those of trap values, then those of contexts.
        let tvals = u32::from(config.comparators);
        let contexts = tvals + u32::from(config.tval_comparators);
        for (i, asked) in (0..).zip(&self.filters) {
            let filter = TrTeFilterControl::default()
                .with_filter_enable(true)
                .with_filter_match_privilege(!asked.privileges.is_empty())
                .with_filter_match_ecause(!asked.causes.is_empty())
                .with_filter_match_interrupt(asked.interrupt.is_some())
                .with_filter_match_comp1(asked.range.is_some())
                .with_filter_match_comp2(asked.context.is_some())
                .with_filter_match_comp3(asked.tval.is_some());
            write(TrTeFilterControl::offset(i), filter.0);
            let levels = asked.privileges.iter().fold(0, |mask, level| mask | 1 << level);
            let matched = TrTeFilterMatchInst::default()
                .with_filter_match_choice_privilege(levels)
                .with_filter_match_value_interrupt(asked.interrupt == Some(true));
            write(TrTeFilterMatchInst::offset(i), matched.0);
            let causes = asked.causes.iter().fold(0u64, |mask, cause| mask | 1 << cause);
            if causes > 0 {
                write(TrTeFilterMatchEcauseLow::offset(i), causes as u32);
                write(TrTeFilterMatchEcauseHigh::offset(i), (causes >> 32) as u32);
            }
            let ranges = [(i, asked.range), (tvals + i, asked.tval), (contexts + i, asked.context)];
            for (number, range) in ranges {
                let Some((first, last)) = range else { continue };
                write(TrTeCompPmatchLow::offset(number), first as u32);
                write(TrTeCompPmatchHigh::offset(number), (first >> 32) as u32);
                write(TrTeCompSmatchLow::offset(number), last as u32);
                write(TrTeCompSmatchHigh::offset(number), (last >> 32) as u32);
            }
        }
        let on = self.control(triggers).with_enable(true).with_inst_tracing(!self.initially_off);
        writes.push((TrTeControl::OFFSET, on.with_enable(false).0));
        writes.push((TrTeControl::OFFSET, on.0));
        writes
    }

    fn features(&self) -> TrTeInstFeatures {
        let options = &self.options;
        TrTeInstFeatures::default()
            .with_inst_no_addr_diff(options.full_address)
            .with_inst_no_trap_addr(options.implicit_exception)
            .with_inst_en_sequential_jump(options.sequentially_inferred_jump)
            .with_inst_en_implicit_return(options.implicit_return)
            .with_inst_en_branch_prediction(options.branch_prediction)
            .with_inst_en_jump_target_cache(options.jump_target_cache)
    }
}
