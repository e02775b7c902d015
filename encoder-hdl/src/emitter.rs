//! Converts requests to payloads.
//!
//! There are four stages, each of which processes one packet per cycle. They hold the request; the
//! difference of addresses, the result of the jump target cache and the format; then, with exact
//! compression, the bits in their places or, with compression by bytes, the number of bytes that
//! the address needs; and the payload.

mod bits;
mod bytes;
mod length;
mod pipe;
mod place;

use crate::config::{Compression, Config, ConfigError};
use crate::request::Request;
use crate::tables::{self, CacheOut};
use hartrace_etrace::{Layout, Mode};
use hartrace_rtl::{Component, Expr, Module, Wire, bundle, concat, zero};
use pipe::{Pipe, held};
use place::{Case, Rest, cases};

bundle! {
    /// Modes that the emitter needs to know.
    pub(crate) struct Modes {
        implicit_return: Option, implicit_exception: Option, full_address: Option,
        jump_target_cache: Option, branch_prediction: Option, sequential_jump: Option
    }
}

impl Modes<Wire> {
    /// The modes that the encoder has.
    pub(crate) fn new(config: &Config) -> Self {
        let mode = |has: bool| has.then(|| Wire::new(1, "the mode is on"));
        Self {
            implicit_return: mode(config.returns()),
            implicit_exception: mode(config.implicit_exception),
            full_address: mode(config.full_address),
            jump_target_cache: mode(config.caches()),
            branch_prediction: mode(config.predicts()),
            sequential_jump: mode(config.etrace.sijump_p),
        }
    }
}

impl Modes {
    /// Whether a mode is on.
    fn is_on(&self, mode: Mode) -> Expr {
        let port = match mode {
            Mode::DeltaAddress => return !self.is_on(Mode::FullAddress),
            Mode::ImplicitReturn => &self.implicit_return,
            Mode::ImplicitException => &self.implicit_exception,
            Mode::FullAddress => &self.full_address,
            Mode::JumpTargetCache => &self.jump_target_cache,
            Mode::BranchPrediction => &self.branch_prediction,
            Mode::SequentiallyInferredJump => &self.sequential_jump,
            Mode::HistoryPrediction => &None,
        };
        port.clone().unwrap_or_else(|| zero(1))
    }
}

bundle! {
    /// The outputs of the module.
    pub(crate) struct EmitterOut { ready, valid, data, len, empty, settled: Option, indexed: Option }
}

bundle! {
    /// What the second stage has of a request: what is needed once its format is known, and what has been found out.
    struct Second {
        address, branch, privilege, time: Option, context: Option,
        ecause, interrupt, thaddr, tval, branches, branch_map,
        branch_count: Option, mispredicted: Option, notify: Option, updiscon: Option, target: Option,
        irreport: Option, irdepth: Option, ienable, qual_status,
        top: Option, signed: Option, trapped: Option,
        may_index: Option, stored: Option, tag: Option, index: Option
    }
}

/// Bytes of the longest payload.
pub(crate) fn max_bytes(config: &Config) -> Result<u32, ConfigError> {
    Ok(config.layout()?.max_bits().div_ceil(8))
}

