//! What the encoder keeps between steps, apart from the pipeline.

use crate::Encoded;
use crate::history::Packet;
use crate::send::Report;
use crate::tables::{Cache, Predictor, Returns};
use hartrace_etrace::encoder::{EncoderConfig, Reason, Resync};
use hartrace_etrace::{BranchMap, Compat, Ioptions, Packer, Params, ParamsError, Unit};

/// Progress towards a resynchronisation (chapter 9, resync state machine).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResyncState {
    Counting,
    /// Due: report what is pending.
    Flush,
    /// Synchronise.
    Sync,
}

/// A place past which a decoder must be led before it can distinguish later visits of an address
/// (D1).
#[derive(Copy, Clone, Debug)]
struct Mark {
    row: u64,
    address: u64,
    depth: u32,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) params: Params,
    pub(crate) unit: Unit,
    pub(crate) options: Ioptions,
    pub(crate) compat: Compat,
    /// Whether anybody will ask the predictor.
    trains: bool,
    pub(crate) sync_on_unretired: bool,
    return_marks: usize,
    pub(crate) packer: Packer,
    pub(crate) address_mask: u64,
    /// Branches not yet reported; the map holds the first 31.
    pub(crate) branches: u64,
    pub(crate) map: u32,
    /// How many of them had the predicted outcome (`pbc`).
    pub(crate) correct: u64,
    pub(crate) predictor: Predictor,
    pub(crate) cache: Cache,
    pub(crate) returns: Returns,
    /// Returns popped since the last branch, payload or mark.
    pub(crate) irets: u64,
    /// Calls since the last branch or payload that follow a popped return (D1).
    marks: Vec<Mark>,
    /// Room for those that are being reported.
    reporting: Vec<Mark>,
    pub(crate) last_address: u64,
    pub(crate) resync: Counter,
    pub(crate) resync_state: ResyncState,
    /// The last payload reported the target of a discontinuity without the updiscon flag, so a
    /// decoder does not yet know which visit it is.
    pub(crate) open_updiscon: bool,
    /// The last payload would also have been sent if tracing had continued.
    pub(crate) last_was_due: bool,
    pub(crate) context_pending: bool,
    pub(crate) losing: bool,
    pub(crate) announce_loss: bool,
    /// History prediction.
    pub(crate) history: Packet,
}

/// Counts towards a resynchronisation. The masks select what counts.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Counter {
    pub(crate) count: u64,
    /// `u64::MAX` if there is none.
    pub(crate) max: u64,
    packets: u64,
    cycles: u64,
    half_words: u64,
}

impl Counter {
    fn new(resync: Resync) -> Self {
        let (max, [packets, cycles, half_words]) = match resync {
            Resync::Off => (u64::MAX, [0; 3]),
            Resync::Packets(max) => (max, [u64::MAX, 0, 0]),
            Resync::Cycles(max) => (max, [0, u64::MAX, 0]),
            Resync::HalfWords(max) => (max, [0, 0, u64::MAX]),
        };
        Self { count: 0, max, packets, cycles, half_words }
    }

    #[inline]
    pub(crate) fn step(&mut self, cycles: u32, half_words: u32) {
        let counted = u64::from(cycles) & self.cycles | u64::from(half_words) & self.half_words;
        self.count = self.count.saturating_add(counted);
    }

    #[inline]
    pub(crate) fn packet(&mut self) {
        self.count = self.count.saturating_add(1 & self.packets);
    }

    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.count >= self.max && self.max != u64::MAX
    }

    /// The same where it is known not to become due.
    #[inline]
    pub(crate) fn calm_step(&mut self, cycles: u64, half_words: u64) {
        let counted = cycles & self.cycles | half_words & self.half_words;
        self.count = self.count.wrapping_add(counted);
    }

    /// Whether blocks that send nothing bring it no nearer.
    #[inline]
    pub(crate) fn ignores_blocks(&self) -> bool {
        self.cycles | self.half_words == 0
    }

    /// Whether it may become due within so much.
    #[inline]
    pub(crate) fn is_near(&self, packets: u64, cycles: u64, half_words: u64) -> bool {
        let more = packets & self.packets | cycles & self.cycles | half_words & self.half_words;
        self.count.saturating_add(more) >= self.max
    }
}

