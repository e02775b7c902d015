//! A second compressor for TAGE, written from `docs/design/extension-mode.md`, which shares no code with the first one. It is slow
//! and says what the document says, section by section.

use hartrace_compressors::{Bits, Code, Scheme, Setup};
use hartrace_etrace::ingress::Retired;
use hartrace_etrace::{Ioptions, Params, Payload, Records};
use hartrace_golden::{Encoded, Encoder, EncoderConfig};
use hartrace_isa::{Insn, Kind, Link};
use hartrace_sources::executed::bundled::PROGRAMS;
use hartrace_sources::executed::{Program, ProgramError};
use std::num::NonZeroU64;

/// Section 1.
#[derive(Copy, Clone)]
struct Parameters {
    base: u64,
    tables: usize,
    entries: u64,
    tag: u32,
    history: usize,
    targets: u64,
    ras: usize,
    records: usize,
    range: bool,
}

/// What happened: an instruction retired, and then perhaps a trap.
struct Step {
    pc: u64,
    insn: Insn,
    /// Where it led, if that can be known.
    next: Option<u64>,
    /// The handler of the trap after it.
    trap: Option<u64>,
}

#[derive(Copy, Clone, Default)]
struct Tagged {
    tag: u64,
    c: i32,
    u: u64,
}

#[derive(Copy, Clone, Default)]
struct ByPath {
    tag: u64,
    place: u64,
    trust: u64,
}

/// Section 2.
struct State {
    b: Vec<i32>,
    t: Vec<Vec<Tagged>>,
    /// The latest last.
    h: Vec<u64>,
    r: Vec<u64>,
    top: usize,
    c: Vec<u64>,
    j: Vec<u64>,
    k: Vec<ByPath>,
    path: u64,
    handler: u64,
}

fn state(p: &Parameters) -> State {
    let targets = p.targets as usize;
    State {
        b: vec![1; p.base as usize],
        t: vec![vec![Tagged::default(); p.entries as usize]; p.tables],
        h: vec![0; p.history],
        r: vec![0; p.ras],
        top: 0,
        c: vec![0; targets],
        j: vec![0; targets / 2],
        k: vec![ByPath::default(); targets],
        path: 0,
        handler: 0,
    }
}

/// The exclusive or of parts of `w` bits; the first bit of the list is bit 0.
fn fold(bits: &[u64], w: u32) -> u64 {
    let parts = bits.chunks(w.max(1) as usize);
    let number = |part: &[u64]| part.iter().rev().fold(0, |sum, bit| 2 * sum + bit);
    if w == 0 { 0 } else { parts.map(number).fold(0, |sum, part| sum ^ part) }
}

fn bits_of(value: u64, width: u32) -> Vec<u64> {
    (0..width).map(|bit| value >> bit & 1).collect()
}

const KEPT: u64 = (1 << 20) - 2;

/// An address of which bits 19 to 1 are kept.
fn stands_for(kept: u64, jump: u64) -> u64 {
    jump & !((1 << 20) - 1) | kept
}

/// A prediction: right or wrong, its class and its context.
struct Report {
    class: usize,
    context: usize,
    wrong: bool,
    /// After a wrong one.
    target: Option<Sent>,
}

enum Sent {
    Place(u64),
    /// The address, and whether a place could have been sent.
    Address(Vec<u64>, bool),
}

