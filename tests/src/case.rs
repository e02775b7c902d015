//! A random program, a random walk through it, and a random encoder for it.

use hartrace_etrace::ingress::{ITypeWidth, Retired};
use hartrace_etrace::{Ioptions, Mode, Params, Payload, Unit};
use hartrace_golden::encoder::{Comparator, Condition, Encoded, EncoderConfig, Filter, Resync};
use hartrace_golden::isa::{Isa, Xlen};
use hartrace_golden::walk::{Shape, Walk, generate};
use hartrace_golden::{Compat, DecoderConfig, Encoder, Image};

/// Small numbers from a seed (splitmix64): good enough to spread cases, and the same on every machine.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Creates the numbers of case `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x5851_f42d_4c95_7f2d)
    }

    /// Returns the next number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Returns one of `low..=high`.
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.roll() % (high - low + 1)
    }

    /// Returns true once in `n` times on average.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.roll().is_multiple_of(n)
    }
}

/// Everything that one round trip needs.
#[derive(Clone, Debug)]
pub struct Case {
    /// The walk.
    pub walk: Walk,
    /// The input of the encoder: the walk's rows, or blocks of them.
    pub rows: Vec<Retired>,
    /// The configuration of the encoder.
    pub encoder: EncoderConfig,
    /// The traced privileges, if the filter is by privilege.
    privileges: Option<Vec<u8>>,
    /// The traced addresses, if the filter is by address.
    addresses: Option<(u64, u64)>,
}

/// Modes that exclude each other.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Family {
    Standard,
    RvTracer,
    History,
}

/// The optional modes, one bit each; rv_tracer's "delta" bit is the absence of full addresses.
const MODES: [Mode; 6] = [
    Mode::ImplicitReturn,
    Mode::ImplicitException,
    Mode::FullAddress,
    Mode::JumpTargetCache,
    Mode::BranchPrediction,
    Mode::SequentiallyInferredJump,
];

impl Case {
    /// Creates case `seed`. Consecutive seeds cover all subsets of the modes.
    pub fn new(seed: u64) -> Self {
        Self::shaped(seed, Shape::random(seed))
    }

    /// Creates case `seed` in the dialect of rv_tracer, with modes and walks for which it is unambiguous
    /// (R3).
    pub fn rv_tracer(seed: u64) -> Self {
        let mut shape = Shape::random(seed);
        shape.xlen = Xlen::Rv64;
        shape.notifies = 0;
        // Without the lowest bit there is no implicit return.
        Self::made(seed << 1, shape, Family::RvTracer)
    }

    /// Creates case `seed` with history prediction, and full addresses if the seed is odd.
    pub fn history(seed: u64) -> Self {
        Self::made(seed, Shape::random(seed), Family::History)
    }

    /// Creates case `seed` with a walk of this shape.
    pub fn shaped(seed: u64, shape: Shape) -> Self {
        Self::made(seed, shape, Family::Standard)
    }

    fn made(seed: u64, mut shape: Shape, family: Family) -> Self {
        let dialect = family == Family::RvTracer;
        let mut dice = Dice::new(seed);
        let mut options = Ioptions::default();
        if family == Family::History {
            options.history_prediction = true;
            options.full_address = seed & 1 == 1;
        } else {
            for (bit, mode) in MODES.into_iter().enumerate() {
                options.set(mode, seed >> bit & 1 == 1);
            }
        }

        if options.implicit_return || options.history_prediction {
            shape.itype_width = ITypeWidth::Four;
        }
        let counter = options.implicit_return && dice.one_in(2);
        shape.well_behaved |= counter;
        let mut params = params(&mut dice, &mut shape, options, counter);
        if dialect {
            shape.address_bits = 64;
            params = Params {
                iaddress_width_p: 64,
                iaddress_lsb_p: 0,
                ecause_width_p: if dice.one_in(2) { 64 } else { params.ecause_width_p },
                context_width_p: params.context_width_p.min(8),
                time_width_p: params.time_width_p.min(20),
                ..params
            };
        }
        let walk = generate(seed, &shape);

        let mut encoder = EncoderConfig {
            params,
            unit: match dice.one_in(3) {
                _ if dialect => Unit::RvTracer,
                true => Unit::Reference,
                false => Unit::Hartrace,
            },
            options,
            itype_width: shape.itype_width,
            resync: resync(&mut dice),
            return_marks: dice.range(1, 4) as usize,
            ..EncoderConfig::default()
        };
        // The reference layout has no sijump bit: the parameter is the mode.
        encoder.params.sijump_p = match encoder.unit {
            Unit::Reference => options.sequentially_inferred_jump,
            _ => options.sequentially_inferred_jump || dice.one_in(2),
        };

        let mut case =
            Self { rows: walk.rows.clone(), walk, encoder, privileges: None, addresses: None };
        match dice.range(0, 9) {
            0 | 1 => case.rows = case.walk.blocks(seed, dice.range(1, 4) as usize),
            2 => case.filter_privileges(&mut dice),
            3 => case.filter_addresses(&mut dice),
            _ => {}
        }
        case
    }