/// The module `te_packet_emitter`.
pub(crate) fn build(config: &Config) -> Result<Component, ConfigError> {
    let m = Module::new(
        "te_packet_emitter",
        match config.compression {
            Compression::Bits => {
                "Makes payloads of requests: the fields of their format one after the other, without\n\
                 the bits at the top that follow from the ones below."
            }
            Compression::Bytes => {
                "Makes payloads of requests: the fields of their format one after the other, addresses in\n\
                 as few bytes as hold them and one bit more, and zeros at the top."
            }
        },
    )
    .clocked();
    let layout = config.layout()?;
    let bytes = max_bytes(config)?;
    let valid = m.input("valid_i", 1, "");
    let ready = m.output("ready_o", 1, "");
    let asked = Request::new(config).inputs(&m);
    let modes = Modes::new(config).inputs(&m);
    let valid_o = m.output("valid_o", 1, "");
    let ready_i = m.input("ready_i", 1, "");
    let behind = match config.compression {
        Compression::Bits => {
            "the payload, first byte lowest; what is behind it repeats its last bit"
        }
        Compression::Bytes => "the payload, first byte lowest; what is behind it is 0",
    };
    let data_o = m.output("data_o", 8 * bytes, behind);
    let len_o = m.output("len_o", length::WIDTH, "bytes of it");
    let empty_o = m.output("empty_o", 1, "nothing is on its way");
    let aw = config.address();

    let pipe = Pipe::new(&m, &valid, &ready_i, 4);
    m.assign(&ready, &pipe.ready);
    m.assign(&valid_o, &pipe.held[3].q);
    m.assign(&empty_o, !pipe.any());

    m.section("First stage: the request.");
    // The dialect has no room for these flags.
    let dialect = config.compression == Compression::Bytes;
    let mut asked = asked;
    if dialect && !config.caches() {
        let flags = [asked.notify.take(), asked.updiscon.take()];
        flags.iter().flatten().for_each(|flag| m.unused(flag));
    }
    let first = asked.map(held(&m, "first", &pipe.load[0]));
    let load = &pipe.load[1];
    let last = m.reg("last_address", zero(aw));
    let sync = m.let_("sync", &first.start | &first.trap);
    let addressed = &sync | &first.report;
    m.assign(&last.d, (load & addressed).mux(&first.address, &last.q));
    let full = m.let_("absolute", modes.is_on(Mode::FullAddress) | &sync);
    let base = (!&full).gate(&last.q);
    let field = m.let_("field", &first.address - base);

    let kinds = cases(&m, config, &first, &modes.is_on(Mode::ImplicitException));
    let target = first.target.as_ref().map(|to| m.let_("is_target", &first.report & to));
    let mut carried = Second {
        address: field,
        branch: first.branch.clone(),
        privilege: first.privilege.clone(),
        time: first.time.clone(),
        context: first.context.clone(),
        ecause: first.ecause.clone(),
        interrupt: first.interrupt.clone(),
        thaddr: first.thaddr.clone(),
        tval: first.tval.clone(),
        branches: first.branches.clone(),
        branch_map: first.branch_map.clone(),
        branch_count: first.branch_count.clone(),
        mispredicted: first.mispredicted.clone(),
        notify: first.notify.clone().filter(|_| !dialect),
        updiscon: first.updiscon.clone().filter(|_| !dialect),
        target: target.clone(),
        irreport: first.irreport.clone(),
        irdepth: first.irdepth.clone(),
        ienable: first.ienable.clone(),
        qual_status: first.qual_status.clone(),
        top: dialect.then(|| first.address.msb()),
        signed: dialect.then(|| first.report.clone()),
        trapped: dialect.then(|| first.trap.clone()),
        may_index: None,
        stored: None,
        tag: None,
        index: None,
    };
    if let Some(target) = target.filter(|_| config.caches()) {
        let on = modes.is_on(Mode::JumpTargetCache);
        let cache = CacheOut::of(&m.inst(
            "i_jump_target_cache",
            &tables::cache(config),
            &[
                ("address_i", &first.address),
                ("store_i", &(load & &on & &target)),
                ("clear_i", &(load & &sync)),
            ],
        ));
        let flag = |flag: &Option<Expr>| flag.clone().unwrap_or_else(|| zero(1));
        let may = on & &target & !flag(&first.updiscon);
        let may = may & !flag(&first.notify) & !flag(&first.counting);
        carried.may_index = Some(may & &cache.known);
        // The value that is read goes directly to a register, and the address comes from a
        // register, so that the memory can be one with clocked reads.
        carried.stored = Some(cache.stored);
        carried.tag = Some(cache.tag);
        carried.index = Some(cache.index);
    }

    m.section("Second stage: what is to be sent.");
    let second = carried.map(held(&m, "second", load));
    let kinds: Vec<Case> = kinds.into_iter().map(|kind| kind.held(&m, "is", load)).collect();
    let options: Vec<Expr> =
        layout.unit().ioptions().iter().map(|option| modes.is_on(*option)).collect();
    let options: Vec<&Expr> = options.iter().rev().collect();
    let options = m.let_("options", concat(&options));
    let front = Front { m: &m, config, layout: &layout, pipe: &pipe, second, kinds, options };
    let made = match config.compression {
        Compression::Bits => bits::build(&front, 8 * bytes),
        Compression::Bytes => bytes::build(&front, 8 * bytes),
    };
    if let Some((target, indexed)) = made.index {
        let settled = m.output("settled_o", 1, "no target is on its way");
        let indexed_o = m.output("indexed_o", 1, "the last target was sent as an index");
        let was = m.reg_en("was_indexed", false, &pipe.load[3] & &target);
        m.assign(&was.d, indexed);
        m.assign(&indexed_o, &was.q);
        let targets = [first.target.as_ref(), front.second.target.as_ref(), Some(&target)];
        let on_way = pipe.held.iter().zip(targets.into_iter().flatten());
        let on_way = on_way.map(|(held, target)| &held.q & target);
        m.assign(&settled, !on_way.reduce(|a, b| a | b).unwrap_or_else(|| zero(1)));
    }

    m.section("Fourth stage: the payload.");
    let data = m.reg_data("data", 8 * bytes, &pipe.load[3]);
    let size = m.reg_data("len", length::WIDTH, &pipe.load[3]);
    m.assign(&data.d, made.data);
    m.assign(&size.d, made.len);
    m.assign(&data_o, &data.q);
    m.assign(&len_o, &size.q);
    Ok(m.finish())
}

/// Number of bits of a tag that are compared at once.
const PART: u32 = 3;

/// What both kinds of compression have in common.
struct Front<'a> {
    m: &'a Module,
    config: &'a Config,
    layout: &'a Layout,
    pipe: &'a Pipe,
    second: Second,
    kinds: Vec<Case>,
    /// The field *ioptions*.
    options: Expr,
}

impl Front<'_> {
    /// A register of the third stage.
    fn hold(&self, name: &str, value: impl Into<Expr>) -> Expr {
        let value = value.into();
        let reg = self.m.reg_data(name, value.width(), &self.pipe.load[2]);
        self.m.assign(&reg.d, value);
        reg.q
    }

    /// Whether the target is in the cache, in the third stage. Reading the memory takes long, so
    /// parts of the tag are compared in the second stage, and the results are combined in the
    /// third.
    fn hit(&self) -> Expr {
        let Second { stored, tag, may_index, .. } = &self.second;
        let (Some(stored), Some(tag), Some(may_index)) = (stored, tag, may_index) else {
            return zero(1);
        };
        let parts = (0..tag.width()).step_by(PART as usize).map(|at| {
            let width = PART.min(tag.width() - at);
            stored.slice(at, width).eq(tag.slice(at, width))
        });
        let parts: Vec<Expr> = parts.collect();
        let same = self.hold("same", concat(&parts.iter().collect::<Vec<_>>()));
        self.hold("may_hit", may_index) & same.all()
    }

    /// What payloads have of the second stage besides the address and tval.
    fn rest(&self) -> Rest {
        Rest::find(|name| self.second.get(name).cloned())
    }
}

/// A payload at the end of the third stage.
struct Made {
    data: Expr,
    len: Expr,
    /// With a jump target cache: whether it is a target, and whether it is sent as an index.
    index: Option<(Expr, Expr)>,
}