impl State {
    /// Section 3: returns the report, and whether the branch is taken.
    fn branch(&mut self, p: &Parameters, pc: u64, outcome: Option<bool>) -> (Report, bool) {
        let h = pc >> 1 & 0xffff_ffff;
        let b = (h % p.base) as usize;
        let n = p.entries.trailing_zeros();
        let latest: Vec<u64> = self.h.iter().rev().copied().collect();
        let mut place = Vec::new();
        for t in 0..p.tables {
            let used = &latest[..p.history >> (p.tables - 1 - t)];
            let i = (h ^ h >> n ^ fold(used, n)) % p.entries;
            let g = (h ^ fold(used, p.tag) ^ fold(used, p.tag - 1) << 1) % (1 << p.tag);
            place.push((i as usize, g));
        }
        let knows = |t: &usize| self.t[*t][place[*t].0].tag == place[*t].1;
        let mut known = (0..p.tables).rev().filter(knows);
        let (provider, other) = (known.next(), known.next());
        let entry = |t: usize| self.t[t][place[t].0];
        let by = |t: Option<usize>| t.map_or(self.b[b] >= 2, |t| entry(t).c >= 0);
        let (first, second) = (by(provider), by(other));
        let doubted =
            provider.is_some_and(|t| (entry(t).c == -1 || entry(t).c == 0) && entry(t).u == 0);
        let predicted = if doubted { second } else { first };
        let (class, context) = match if doubted { other } else { provider } {
            None => {
                let strong = usize::from(self.b[b] == 0 || self.b[b] == 3);
                (strong, strong + if doubted { 2 } else { 0 })
            }
            Some(t) => {
                let Tagged { c, u, .. } = entry(t);
                let strength = c.max(-1 - c) as usize;
                let context = 4 + 4 * strength + 2 * u as usize + usize::from(first == second);
                ([2, 3, 3, 4][strength], context)
            }
        };
        let taken = outcome.unwrap_or(predicted);
        // 3.3, step 1
        match provider {
            Some(t) => {
                let entry = &mut self.t[t][place[t].0];
                entry.c = (entry.c + if taken { 1 } else { -1 }).clamp(-4, 3);
                if first != second {
                    entry.u = u64::from(first == taken);
                }
            }
            None => self.b[b] = (self.b[b] + if taken { 1 } else { -1 }).clamp(0, 3),
        }
        // Step 2
        let wrong = predicted != taken;
        if wrong && !(doubted && first == taken) {
            let above = provider.map_or(0, |t| t + 1)..p.tables;
            match above.clone().find(|t| self.t[*t][place[*t].0].u == 0) {
                Some(t) => {
                    let c = if taken { 0 } else { -1 };
                    self.t[t][place[t].0] = Tagged { tag: place[t].1, c, u: 0 };
                }
                None => above.for_each(|t| self.t[t][place[t].0].u = 0),
            }
        }
        // Step 3
        self.enter(u64::from(taken));
        (Report { class, context, wrong, target: None }, taken)
    }

    fn enter(&mut self, bit: u64) {
        self.h.remove(0);
        self.h.push(bit);
    }

    /// Section 4, but for the return stack: returns the report, and the target.
    fn jump(
        &mut self,
        p: &Parameters,
        pc: u64,
        returns: bool,
        to: Option<u64>,
        xlen: u32,
    ) -> (Report, u64) {
        let address = |to: u64| {
            let near = pc >> 20 == to >> 20;
            let mut bits = vec![u64::from(!near)];
            bits.extend((1..if near { 20 } else { xlen }).rev().map(|bit| to >> bit & 1));
            bits
        };
        if returns {
            let predicted = stands_for(self.r.get(self.top).copied().unwrap_or(0), pc);
            let to = to.unwrap_or(predicted);
            let wrong = to != predicted;
            let target = wrong.then(|| Sent::Address(address(to), false));
            return (Report { class: 5, context: 20, wrong, target }, to);
        }
        let h = pc >> 1 & 0xffff_ffff;
        let width = p.targets.trailing_zeros();
        let path = bits_of(self.path, 16);
        let j = ((h ^ h >> (width - 1)) % (p.targets / 2)) as usize;
        let k = ((h ^ h >> width ^ fold(&path, width)) % p.targets) as usize;
        let tag = (h ^ fold(&path, 6) ^ fold(&path, 5) << 1) % 64;
        let by_path = self.k[k];
        let has = by_path.tag == tag;
        let place = if has { by_path.place } else { self.j[j] };
        let predicted = stands_for(self.c[place as usize], pc);
        let (class, context) = if has { (7, 22 + by_path.trust as usize) } else { (6, 21) };
        let to = to.unwrap_or(predicted);
        let wrong = to != predicted;
        let place = to >> 1 & (p.targets - 1);
        let cached = stands_for(self.c[place as usize], pc) == to;
        let target = match (wrong, cached) {
            (false, _) => None,
            (true, true) => Some(Sent::Place(place)),
            (true, false) => Some(Sent::Address(address(to), true)),
        };
        // 4.3
        self.c[place as usize] = to & KEPT;
        if has && !wrong {
            self.k[k].trust = (by_path.trust + 1).min(3);
        } else if wrong && by_path.trust > 0 {
            self.k[k].trust -= 1;
        } else if wrong {
            self.k[k] = ByPath { tag, place, trust: 0 };
        }
        if !has {
            self.j[j] = place;
        }
        let q = to >> 1 & 0xffff_ffff;
        self.path = (self.path << 3 ^ q ^ q >> 4) % 65_536;
        let x = to >> 1 ^ to >> 3 ^ to >> 5 ^ to >> 7;
        self.enter(x & 1);
        self.enter(x >> 1 & 1);
        (Report { class, context, wrong, target }, to)
    }