    /// Traces only some privilege levels.
    fn filter_privileges(&mut self, dice: &mut Dice) {
        let levels: Vec<u8> = [0, 1, 3].into_iter().filter(|_| dice.one_in(2)).collect();
        let condition = Condition { privileges: Some(levels.clone()), ..Condition::default() };
        self.encoder.filter = Filter { conditions: vec![condition], ..Filter::default() };
        self.privileges = Some(levels);
    }

    /// Traces the addresses between two that occur.
    fn filter_addresses(&mut self, dice: &mut Dice) {
        if self.rows.is_empty() {
            return;
        }
        let mut pick = || self.rows[dice.range(0, self.rows.len() as u64 - 1) as usize].iaddr;
        let (a, b) = (pick(), pick());
        let (first, last) = (a.min(b), a.max(b));
        self.encoder.filter = Filter {
            comparators: vec![Comparator::range(first, last)],
            conditions: vec![Condition { comparators: vec![0], ..Condition::default() }],
            initially_on: true,
        };
        self.addresses = Some((first, last));
    }

    /// Returns for each row whether it is traced, by the plain meaning of filter and triggers.
    pub fn traced(&self) -> Vec<bool> {
        let mut on = true;
        let mut traced = Vec::new();
        for row in &self.walk.rows {
            on |= row.trigger.on;
            let level = self.privileges.as_ref().is_none_or(|p| p.contains(&row.privilege.0));
            let place =
                self.addresses.is_none_or(|(first, last)| (first..=last).contains(&row.iaddr));
            traced.push(on && level && place);
            on &= !row.trigger.off;
        }
        traced
    }

    /// Returns the decoder configuration for this case.
    pub fn decoder(&self) -> DecoderConfig {
        let vectored = u64::from(self.walk.program.vectored);
        DecoderConfig {
            params: self.encoder.params,
            unit: self.encoder.unit,
            tvec: self.walk.program.tvec.iter().map(|(p, base)| (*p, base | vectored)).collect(),
            compat: Compat::None,
            max_steps: 1 << 20,
        }
    }

    /// Returns the program of this case.
    pub fn image(&self) -> Image {
        let mut image = Image::new(Isa::new(self.walk.program.xlen));
        for (address, bytes) in &self.walk.program.segments {
            image.add(*address, bytes);
        }
        image
    }

    /// Checks that the production encoder sends the same payloads, for the same reasons.
    pub fn check_production(&self, golden: &[Encoded]) -> Result<(), String> {
        let config = self.encoder.clone();
        let mut encoder = hartrace_encoder::Encoder::new(config).map_err(|e| e.to_string())?;
        let mut payloads = Vec::new();
        let mut out = collect(&mut payloads);
        // One at a time, and several at once.
        let (single, several) = self.rows.split_at(self.rows.len() / 2);
        single.iter().for_each(|row| encoder.retire(row, &mut out));
        several.chunks(100).for_each(|rows| encoder.retire_all(rows, &mut out));
        encoder.finish(&mut out);
        drop(out);
        difference(golden, &payloads).map_or(Ok(()), Err)
    }