impl State {
    pub(crate) fn new(config: &EncoderConfig) -> Result<Self, ParamsError> {
        let params = config.params;
        let layout = params.layout(config.unit)?;
        let width = u32::from(params.iaddress_width_p);
        Ok(Self {
            params,
            unit: config.unit,
            options: config.options,
            compat: config.compat,
            trains: trains(config.options, config.compat),
            sync_on_unretired: config.sync_on_unretired,
            return_marks: config.return_marks,
            packer: Packer::new(layout, config.compat),
            history: Packet::new(params.hpred_size_p),
            address_mask: mask(width),
            branches: 0,
            map: 0,
            correct: 0,
            predictor: Predictor::new(&params),
            cache: Cache::new(&params),
            returns: Returns::new(&params, config.compat == Compat::CModel),
            irets: 0,
            marks: Vec::new(),
            reporting: Vec::new(),
            last_address: 0,
            resync: Counter::new(config.resync),
            resync_state: ResyncState::Counting,
            open_updiscon: false,
            last_was_due: false,
            context_pending: false,
            losing: false,
            announce_loss: false,
        })
    }

    /// Switches modes.
    pub(crate) fn set_options(&mut self, options: Ioptions) {
        self.options = options;
        self.trains = trains(options, self.compat);
    }

    /// Forgets everything that has not been reported.
    pub(crate) fn clear(&mut self) {
        self.reported();
        self.context_pending = false;
        self.resync_state = ResyncState::Counting;
    }

    /// Forgets earlier returns: a branch or a payload shows a decoder where it is.
    #[inline]
    pub(crate) fn forget_returns(&mut self) {
        self.irets = 0;
        self.marks.clear();
    }

    /// Records a branch. Returns whether it was mispredicted.
    #[inline]
    pub(crate) fn branch(&mut self, address: u64, taken: bool) -> bool {
        if self.branches < 31 {
            self.map |= u32::from(!taken) << self.branches;
        }
        self.branches += 1;
        if !self.trains {
            return false;
        }
        let predicted = self.predictor.predict(address) == taken;
        self.correct += u64::from(self.options.branch_prediction && predicted);
        !predicted
    }

    /// Trains the predictor, and forgets returns: a branch shows a decoder where it is.
    #[inline]
    pub(crate) fn branched(&mut self, address: u64, taken: bool) {
        if self.trains {
            self.predictor.learn(address, taken);
        }
        self.forget_returns();
    }

    /// Takes back the last recorded branch.
    fn unbranch(&mut self, mispredicted: bool) {
        self.branches = self.branches.saturating_sub(1);
        if self.branches < 31 {
            self.map &= !(1 << self.branches);
        }
        let counted = self.options.branch_prediction && !mispredicted;
        self.correct = self.correct.saturating_sub(counted.into());
    }

    #[inline]
    pub(crate) fn branch_map(&self) -> BranchMap {
        BranchMap::new(self.branches.min(31) as u8, self.map).unwrap_or_default()
    }

    /// Whether the pending branches are reported as a count (7.8): once there are more than 31 of
    /// them, and all but perhaps the last were predicted.
    #[inline]
    pub(crate) fn counting(&self) -> bool {
        self.branches > 31
    }

    pub(crate) fn branch_count(&self) -> u32 {
        self.correct.saturating_sub(31).min(u32::MAX.into()) as u32
    }

    /// Whether the counter has no room for one more correct prediction.
    #[inline]
    pub(crate) fn count_is_full(&self) -> bool {
        self.counting() && self.correct.saturating_sub(31) >= u32::MAX.into()
    }