    fn push(&mut self, address: u64) {
        if !self.r.is_empty() {
            self.top = (self.top + 1) % self.r.len();
            self.r[self.top] = address & KEPT;
        }
    }
}

/// Section 7.1: the fields of a trap.
fn trap_fields(instructions: u64, handler: Option<u64>, xlen: u32) -> Vec<u64> {
    let mut groups = vec![];
    let mut left = instructions;
    loop {
        groups.push(left % 16);
        left /= 16;
        if left == 0 {
            break;
        }
    }
    let mut bits = Vec::new();
    let last = groups.len() - 1;
    for (number, group) in groups.into_iter().enumerate() {
        if number < 15 {
            bits.push(u64::from(number < last));
        }
        bits.extend((0..4).rev().map(|bit| group >> bit & 1));
    }
    bits.push(u64::from(handler.is_some()));
    bits.extend(
        handler.into_iter().flat_map(|handler| (1..xlen).rev().map(move |bit| handler >> bit & 1)),
    );
    bits
}

/// Section 5: all packets, as records that are complete when the packet ends.
#[derive(Default)]
struct Packets {
    out: Vec<u64>,
    s: [u32; 8],
    /// Right predictions of the open run, and its record.
    open: [Option<(u64, usize)>; 8],
    records: Vec<Vec<u64>>,
    instructions: u64,
    /// The records of each packet that has ended, with a near address or the bit of a far one.
    ended: Vec<Vec<u64>>,
}

impl Packets {
    fn end(&mut self, trap: Option<Vec<u64>>) {
        self.out.push(u64::from(trap.is_some()));
        self.out.extend(trap.unwrap_or_default());
        let records: Vec<u64> = self.records.drain(..).flatten().collect();
        self.out.extend(&records);
        // As a mode, a packet in which nothing retires is not sent.
        if self.instructions > 0 {
            self.ended.push(records);
        }
        self.open = [None; 8];
        self.instructions = 0;
    }

    fn start_record(&mut self, most: usize, bits: Vec<u64>) -> usize {
        if self.records.len() == most {
            self.end(None);
            self.instructions = 1;
        }
        self.records.push(bits);
        self.records.len() - 1
    }

    fn report(&mut self, p: &Parameters, report: Report) {
        let class = report.class;
        let width = self.s[class] >> 2;
        let (right, record) = match self.open[class] {
            Some(open) => open,
            None => (0, self.start_record(p.records, vec![1])),
        };
        if report.wrong {
            self.records[record] = vec![0];
            self.records[record].extend((0..width).rev().map(|bit| right >> bit & 1));
            self.open[class] = None;
            self.s[class] = self.s[class].saturating_sub(1);
        } else if right + 1 == 1 << width {
            self.open[class] = None;
            self.s[class] = (self.s[class] + 1).min(43);
        } else {
            self.open[class] = Some((right + 1, record));
        }
        match report.target {
            Some(Sent::Place(place)) => {
                let mut bits = vec![1];
                bits.extend((0..p.targets.trailing_zeros()).rev().map(|bit| place >> bit & 1));
                self.start_record(p.records, bits);
            }
            Some(Sent::Address(address, could_be_place)) => {
                if could_be_place {
                    self.start_record(p.records, vec![0]);
                }
                self.end(None);
                self.out.extend(&address);
                let far = address[0] == 1;
                let bits = if far { &address[..1] } else { &address };
                self.ended.last_mut().expect("the packet").extend(bits);
            }
            None => {}
        }
    }
}

