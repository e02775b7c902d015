use crate::field_names::field_names;
use crate::{History, Mode, Params, Unit};

/// The payload formats, named by format and subformat.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Format 0, subformat 0: count of correctly predicted branches.
    BranchCount,
    /// Format 0, subformat 1: jump target cache index.
    JumpTarget,
    /// Format 1: branch map.
    Branch,
    /// Format 2: address.
    Address,
    /// Format 3, subformat 0: start or resynchronisation.
    Start,
    /// Format 3, subformat 1: trap.
    Trap,
    /// Format 3, subformat 2: context.
    Context,
    /// Format 3, subformat 3: support.
    Support,
    /// Format 0, subformat 2: records of history prediction, which the specification does not have.
    History,
}

impl Format {
    /// Every format: those of the specification in order of [`Format::code`], and the extension.
    pub const ALL: [Self; 9] = [
        Self::BranchCount,
        Self::JumpTarget,
        Self::Branch,
        Self::Address,
        Self::Start,
        Self::Trap,
        Self::Context,
        Self::Support,
        Self::History,
    ];

    /// The formats of the specification, in order of [`Format::code`].
    pub const STANDARD: [Self; 8] = {
        let [standard @ .., _] = Self::ALL;
        standard
    };

    /// `format` and `subformat` as listings print them.
    pub const fn code(self) -> &'static str {
        match self {
            Self::BranchCount => "0.0",
            Self::JumpTarget => "0.1",
            Self::Branch => "1",
            Self::Address => "2",
            Self::Start => "3.0",
            Self::Trap => "3.1",
            Self::Context => "3.2",
            Self::Support => "3.3",
            Self::History => "0.2",
        }
    }

    /// A one-word name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BranchCount => "count",
            Self::JumpTarget => "index",
            Self::Branch => "branch",
            Self::Address => "address",
            Self::Start => "start",
            Self::Trap => "trap",
            Self::Context => "context",
            Self::Support => "support",
            Self::History => "history",
        }
    }

    /// Value of the format field.
    pub const fn format(self) -> u8 {
        match self {
            Self::BranchCount | Self::JumpTarget | Self::History => 0,
            Self::Branch => 1,
            Self::Address => 2,
            Self::Start | Self::Trap | Self::Context | Self::Support => 3,
        }
    }

    /// Value of the subformat field, where there is one.
    pub const fn subformat(self) -> Option<u8> {
        match self {
            Self::BranchCount | Self::Start => Some(0),
            Self::JumpTarget | Self::Trap => Some(1),
            Self::Context | Self::History => Some(2),
            Self::Support => Some(3),
            Self::Branch | Self::Address => None,
        }
    }
}

field_names! {
    /// A field of a payload, named as in the specification.
    FieldName:
    /// Packet format.
    Format = "format",
    /// Packet subformat.
    Subformat = "subformat",
    /// 0 if the address is a branch that was taken.
    Branch = "branch",
    /// Privilege level.
    Privilege = "privilege",
    /// Hart time.
    Time = "time",
    /// Context.
    Context = "context",
    /// Trap cause.
    Ecause = "ecause",
    /// The trap is an interrupt.
    Interrupt = "interrupt",
    /// The address is that of the trap handler.
    Thaddr = "thaddr",
    /// Instruction address, absolute or a difference.
    Address = "address",
    /// Trap value.
    Tval = "tval",
    /// Reported because of a notify trigger.
    Notify = "notify",
    /// Reported address follows an uninferable discontinuity and precedes a format 3 packet.
    Updiscon = "updiscon",
    /// irdepth is valid.
    Irreport = "irreport",
    /// Entries on the return stack, or nested call count.
    Irdepth = "irdepth",
    /// Number of branches in the map.
    Branches = "branches",
    /// Branch outcomes, oldest in bit 0; 0 = taken.
    BranchMap = "branch_map",
    /// Correctly predicted branches, minus 31.
    BranchCount = "branch_count",
    /// What follows a branch count.
    BranchFmt = "branch_fmt",
    /// Jump target cache index.
    Index = "index",
    /// Instruction trace is enabled.
    Ienable = "ienable",
    /// 0 = branch trace.
    EncoderMode = "encoder_mode",
    /// Why tracing started, stopped or was interrupted.
    QualStatus = "qual_status",
    /// Instruction trace modes.
    Ioptions = "ioptions",
    /// Data trace is enabled.
    Denable = "denable",
    /// Data trace was lost.
    Dloss = "dloss",
    /// Data trace modes.
    Doptions = "doptions",
    /// The packet ends after half_words, not where its records do.
    Stop = "stop",
    /// Half-words that retired in the packet.
    HalfWords = "half_words",
    /// Records of history prediction, and a near address.
    Records = "records",
}