    /// Returns the payloads of the whole walk.
    pub fn encode(&self) -> Vec<Encoded> {
        let mut encoder = Encoder::new(self.encoder.clone()).expect("cases are legal");
        let mut payloads = Vec::new();
        for row in &self.rows {
            encoder.retire(row, &mut |encoded| payloads.push(encoded));
        }
        encoder.finish(&mut |encoded| payloads.push(encoded));
        payloads
    }
}

/// Collects what the production encoder sends, in the form of the golden one.
pub fn collect(into: &mut Vec<Encoded>) -> impl FnMut(hartrace_encoder::Encoded<'_>) {
    |encoded| {
        let hartrace_encoder::Encoded { row, payload, bytes, reason } = encoded;
        into.push(Encoded { row, payload, bytes: bytes.to_vec(), reason });
    }
}

/// Describes the first payload that differs, if one does.
pub fn difference(golden: &[Encoded], production: &[Encoded]) -> Option<String> {
    let at =
        (0..golden.len().max(production.len())).find(|n| golden.get(*n) != production.get(*n))?;
    let near =
        |all: &[Encoded]| listing(&all[at.saturating_sub(3).min(all.len())..all.len().min(at + 3)]);
    let (golden, production) = (near(golden), near(production));
    Some(format!("payload {at} differs\ngolden:\n{golden}production:\n{production}"))
}

/// Legal parameters that include the hardware for `options`.
fn params(dice: &mut Dice, shape: &mut Shape, options: Ioptions, counter: bool) -> Params {
    let xlen = shape.xlen.bits();
    if dice.one_in(3) {
        shape.address_bits = dice.range(u64::from(xlen) - 8, xlen.into()) as u8;
    }
    let cache = if options.jump_target_cache { dice.range(1, 6) } else { 0 };
    let bpred = if options.branch_prediction { dice.range(1, 8) } else { 0 };
    let both = cache > 0 && bpred > 0;
    Params {
        iaddress_width_p: shape.address_bits,
        iaddress_lsb_p: dice.range(0, if shape.compressed { 1 } else { 2 }) as u8,
        privilege_width_p: dice.range(2, 3) as u8,
        ecause_width_p: dice.range(4, 8) as u8,
        context_width_p: dice.range(1, 16) as u8,
        nocontext_p: dice.one_in(2),
        time_width_p: dice.range(1, 48) as u8,
        notime_p: dice.one_in(2),
        f0s_width_p: match options.history_prediction {
            true => [0, 2, 5][dice.range(0, 2) as usize],
            false => dice.range(both.into(), 2) as u8,
        },
        bpred_size_p: bpred as u8,
        cache_size_p: cache as u8,
        return_stack_size_p: if options.implicit_return && !counter {
            dice.range(1, 4) as u8
        } else {
            0
        },
        call_counter_size_p: if counter { dice.range(1, 5) as u8 } else { 0 },
        sijump_p: false,
        hpred_size_p: if options.history_prediction { dice.range(1, 9) as u8 } else { 0 },
    }
}

fn resync(dice: &mut Dice) -> Resync {
    match dice.range(0, 5) {
        0 | 1 => Resync::Off,
        2 => Resync::Packets(dice.range(1, 40)),
        3 => Resync::Cycles(dice.range(1, 200)),
        4 => Resync::HalfWords(dice.range(1, 200)),
        _ => Resync::Packets(dice.range(1, 3)),
    }
}

/// Returns the bits of a payload in the order of transmission.
pub fn bits(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).collect()
}

/// Returns payloads as text, one per line, for messages.
pub fn listing(payloads: &[Encoded]) -> String {
    let line = |e: &Encoded| format!("  row {:>5}  {}  ; {}\n", e.row, e.payload, e.reason);
    payloads.iter().map(line).collect()
}

/// Returns whether the payload advances a decoder.
pub fn is_report(payload: &Payload) -> bool {
    !matches!(payload, Payload::Context(_) | Payload::Support(_))
}