/// Section 6.
struct Ranges {
    out: Vec<u8>,
    low: u64,
    range: u64,
    z: [u64; 28],
    instructions: u64,
}

impl Ranges {
    fn add(&mut self, more: u64) {
        self.low += more;
        if self.low >> 32 != 0 {
            self.low &= 0xffff_ffff;
            // The carry goes into what is out already.
            for byte in self.out.iter_mut().rev() {
                *byte = byte.wrapping_add(1);
                if *byte != 0 {
                    break;
                }
            }
        }
    }

    fn widen(&mut self) {
        while self.range < 1 << 24 {
            self.out.push((self.low >> 24) as u8);
            self.low = self.low << 8 & 0xffff_ffff;
            self.range <<= 8;
        }
    }

    fn bit(&mut self, context: usize, one: bool) {
        let y = (self.range >> 16) * self.z[context];
        let r = if context == 26 { 4 } else { 5 };
        if one {
            self.add(y);
            self.range -= y;
            self.z[context] -= self.z[context] >> r;
        } else {
            self.range = y;
            self.z[context] += (65_536 - self.z[context]) >> r;
        }
        self.widen();
    }

    fn plain(&mut self, bits: Vec<u64>) {
        for bit in bits {
            self.range >>= 1;
            if bit != 0 {
                self.add(self.range);
            }
            self.widen();
        }
    }

    fn report(&mut self, p: &Parameters, report: Report) {
        self.bit(26, false);
        self.bit(report.context, report.wrong);
        self.instructions = 0;
        match report.target {
            Some(Sent::Place(place)) => {
                self.bit(27, false);
                let width = p.targets.trailing_zeros();
                self.plain((0..width).rev().map(|bit| place >> bit & 1).collect());
            }
            Some(Sent::Address(address, could_be_place)) => {
                if could_be_place {
                    self.bit(27, true);
                }
                self.plain(address);
            }
            None => {}
        }
    }
}

enum Coder {
    Packets(Packets),
    Ranges(Ranges),
}

impl Coder {
    fn retire(&mut self) {
        match self {
            Self::Packets(packets) => packets.instructions += 1,
            Self::Ranges(ranges) => ranges.instructions += 1,
        }
    }

    fn report(&mut self, p: &Parameters, report: Report) {
        match self {
            Self::Packets(packets) => packets.report(p, report),
            Self::Ranges(ranges) => ranges.report(p, report),
        }
    }

    /// Section 7.1: `at` is the address of the instruction that did not retire.
    fn trap(&mut self, state: &mut State, at: u64, handler: u64, xlen: u32) {
        let other = Some(handler).filter(|handler| *handler != state.handler);
        match self {
            Self::Packets(packets) => {
                let fields = trap_fields(packets.instructions, other, xlen);
                packets.end(Some(fields));
            }
            Self::Ranges(ranges) => {
                ranges.bit(26, true);
                ranges.plain(trap_fields(ranges.instructions, other, xlen));
                ranges.instructions = 0;
            }
        }
        state.push(at);
        state.handler = handler;
    }

    /// All bits; and for section 5 the records of each packet.
    fn end(self) -> (Vec<u64>, Vec<Vec<u64>>) {
        match self {
            Self::Packets(mut packets) => {
                packets.end(None);
                (packets.out, packets.ended)
            }
            Self::Ranges(mut ranges) => {
                ranges.bit(26, false);
                let low = ranges.low as u32;
                ranges.out.extend(low.to_be_bytes());
                let bits = |byte: &u8| bits_of(u64::from(*byte), 8).into_iter().rev();
                (ranges.out.iter().flat_map(bits).collect(), Vec::new())
            }
        }
    }
}

