//! TMBP: a branch predictor in the trace module, of which the decompressor has a copy; only mispredictions are sent.

mod emitter;
mod predictor;

use super::bits::{FieldsOut, Words};
use super::port::{BRANCH, Row};
use super::tables::Clear;
use super::{CompressorError, Widths};
use hartrace_etrace::ingress::IType;
use hartrace_rtl::{Component, Expr, Module, Outputs, Reg, concat, index_width, lit, ones, zero};
use predictor::TAG;

/// Bits of an address that tables keep, the lowest of which is zero and left out.
pub(super) const LOW: u32 = 20;

/// The lowest bit of a tag, counted from the lowest bit of an index.
const TAG_SHIFT: u32 = 6;

/// Sizes of the predictor, and widths of the records: those of the software model, and two that only hardware has.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Tmbp {
    /// Width of addresses, 32 or 64.
    pub xlen: u32,
    /// Number of two-bit counters for conditional branches, a power of two.
    pub entries: u32,
    /// Number of outcomes in the history.
    pub bhr_bits: u32,
    /// Number of return addresses, a power of two or 0.
    pub ras: u32,
    /// Number of targets of indirect branches, a power of two or 0.
    pub ibtb: u32,
    /// Ways of the target table, a power of two.
    pub ways: u32,
    /// The lowest address bit that indexes the tables.
    pub pc_shift: u32,
    /// Whether the path register takes the targets of indirect branches, not their addresses.
    pub path_targets: bool,
    /// Whether the whole target is sent if its upper bits were mispredicted, as in the source.
    pub whole_targets: bool,
    /// Widths for numbers of branches.
    pub branches: Widths,
    /// Widths for differences of targets.
    pub targets: Widths,
    /// Widths for numbers of instructions before a trap.
    pub instructions: Widths,
    /// Width of the counters of instructions and branches. When they are full, a record is sent that changes nothing:
    /// a trap that leads to where execution continues anyway.
    pub counter_bits: u32,
}

impl Tmbp {
    /// tTMBP: no table of targets.
    pub const TINY: Self = Self {
        xlen: 64,
        entries: 512,
        bhr_bits: 9,
        ras: 8,
        ibtb: 0,
        ways: 2,
        pc_shift: 4,
        path_targets: false,
        whole_targets: true,
        branches: Widths { size: 3, step: 1 },
        targets: Widths { size: 8, step: 6 },
        instructions: Widths { size: 2, step: 4 },
        counter_bits: 32,
    };
    /// sTMBP: 32 targets.
    pub const SMALL: Self = Self { ibtb: 32, ..Self::BASE };
    /// bTMBP: 64 targets.
    pub const BASE: Self = Self {
        ibtb: 64,
        branches: Widths { size: 3, step: 2 },
        targets: Widths { size: 12, step: 4 },
        ..Self::TINY
    };

    fn sets(&self) -> u32 {
        self.ibtb / self.ways
    }

    /// Low bits of an address that the predictor depends on.
    fn pc_bits(&self) -> u32 {
        let path = || self.pc_shift + TAG + TAG_SHIFT.max(index_width(self.sets()));
        let targets = if self.ibtb > 0 { path() } else { 0 };
        self.link_bits().max(targets).max(self.pc_shift + index_width(self.entries))
    }

    /// Low bits of the address behind an instruction that are needed.
    fn link_bits(&self) -> u32 {
        if self.ras > 0 { LOW } else { BRANCH }
    }