    /// Whether 31 branches or a misprediction must be reported now (`rpt_br`).
    #[inline]
    pub(crate) fn must_report_branches(&self, mispredicted: bool) -> bool {
        self.branches >= 31
            && (self.branches == 31 && self.correct < 31 || self.counting() && mispredicted)
    }

    /// Remembers a call that raises the depth again after a popped return (D1).
    #[inline]
    pub(crate) fn mark<S: FnMut(Encoded<'_>)>(&mut self, row: u64, address: u64, out: &mut S) {
        if self.irets == 0 {
            return;
        }
        if self.marks.len() >= self.return_marks {
            self.report_marks(address, None, false, out);
        }
        self.marks.push(Mark { row, address, depth: self.returns.depth() });
        self.irets = 0;
    }

    pub(crate) fn mark_count(&self) -> usize {
        self.marks.len()
    }

    /// Reports the marks, so that a decoder can follow the current stretch unambiguously (D1).
    /// `branch` is the outcome of the current instruction if it is a branch; it comes after the
    /// marks.
    #[inline]
    pub(crate) fn report_marks<S: FnMut(Encoded<'_>)>(
        &mut self,
        address: u64,
        branch: Option<bool>,
        mispredicted: bool,
        out: &mut S,
    ) {
        if !self.marks.is_empty() {
            self.report_some_marks(address, branch, mispredicted, out);
        }
    }

    #[cold]
    fn report_some_marks<S: FnMut(Encoded<'_>)>(
        &mut self,
        address: u64,
        branch: Option<bool>,
        mispredicted: bool,
        out: &mut S,
    ) {
        let irets = self.irets;
        if branch.is_some() {
            self.unbranch(mispredicted);
        }
        let room = std::mem::take(&mut self.reporting);
        let mut marks = std::mem::replace(&mut self.marks, room);
        for Mark { row, address, depth } in marks.drain(..) {
            // The notify flag says that this address is not the target of a discontinuity.
            let report = Report { notify: true, irdepth: Some(depth), ..Report::default() };
            self.address(row, address, report, Reason::CallAfterReturn, out);
        }
        self.reporting = marks;
        if let Some(taken) = branch {
            self.branch(address, taken);
        }
        self.irets = irets;
    }

    /// Updates the state after formats 0, 1 and 2.
    #[inline]
    pub(crate) fn reported(&mut self) {
        self.branches = 0;
        self.map = 0;
        self.correct = 0;
        self.forget_returns();
        self.open_updiscon = false;
        self.last_was_due = false;
    }

    /// Resets what formats 3.0 and 3.1 reset (chapter 9; 3.2.5 to 3.2.7).
    pub(crate) fn synchronised(&mut self) {
        self.reported();
        self.context_pending = false;
        self.resync.count = 0;
        self.resync_state = ResyncState::Counting;
        self.returns.reset();
        self.cache.reset();
        if self.compat != Compat::CModel {
            self.predictor.reset();
        }
    }

    /// Whether a synchronisation at the next step would lose something.
    ///
    /// The text mentions pending branches. Implicit returns are lost too, since format 3 has no
    /// irdepth to distinguish the visits of a recursive function (D1); and so is a reported target
    /// that a decoder may still take for an earlier visit of the same address (D5).
    pub(crate) fn must_flush(&self) -> bool {
        self.branches > 0 || self.irets > 0 || !self.marks.is_empty() || self.open_updiscon
    }
}

/// Whether the predictor must be trained. The tracing that starts with its mode also resets it, but not in
/// the C model (C5).
fn trains(options: Ioptions, compat: Compat) -> bool {
    options.branch_prediction || compat == Compat::CModel
}

/// The lowest `width` bits.
pub(crate) fn mask(width: u32) -> u64 {
    1u64.checked_shl(width).map_or(u64::MAX, |above| above.wrapping_sub(1))
}