/// How wide a field is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// Always this many bits.
    Bits(u8),
    /// [`branch_map_width`] of the branches field. With `none_if_empty`, zero branches means no map
    /// instead of a full one.
    BranchMap {
        /// Format 0.1: there is no map if branches is 0.
        none_if_empty: bool,
    },
    /// rv_tracer: `8k + 1` bits, as few as hold the value; a reader must infer `k` from the length
    /// of the payload.
    Chunked,
    /// The rest of the longest payload: [`History::RECORD_BITS`] bits, less those of half_words if the
    /// payload has them.
    Records,
}

/// When the payload contains a field.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Presence {
    /// In every payload of this format.
    Always,
    /// Only if branches is not 0.
    IfBranches,
    /// Only if branch_fmt announces an address.
    IfCountAddress,
    /// Not in implicit-exception mode if thaddr is 1.
    UnlessImplicit,
    /// Only if interrupt is 0.
    IfException,
    /// Only if stop is 1.
    IfStop,
}

/// One row of a payload's field table.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The name of the field.
    pub name: FieldName,
    /// How wide it is.
    pub width: Width,
    /// When the payload contains it.
    pub presence: Presence,
}

/// Width of the branch_map field for a value of the branches field (Spec: E-Trace 2.0, 7.7).
#[inline]
pub const fn branch_map_width(branches: u8) -> u8 {
    // 1, 3, 7, 15 or 31: as many ones as the number has binary digits. Computed without a jump,
    // which would be mispredicted since the number changes with every packet. 0 also means 31.
    match branches {
        0 | 32.. => 31,
        _ => u8::MAX.wrapping_shr(branches.leading_zeros()),
    }
}

const MAX_FIELDS: usize = 12;

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
struct Table {
    fields: [Field; MAX_FIELDS],
    len: usize,
}

impl Table {
    const fn new() -> Self {
        let unused =
            Field { name: FieldName::Format, width: Width::Bits(0), presence: Presence::Always };
        Self { fields: [unused; MAX_FIELDS], len: 0 }
    }

    /// Appends a field, unless it has no bits.
    fn push(&mut self, name: FieldName, width: Width, presence: Presence) {
        if width == Width::Bits(0) {
            return;
        }
        // The tests check MAX_FIELDS and would find a row that does not fit.
        if let Some(slot) = self.fields.get_mut(self.len) {
            *slot = Field { name, width, presence };
            self.len = self.len.saturating_add(1);
        }
    }

    fn bits(&mut self, name: FieldName, bits: u32) {
        self.push(name, Width::Bits(bits as u8), Presence::Always);
    }
}

/// The field table of every format for one parameter set and unit.
///
/// The codec of this crate and the hardware generator both work from it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    params: Params,
    unit: Unit,
    tables: [Table; Format::ALL.len()],
}

impl Layout {
    /// The parameters this table was made from.
    pub const fn params(&self) -> &Params {
        &self.params
    }

    /// The unit this table was made for.
    pub const fn unit(&self) -> Unit {
        self.unit
    }

    /// The fields of `format`, in transmission order; fields of no bits are left out.
    pub fn fields(&self, format: Format) -> &[Field] {
        self.tables.get(format as usize).and_then(|t| t.fields.get(..t.len)).unwrap_or_default()
    }

    /// The modes in the ioptions field, from bit 0 up.
    pub fn ioptions(&self) -> impl Iterator<Item = Mode> + use<> {
        let history = (self.params.hpred_size_p > 0).then_some(Mode::HistoryPrediction);
        self.unit.ioptions().iter().copied().chain(history)
    }

    /// Bits of the longest payload before compression.
    pub fn max_bits(&self) -> u32 {
        Format::ALL.iter().map(|f| self.max_format_bits(*f)).max().unwrap_or(0)
    }

    /// Bits of the longest payload of one format before compression.
    pub fn max_format_bits(&self, format: Format) -> u32 {
        self.fields(format)
            .iter()
            .map(|field| match field.width {
                Width::Bits(bits) => bits.into(),
                Width::BranchMap { .. } => 31,
                Width::Chunked => {
                    // A sign bit, or a zero above an absolute address; then round up to `8k + 1`.
                    let significant = u32::from(self.params.iaddress_width_p).saturating_add(1);
                    significant.div_ceil(8).min(8).saturating_mul(8).saturating_add(1)
                }
                // The field that is present only if stop is 1 takes its room.
                Width::Records => History::RECORD_BITS.saturating_sub(History::HALF_WORDS_BITS),
            })
            .fold(0, u32::saturating_add)
    }