    fn check(&self) -> Result<(), CompressorError> {
        let Self { xlen, entries, bhr_bits, ras, ibtb, ways, pc_shift, counter_bits, .. } = *self;
        let power = |n: u32, most: u32| n.is_power_of_two() && (2..=most).contains(&n);
        let tables = power(entries, 1 << 16)
            && (1..=entries.ilog2()).contains(&bhr_bits)
            && (ras == 0 || power(ras, 256))
            && (ibtb == 0 || (ways.is_power_of_two() && ways <= 8 && power(ibtb / ways, 1 << 12)));
        let widths = [self.branches, self.targets, self.instructions];
        let records = widths.iter().all(Widths::is_good) && self.targets.size < xlen;
        match [32, 64].contains(&xlen)
            && tables
            && records
            && pc_shift <= 12
            && pc_shift + entries.ilog2() <= xlen
            && (8..=32).contains(&counter_bits)
        {
            true => Ok(()),
            false => Err(CompressorError(
                "TMBP: xlen is 32 or 64; entries is a power of two up to 65536, bhr_bits at least 1 and no more than \
                 index them, ras a power of two up to 256 or 0, ibtb a power of two or 0, with 1 to 8 ways and 2 to \
                 4096 sets; pc_shift is up to 12, widths have a size and step of 1 to 32, targets less than xlen, and \
                 counter_bits is 8 to 32",
            )),
        }
    }
}

/// The module `te_tmbp`.
///
/// # Errors
///
/// If there is no such predictor.
pub fn tmbp(config: &Tmbp) -> Result<Component, CompressorError> {
    config.check()?;
    let m = Module::new(
        "te_tmbp",
        "Compresses what retires, one instruction per cycle: sends the mispredictions of a branch predictor.\n\
         An instruction is looked at when the next one arrives, and with it where it leads.",
    )
    .clocked();
    let row = Row::new(&m, config.xlen);
    let stall_o = m.output("stall_o", 1, "what retires has to be held");
    let words = Words::new(&m);

    let clear =
        Clear::new(&m, [config.entries, config.ras, config.ibtb].into_iter().fold(2, u32::max));
    let take = m.wire("take", 1);
    let last = Last::new(&m, config, &row, &take);
    let Predicted { outcome, target, near } =
        predictions(&m, config, &last, (&take, &clear), &row.address);

    m.section(
        "Whether it was predicted, and where it leads. The predictor does not depend on this.",
    );
    let counts = m.let_("counts", &last.branch | &last.indirect);
    let missed = &last.branch & outcome.ne(&last.taken);
    let hit = m.let_("hit", &near & target.eq(row.address.slice(1, LOW - 1)));
    let wrong = missed | (&last.indirect & !hit);
    let seen = m.reg("seen", false);
    let see = |name: &str, value: &Expr| {
        let reg = m.reg_data(&format!("seen_{name}"), value.width(), &take);
        m.assign(&reg.d, value);
        reg.q
    };
    let (wrong, counts) = (see("wrong", &wrong), see("counts", &counts));
    let (ends, retires) = (see("trap", &last.trap), see("retires", &last.retires));
    let (jump, address) = (see("jump", &last.indirect), see("address", &row.address));
    let far = config.whole_targets.then(|| see("far", &!near));

    m.section(
        "Instructions and branches since the last record. A record is sent before they are full.",
    );
    let bits = config.counter_bits;
    let moves = m.wire("moves", 1);
    let records = m.wire("records", 1);
    let counter = |name: &str, by: &Expr| {
        let count = m.reg_en(name, zero(bits), &moves);
        let sum = m.let_(&format!("{name}_now"), &count.q + by.zext(bits));
        m.assign(&count.d, (!&records).gate(&sum));
        (count.q, sum)
    };
    let (instructions, instructions_now) = counter("instructions", &retires);
    let (_, branches_now) = counter("branches", &counts);
    let full = &retires & instructions.eq(ones(bits) - lit(bits, 1));
    let trap = m.let_("trap", ends | (full & !&wrong));
    m.assign(&records, &trap | wrong);

    m.section("A record waits here until all of its fields are chosen.");
    let waits = m.reg("record", false);
    m.assign(&moves, &seen.q & !(&waits.q & &records));
    let push = m.let_("push", &moves & records);
    let record = |name: &str, value: Expr| {
        let reg = m.reg_data(&format!("record_{name}"), value.width(), &push);
        m.assign(&reg.d, value);
        reg.q
    };
    let count = record("count", trap.mux(instructions_now, branches_now));
    let (is_jump, is_trap) = (record("jump", jump & !&trap), record("trap", trap));
    let address = record("address", address);
    let far = far.map(|far| record("far", far));
    let chosen = m.wire("field_taken", 1);
    let mut ports = vec![
        ("valid_i", &waits.q),
        ("trap_i", &is_trap),
        ("jump_i", &is_jump),
        ("count_i", &count),
        ("address_i", &address),
        ("ready_i", &chosen),
    ];
    ports.extend(far.as_ref().map(|far| ("far_i", far)));
    let fields = FieldsOut::of(&m.inst("i_emitter", &emitter::build(config), &ports));
    m.assign(&waits.d, &push | (&waits.q & !&fields.ready));
    m.assign(&stall_o, &clear.active | (&seen.q & !&moves));
    m.assign(&take, &row.works & !&stall_o);
    m.assign(&seen.d, &take | (&seen.q & !&moves));
    let rests = m.let_("rests", !&seen.q & !&waits.q & !&fields.valid);
    words.pack(&m, emitter::field_bits(config), (&fields, &chosen), &rests);
    Ok(m.finish())
}