/// A trace, synchronised after every so many instructions.
fn trace(p: &Parameters, steps: &[Step], every: usize, code: &Code) -> Vec<u64> {
    let mut out = Vec::new();
    // Where the instruction before leads, and the handler of the trap after it.
    let (mut start, mut trap) = (steps[0].pc, None);
    for part in steps.chunks(every) {
        out.extend(self::part(p, part, start, trap, code).0);
        let Some(Step { pc, insn, next, trap: after }) = part.last() else { break };
        start = next.unwrap_or(insn.next(code.xlen(), *pc));
        trap = *after;
    }
    out
}

/// A part between synchronisations. A trap after its last instruction belongs to the next one.
fn part(
    p: &Parameters,
    steps: &[Step],
    start: u64,
    trap: Option<u64>,
    code: &Code,
) -> (Vec<u64>, Vec<Vec<u64>>) {
    let xlen = code.xlen();
    let width = xlen.bits();
    let first: Vec<u64> = bits_of(start >> 1, width - 1).into_iter().rev().collect();
    let mut coder = if p.range {
        let mut ranges =
            Ranges { out: vec![], low: 0, range: (1 << 32) - 1, z: [57_344; 28], instructions: 0 };
        ranges.plain(first);
        Coder::Ranges(ranges)
    } else {
        Coder::Packets(Packets { out: first, s: [4; 8], ..Packets::default() })
    };
    let mut state = state(p);
    let mut at = start;
    let mut trap = trap;
    for Step { pc, insn, next, trap: after_it } in steps {
        if let Some(handler) = trap {
            coder.trap(&mut state, at, handler, width);
        }
        let (pc, insn, next) = (*pc, *insn, *next);
        coder.retire();
        let after = insn.next(xlen, pc);
        let returns = matches!(insn.kind, Kind::TrapReturn) || insn.link().is_some_and(Link::pops);
        at = insn.target(xlen, pc).unwrap_or(after);
        if insn.is_branch() {
            let taken = next.map(|next| next != after && Some(next) == insn.target(xlen, pc));
            let (report, taken) = state.branch(p, pc, taken);
            coder.report(p, report);
            at = if taken { at } else { after };
        } else if insn.is_uninferable() {
            let (report, to) = state.jump(p, pc, returns, next, width);
            coder.report(p, report);
            at = to;
        }
        if returns && !state.r.is_empty() {
            state.top = (state.top + state.r.len() - 1) % state.r.len();
        }
        if insn.link().is_some_and(Link::pushes) {
            state.push(after);
        }
        trap = *after_it;
    }
    coder.end()
}

/// The instructions of rows. A trap must follow an instruction, and another one must follow it.
fn steps(rows: &[Retired], code: &Code) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut trapped = false;
    for row in rows {
        match steps.last_mut() {
            Some(last) if trapped => last.trap = Some(row.iaddr),
            Some(last) => last.next = Some(row.iaddr),
            None => {}
        }
        assert!(!trapped || row.iretire > 0, "two traps after one instruction");
        let (mut pc, mut left) = (row.iaddr, row.iretire);
        while left > 0 {
            let insn = code.insn(pc).expect("an instruction");
            left -= u32::from(insn.size / 2);
            let after = code.xlen().wrap(pc + u64::from(insn.size));
            let next = (left > 0).then_some(after);
            steps.push(Step { pc, insn, next, trap: None });
            pc = after;
        }
        trapped = row.itype.is_trap();
    }
    steps
}

const SIZES: [(&str, Parameters); 3] = [
    (
        "",
        Parameters {
            base: 256,
            tables: 4,
            entries: 32,
            tag: 8,
            history: 32,
            targets: 64,
            ras: 16,
            records: 20,
            range: false,
        },
    ),
    (
        "base=16,tables=3,entries=8,tag=5,history=27,targets=8,ras=3,records=7",
        Parameters {
            base: 16,
            tables: 3,
            entries: 8,
            tag: 5,
            history: 27,
            targets: 8,
            ras: 3,
            records: 7,
            range: false,
        },
    ),
    (
        "base=512,tables=6,entries=64,tag=9,history=100,targets=128,ras=8,records=32",
        Parameters {
            base: 512,
            tables: 6,
            entries: 64,
            tag: 9,
            history: 100,
            targets: 128,
            ras: 8,
            records: 32,
            range: false,
        },
    ),
];

