//! The values that software writes to the control registers.

use crate::Setting;
use hartrace_encoder_hdl::registers::driver::te::{
    TrTeCompPmatchHigh, TrTeCompPmatchLow, TrTeCompSmatchHigh, TrTeCompSmatchLow, TrTeControl,
    TrTeFilterControl, TrTeFilterMatchInst, TrTeInstFeatures, TrTeInstFilters,
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
            .with_inst_trig_enable(triggers)
    }

    /// Returns the writes that configure the encoder of a hart and switch it on, starting from a reset of
    /// all registers: offsets in the page of the hart, and words.
    ///
    /// Ranges and privileges that exceed the filters and comparators of the registers are left out.
    #[must_use]
    pub fn writes(&self, triggers: bool) -> Vec<(u32, u32)> {
        let Self { privileges, ranges, .. } = self;
        let filters = ranges.len().max(usize::from(!privileges.is_empty())) as u32;
        let mut writes = vec![
            (TrTeControl::OFFSET, 0),
            (TrTeControl::OFFSET, TrTeControl::default().with_active(true).0),
            (TrTeInstFeatures::OFFSET, self.features().0),
            (TrTeInstFilters::OFFSET, (1 << filters) - 1),
        ];
        let levels = privileges.iter().fold(0, |mask, level| mask | 1 << level);
        let mut write = |offset: Option<u32>, word: u32| {
            writes.extend(offset.map(|offset| (offset, word)));
        };
        for i in 0..filters {
            let filter = TrTeFilterControl::default()
                .with_filter_enable(true)
                .with_filter_match_privilege(!privileges.is_empty())
                .with_filter_match_comp1(!ranges.is_empty());
            write(TrTeFilterControl::offset(i), filter.0);
            write(TrTeFilterMatchInst::offset(i), levels);
        }
        for (i, (first, last)) in (0..).zip(ranges) {
            write(TrTeCompPmatchLow::offset(i), *first as u32);
            write(TrTeCompPmatchHigh::offset(i), (first >> 32) as u32);
            write(TrTeCompSmatchLow::offset(i), *last as u32);
            write(TrTeCompSmatchHigh::offset(i), (last >> 32) as u32);
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