/// The row before, which leads to the one that arrives. Before the first one it is a trap: the start of a trace is
/// encoded like one.
struct Last {
    branch: Expr,
    /// Whether it leads elsewhere: a branch to the instruction behind it is not taken, whatever it compares.
    taken: Expr,
    indirect: Expr,
    pops: Expr,
    trap: Expr,
    retires: Expr,
    /// Whether it is a call; only if there are return addresses.
    call: Option<Expr>,
    /// Low bits of the address behind it, but for the lowest, which is zero.
    link: Expr,
    /// Low bits of its address, but for the lowest.
    address: Expr,
}

impl Last {
    fn new(m: &Module, config: &Tmbp, row: &Row, take: &Expr) -> Self {
        m.section("The row before, which leads to the one that arrives. Initially it is a trap.");
        let keep = |name: &str, reset: bool, value: Expr| {
            let reg = m.reg_en(&format!("last_{name}"), reset, take);
            m.assign(&reg.d, value);
            reg.q
        };
        let bits = config.pc_bits() - 1;
        let address: Reg = m.reg_data("last_address", bits, take);
        m.assign(&address.d, row.address.slice(1, bits));
        let wide = keep("wide", false, row.wide.clone());
        let link = config.link_bits() - 1;
        let by = |half_words| lit(link, half_words);
        let link = m.let_("link", address.q.trunc(link) + wide.mux(by(2), by(1)));
        let leaves = link.trunc(BRANCH - 1).ne(row.address.slice(1, BRANCH - 1));
        let taken = keep("taken", false, row.is(&[IType::Taken])) & leaves;
        Self {
            branch: keep("branch", false, row.is(&[IType::Taken, IType::NotTaken])),
            taken: m.let_("taken", taken),
            indirect: keep("indirect", false, row.is_indirect()),
            pops: keep("pops", false, row.is(&[IType::Return, IType::CoRoutineSwap])),
            trap: keep("trap", true, row.is_trap()),
            retires: keep("retires", false, row.retires.clone()),
            call: (config.ras > 0).then(|| keep("call", false, row.is(&CALLS))),
            link,
            address: address.q,
        }
    }

    /// Bits of its address.
    fn pc(&self, bit: u32, width: u32) -> Expr {
        match (bit.checked_sub(1), width) {
            (Some(bit), _) => self.address.slice(bit, width),
            (None, 1) => zero(1),
            (None, _) => concat(&[&self.address.trunc(width - 1), &zero(1)]),
        }
    }
}

const CALLS: [IType; 3] = [IType::UninferableCall, IType::InferableCall, IType::CoRoutineSwap];