/// Jumps by table, calls, loops, traps on both widths of addresses, and a Linux program.
const CHOSEN: [&str; 7] =
    ["calls", "interp", "sort", "float", "interrupts", "interrupts-rv32", "linux"];

/// The code of a bundled program, and what it retires.
fn executed(name: &str) -> (Code, Vec<Retired>) {
    let (_, elf) = PROGRAMS.iter().find(|(bundled, _)| *bundled == name).expect(name);
    let program = Program::new(name, elf.to_vec()).expect(name);
    let mut rows = Vec::new();
    let executed = program.execute(200_000, |some| {
        rows.extend_from_slice(some);
        Ok::<(), ProgramError>(())
    });
    executed.expect(name);
    (Code::new(program.image()), rows)
}

/// Section 8: payloads of the golden encoder hold the records of the scheme, packet by packet. The rest of the
/// trace are standard payloads.
#[test]
fn the_mode_of_etrace_sends_the_same_records() {
    for name in CHOSEN {
        let (code, rows) = executed(name);
        let steps = steps(&rows, &code);
        let (_, expected) = part(&SIZES[0].1, &steps, steps[0].pc, None, &code);
        let config = EncoderConfig {
            params: Params {
                iaddress_width_p: code.xlen().bits() as u8,
                hpred_size_p: 5,
                ..Params::default()
            },
            options: Ioptions { history_prediction: true, ..Ioptions::default() },
            ..EncoderConfig::default()
        };
        let mut encoder = Encoder::new(config).expect("an encoder");
        let (mut found, mut others) = (Vec::new(), 0);
        let mut take = |encoded: Encoded| match encoded.payload {
            Payload::History(history) => found.push(history.records),
            _ => others += 1,
        };
        rows.iter().for_each(|row| encoder.retire(row, &mut take));
        encoder.finish(&mut take);
        let records = |bits: &Vec<u64>| Records::new(bits.iter().map(|bit| *bit != 0));
        let expected: Vec<_> = expected.iter().map(|bits| records(bits).expect(name)).collect();
        let equal = found.iter().zip(&expected).take_while(|(a, b)| a == b).count();
        let at = |all: &[Records]| all.get(equal).map(Records::to_string);
        let differ = format!("{name}, packet {equal}: {:?}, {:?}", at(&found), at(&expected));
        assert!(found == expected, "{differ}; {} of {}", found.len(), expected.len());
        assert!(found.len() > 10 && others >= 3, "{name}: {} packets", found.len());
    }
}

/// The same bits from both compressors.
#[test]
fn a_second_implementation_of_tage_agrees() {
    for name in CHOSEN {
        let (code, rows) = executed(name);
        let steps = steps(&rows, &code);
        for (number, (settings, sizes)) in SIZES.iter().enumerate() {
            for range in [false, true] {
                let p = Parameters { range, ..*sizes };
                // The first sizes without synchronisation, the others with.
                let every = [usize::MAX, 977, 10_000][number];
                let bits = trace(&p, &steps, every, &code);
                let coder = if range { "range" } else { "runs" };
                let settings = format!("coder={coder},{settings}");
                let scheme = format!("TAGE[{}]", settings.trim_end_matches(','));
                let scheme: Scheme = scheme.parse().expect("a scheme");
                let sync_every = NonZeroU64::new(every as u64).filter(|_| number > 0);
                let setup = Setup { code: &code, sync_every, tvec: &[] };
                let compressed = super::compressed(&scheme, &setup, &rows);
                let what = format!("{name}: {scheme}");
                assert_eq!(compressed.payload_bits, bits.len() as u64, "{what}");
                assert!(compressed.bits == joined(&bits), "{what}: other bits");
            }
        }
    }
}

fn joined(bits: &[u64]) -> Bits {
    let mut out = Bits::default();
    bits.iter().for_each(|bit| out.put(*bit, 1));
    out
}