    pub(crate) fn build(params: Params, unit: Unit) -> Self {
        let mut layout = Self { params, unit, tables: [Table::new(); Format::ALL.len()] };
        for (format, table) in Format::ALL.into_iter().zip(&mut layout.tables) {
            *table = build_table(&params, unit, format);
        }
        layout
    }
}

/// Spec: E-Trace 2.0, chapter 7, the field tables of each format.
fn build_table(params: &Params, unit: Unit, format: Format) -> Table {
    use FieldName as N;
    let mut t = Table::new();
    t.bits(N::Format, 2);
    match format {
        Format::BranchCount => {
            t.bits(N::Subformat, params.f0s_width_p.into());
            t.bits(N::BranchCount, 32);
            t.bits(N::BranchFmt, 2);
            address_report(&mut t, params, unit, Presence::IfCountAddress);
        }
        Format::JumpTarget => {
            t.bits(N::Subformat, params.f0s_width_p.into());
            t.bits(N::Index, params.cache_size_p.into());
            t.bits(N::Branches, 5);
            t.push(N::BranchMap, Width::BranchMap { none_if_empty: true }, Presence::Always);
            t.bits(N::Irreport, 1);
            t.bits(N::Irdepth, params.irdepth_bits());
        }
        Format::Branch => {
            t.bits(N::Branches, 5);
            t.push(N::BranchMap, Width::BranchMap { none_if_empty: false }, Presence::Always);
            address_report(&mut t, params, unit, Presence::IfBranches);
        }
        Format::Address => address_report(&mut t, params, unit, Presence::Always),
        Format::Start => {
            t.bits(N::Subformat, 2);
            t.bits(N::Branch, 1);
            machine_state(&mut t, params);
            t.push(N::Address, address_width(params, unit), Presence::Always);
        }
        Format::Trap => {
            t.bits(N::Subformat, 2);
            t.bits(N::Branch, 1);
            machine_state(&mut t, params);
            t.bits(N::Ecause, params.ecause_width_p.into());
            t.bits(N::Interrupt, 1);
            t.bits(N::Thaddr, 1);
            t.push(N::Address, address_width(params, unit), Presence::UnlessImplicit);
            let tval = match unit {
                Unit::RvTracer => Presence::Always,
                Unit::Reference | Unit::Hartrace => Presence::IfException,
            };
            t.push(N::Tval, Width::Bits(params.iaddress_width_p), tval);
        }
        Format::Context => {
            t.bits(N::Subformat, 2);
            machine_state(&mut t, params);
        }
        Format::Support => {
            t.bits(N::Subformat, 2);
            t.bits(N::Ienable, 1);
            t.bits(N::EncoderMode, unit.encoder_mode_bits().into());
            t.bits(N::QualStatus, 2);
            let history = u32::from(params.hpred_size_p > 0);
            t.bits(N::Ioptions, (unit.ioptions().len() as u32).saturating_add(history));
            if let Some(doptions) = unit.doptions_bits() {
                t.bits(N::Denable, 1);
                t.bits(N::Dloss, 1);
                t.bits(N::Doptions, doptions.into());
            }
        }
        // Without a predictor there is no such payload.
        Format::History if params.hpred_size_p > 0 => {
            t.bits(N::Subformat, params.f0s_width_p.into());
            t.bits(N::Stop, 1);
            let half_words = Width::Bits(History::HALF_WORDS_BITS as u8);
            t.push(N::HalfWords, half_words, Presence::IfStop);
            t.push(N::Records, Width::Records, Presence::Always);
        }
        Format::History => {}
    }
    t
}

fn machine_state(t: &mut Table, params: &Params) {
    t.bits(FieldName::Privilege, params.privilege_width_p.into());
    t.bits(FieldName::Time, params.time_bits());
    t.bits(FieldName::Context, params.context_bits());
}

fn address_report(t: &mut Table, params: &Params, unit: Unit, presence: Presence) {
    t.push(FieldName::Address, address_width(params, unit), presence);
    for name in [FieldName::Notify, FieldName::Updiscon, FieldName::Irreport] {
        t.push(name, Width::Bits(1), presence);
    }
    t.push(FieldName::Irdepth, Width::Bits(params.irdepth_bits() as u8), presence);
}

fn address_width(params: &Params, unit: Unit) -> Width {
    match unit {
        Unit::Reference | Unit::Hartrace => Width::Bits(params.address_bits() as u8),
        Unit::RvTracer => Width::Chunked,
    }
}
