//! Loops that a trace only counts: every form is the same as if every turn were in the trace.

use super::*;
use hartrace_decoder::{Leaves, Run, Sink, StreamPos, Transfer};
use hartrace_tests::case::Dice;

/// A run: where it starts, where it ends, and what it does to the call stack.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Block {
    start: u64,
    insns: usize,
    transfer: Transfer,
}

/// Loops, and how often each is taken.
type Trace = [(Vec<Block>, u64)];

const FUNCTIONS: u64 = 4;
const SIZE: u64 = 0x100;
const OFFSETS: [u16; 4] = [0, 4, 8, 12];

impl Block {
    fn end(&self) -> u64 {
        self.start + 4 * self.insns as u64
    }

    /// The same block elsewhere.
    pub(crate) fn moved(self, by: u64) -> Self {
        Self { start: self.start + by, ..self }
    }

    fn with(&self, take: impl FnOnce(Run<'_>)) {
        let leaves = if self.transfer == Transfer::None { Leaves::Branch } else { Leaves::Jump };
        let run = Run::new(self.start, &OFFSETS[..self.insns], self.end(), leaves);
        take(run.expect("it is not empty").with_transfer(self.transfer));
    }
}

/// An address in a function, or in none.
fn place(dice: &mut Dice) -> u64 {
    SIZE * dice.range(1, FUNCTIONS + 1) + 16 * dice.range(0, 12)
}

/// A turn of a loop: calls that return or do not, returns that nobody expects, and tail calls.
fn turn(dice: &mut Dice) -> Vec<Block> {
    let (mut blocks, mut callers): (Vec<Block>, Vec<u64>) = Default::default();
    let regular = dice.one_in(2);
    let mut start = place(dice);
    for _ in 0..dice.range(1, 6) {
        let transfer = match dice.range(0, 9) {
            0..4 => Transfer::None,
            4..7 => Transfer::Call,
            7..9 => Transfer::Return,
            _ => Transfer::Swap,
        };
        let block = Block { start, insns: dice.range(1, 4) as usize, transfer };
        blocks.push(block);
        start = match transfer {
            Transfer::None if !dice.one_in(4) => start,
            Transfer::Return if regular || dice.one_in(2) => {
                callers.pop().unwrap_or_else(|| place(dice))
            }
            _ => place(dice),
        };
        if transfer == Transfer::Call {
            callers.push(block.end());
        }
    }
    // A loop that leaves the stack as it was.
    for caller in callers.into_iter().rev().filter(|_| regular) {
        blocks.push(Block { start, insns: 1, transfer: Transfer::Return });
        start = caller;
    }
    blocks
}

/// Some loops, with the number of turns of each.
pub(crate) fn trace(dice: &mut Dice, most: u64) -> Vec<(Vec<Block>, u64)> {
    (0..dice.range(1, 3)).map(|_| (turn(dice), dice.range(0, most))).collect()
}

/// Reports loops, with every turn of its own unless they are `counted`.
pub(crate) fn report(trace: &Trace, counted: bool, sink: &mut impl Sink) {
    let at = StreamPos::default();
    for (turn, times) in trace {
        let each = if counted { 1.min(*times) } else { *times };
        (0..each).for_each(|_| turn.iter().for_each(|block| block.with(|run| sink.run(at, run))));
        let rest = times - each;
        if rest > 0 {
            turn.iter().for_each(|block| block.with(|run| sink.repeat(at, run, rest)));
            sink.end_turn();
        }
    }
}

/// The start of the n-th function, from 1.
pub(crate) fn function(number: u64) -> u64 {
    SIZE * number
}

pub(crate) fn functions() -> Arc<Functions> {
    Arc::new(Functions::new((1..=FUNCTIONS).map(|number| SIZE * number..SIZE * (number + 1))))
}

/// What a form writes of a trace, and the form.
pub(crate) fn follow<F: CallForm>(form: F, trace: &Trace, counted: bool) -> (Vec<u8>, F) {
    let programs = Programs::new(Xlen::Rv64);
    let (names, _) = Names::new(programs.all_symbols(), Xlen::Rv64);
    let mut calls = Calls { form, names, functions: functions(), stacks: BTreeMap::new() };
    let (mut part, mut out) = (calls.maker()(), Vec::new());
    report(trace, counted, &mut part);
    calls.join(None, part, &mut out).expect("memory");
    calls.finish(&mut out).expect("memory");
    (out, calls.form)
}

fn written<F: CallForm>(form: F, trace: &Trace, counted: bool) -> Vec<u8> {
    follow(form, trace, counted).0
}

fn same<F: CallForm>(make: impl Fn() -> F, trace: &Trace, seed: u64) {
    let [each, counted] = [false, true].map(|counted| written(make(), trace, counted));
    let name = std::any::type_name::<F>();
    let [a, b] = [&each, &counted].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(each == counted, "{name}, seed {seed}: {trace:?}\n{a}\n{b}");
}

/// Changes of the call stack in all turns, about.
pub(crate) fn changes(trace: &Trace) -> u64 {
    trace.iter().map(|(turn, times)| 3 * turn.len() as u64 * times).sum()
}

#[test]
fn counted_turns_are_like_turns() {
    let (mut drawn, mut deep) = (0, 0);
    for seed in 0..300 {
        let dice = &mut Dice::new(seed);
        // Some go deeper than a call stack does. The text of all stacks grows with the square of the depth.
        let most = match seed % 30 {
            0 => 6000,
            odd if odd % 2 == 1 => 300,
            _ => 40,
        };
        let trace = trace(dice, most);
        same(|| Callgrind, &trace, seed);
        if most < 100 {
            same(|| Folded, &trace, seed);
            same(|| Pprof::new("p"), &trace, seed);
        }
        if changes(&trace) <= TURNS_DRAWN {
            same(|| Perfetto::new(Timing::default()), &trace, seed);
            same(|| Speedscope::new("s", None), &trace, seed);
            drawn += 1;
        }
        deep += u64::from(changes(&trace) > 20_000);
    }
    assert!(drawn > 100 && deep > 3, "{drawn} drawn, {deep} deep");
}

/// A loop that calls a function, as often as a packet can say.
fn billions() -> Vec<(Vec<Block>, u64)> {
    let block = |start, transfer| Block { start, insns: 2, transfer };
    let turn = vec![
        block(SIZE, Transfer::Call),
        block(2 * SIZE, Transfer::Return),
        block(SIZE + 8, Transfer::None),
    ];
    vec![(turn, 1 << 32)]
}

#[test]
fn a_profile_of_billions_of_turns() {
    let folded = written(Folded, &billions(), true);
    let (own, called) = (4u64 << 32, 2u64 << 32);
    let expected =
        format!("0x0000000000000100 {own}\n0x0000000000000100;0x0000000000000200 {called}\n");
    assert_eq!(String::from_utf8(folded).unwrap(), expected);
}

/// A timeline draws the first turns, and says how many follow.
#[test]
fn a_timeline_of_billions_of_turns() {
    let text = written(Speedscope::new("s", None), &billions(), true);
    let json: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let profile = &json["profiles"][0];
    assert_eq!(profile["endValue"], 6u64 << 32);
    let frames = json["shared"]["frames"].as_array().expect("frames");
    let names: Vec<_> = frames.iter().filter_map(|frame| frame["name"].as_str()).collect();
    let more = names.iter().find_map(|name| name.strip_suffix(" more turns")).expect("turns");
    let more: u64 = more.parse().expect("a number");
    let events = profile["events"].as_array().expect("events");
    // Two events for each call that is drawn; two for all turns, and two for the caller.
    let drawn = (events.len() as u64 - 4) / 2;
    assert_eq!((drawn + more, events.len() < 5000), (1 << 32, true));
}