/// What is predicted of the row before.
struct Predicted {
    /// Whether a branch is taken.
    outcome: Expr,
    /// The low bits of a target, but for the lowest.
    target: Expr,
    /// Whether the upper bits of a target are those of the last one, as is predicted.
    near: Expr,
}

/// Predicts the row before, and learns from `next`, where it leads, if that is taken.
fn predictions(
    m: &Module,
    config: &Tmbp,
    last: &Last,
    (take, clear): (&Expr, &Clear),
    next: &Expr,
) -> Predicted {
    let shift = config.pc_shift;

    m.section("The outcome of a branch.");
    let history = m.reg_en("history", zero(config.bhr_bits), take & &last.branch);
    m.assign(&history.d, shifted_in(&history.q, &last.taken));
    let width = index_width(config.entries);
    let index = m.let_("outcome_index", history.q.zext(width) ^ last.pc(shift, width));
    let update = take & &last.branch;
    let outcome = table(
        m,
        "i_outcomes",
        (&predictor::outcomes(config), config.entries, clear),
        &[("index_i", &index), ("update_i", &update), ("taken_i", &last.taken)],
    );

    m.section("Where a return or a jump leads.");
    let returned = last.call.as_ref().map(|call| {
        let returns = table(
            m,
            "i_returns",
            (&predictor::returns(config), config.ras, clear),
            &[("push_i", &(take & call)), ("pop_i", &(take & &last.pops)), ("link_i", &last.link)],
        );
        returns.only().clone()
    });
    let jumped = (config.ibtb > 0).then(|| {
        let sets = index_width(config.sets());
        // What is shifted beyond these bits has no effect.
        let path_bits = TAG + sets;
        let moves = m.let_("walks", take & (&last.branch | &last.indirect));
        let path = m.reg_en("path", zero(path_bits), moves);
        let outcome = (&last.taken | &last.indirect).zext(path_bits);
        let before = path.q.trunc(path_bits - 2);
        let before = concat(&[&before, &zero(2)]);
        let mut came = last.pc(shift, path_bits);
        if config.path_targets {
            came = last.indirect.mux(next.slice(shift, path_bits), came);
        }
        m.assign(&path.d, (before ^ came) | outcome);
        let set = m.let_("target_set", path.q.slice(TAG, sets) ^ last.pc(shift, sets));
        let tag = m.let_("target_tag", path.q.trunc(TAG) ^ last.pc(shift + TAG_SHIFT, TAG));
        let update = take & &last.indirect & !&last.pops;
        let low = next.slice(1, LOW - 1);
        let targets = table(
            m,
            "i_targets",
            (&predictor::targets(config), config.sets(), clear),
            &[("set_i", &set), ("tag_i", &tag), ("update_i", &update), ("low_i", &low)],
        );
        targets.only().clone()
    });
    let none = || zero(LOW - 1);
    let low = last.pops.mux(returned.unwrap_or_else(none), jumped.unwrap_or_else(none));
    let above = config.xlen - LOW;
    let upper = m.reg_en("upper", zero(above), take & &last.indirect);
    m.assign(&upper.d, next.slice(LOW, above));
    let near = m.let_("near", upper.q.eq(next.slice(LOW, above)));
    Predicted { outcome: outcome.only().clone(), target: m.let_("target", low), near }
}

/// An instance of a table, cleared with the others.
fn table(
    m: &Module,
    name: &str,
    (of, entries, clear): (&Component, u32, &Clear),
    ports: &[(&str, &Expr)],
) -> Outputs {
    let index = clear.index(entries);
    let mut all = vec![("clear_i", &clear.active), ("clear_index_i", &index)];
    all.extend_from_slice(ports);
    m.inst(name, of, &all)
}

/// A history with one more outcome.
fn shifted_in(history: &Expr, outcome: &Expr) -> Expr {
    match history.width() {
        1 => outcome.clone(),
        width => concat(&[&history.trunc(width - 1), outcome]),
    }
}
