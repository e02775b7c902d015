use super::*;
use crate::event::{Event, Fault, StreamPos};
use crate::run::{Leaves, Run, Transfer};
use crate::sink::Sink;
use std::sync::Arc;

/// Functions of 0x100 bytes each, from 0x1000 up, named a, b, c, ...
struct Letters(String);

impl Letters {
    fn name(frame: &Frame) -> char {
        char::from(b'a' + (frame.function >> 8) as u8 - 0x10)
    }
}

impl Visit for Letters {
    fn enter(&mut self, frame: &Frame, _: u64) {
        self.0.push(match frame.why {
            Why::Unknown => '?',
            Why::Call => '+',
            Why::TailCall => '~',
            Why::Inlined(_) => '<',
            Why::Trap { .. } => '!',
        });
        self.0.push(Self::name(frame));
    }

    fn leave(&mut self, frame: &Frame, _: u64) {
        self.0.push('-');
        self.0.push(Self::name(frame));
    }

    fn gap(&mut self, _: u64) {
        self.0.push_str(" gap ");
    }
}

/// The upper half of each function from i on has i inlined, and the upper half of that has j inlined in i.
fn functions() -> Arc<Functions> {
    let functions = (0..16).map(|number| 0x1000 + 0x100 * number..0x1100 + 0x100 * number);
    let inlined =
        [Inlined { entry: 0x1800, caller: None }, Inlined { entry: 0x1900, caller: Some(0) }];
    let places = (8..16).flat_map(|number| {
        let start = 0x1000 + 0x100 * number;
        [(start + 0x80..start + 0xc0, 0), (start + 0xc0..start + 0x100, 1)]
    });
    Arc::new(Functions::new(functions).with_inlined(inlined, places))
}

fn start() -> CallStack<Letters> {
    CallStack::new(functions(), Letters(String::new()))
}

/// One instruction at an address.
fn step(stack: &mut CallStack<Letters>, pc: u64, transfer: Transfer) {
    let run = Run::new(pc, &[0], pc + 4, Leaves::Indirect).unwrap();
    // Each is a part of its own.
    let mut part = Transfers::new(functions());
    part.run(StreamPos::default(), run.with_transfer(transfer));
    stack.replay(&part);
}

fn event(stack: &mut CallStack<Letters>, event: Event) {
    let mut part = Transfers::new(functions());
    part.event(StreamPos::default(), event);
    stack.replay(&part);
}

fn trap(epc: u64) -> Event {
    Event::Trap { cause: 7, interrupt: true, tval: None, epc: Some(epc) }
}

#[test]
fn callers_that_are_not_known() {
    let mut stack = start();
    step(&mut stack, 0x1250, Transfer::Return);
    step(&mut stack, 0x1140, Transfer::Return);
    step(&mut stack, 0x1040, Transfer::None);
    assert_eq!(stack.frames().len(), 1);
    assert_eq!(stack.finish().0, "?c-c?b-b?a-a");
}

#[test]
fn a_long_jump_leaves_what_it_skips() {
    let mut stack = start();
    step(&mut stack, 0x1000, Transfer::Call);
    step(&mut stack, 0x1100, Transfer::Call);
    step(&mut stack, 0x1200, Transfer::Call);
    // Not where a called b, but in a.
    step(&mut stack, 0x1300, Transfer::Return);
    step(&mut stack, 0x1020, Transfer::None);
    assert_eq!(stack.finish().0, "?a+b+c+d-d-c-b-a");
}

#[test]
fn a_tail_call_returns_to_the_caller() {
    let mut stack = start();
    step(&mut stack, 0x1000, Transfer::Call);
    step(&mut stack, 0x1100, Transfer::None);
    step(&mut stack, 0x1200, Transfer::None);
    step(&mut stack, 0x1204, Transfer::Return);
    step(&mut stack, 0x1004, Transfer::None);
    assert_eq!(stack.finish().0, "?a+b-b~c-c-a");
}

#[test]
fn recursion_and_co_routines() {
    let mut stack = start();
    step(&mut stack, 0x1000, Transfer::Call);
    step(&mut stack, 0x1000, Transfer::Call);
    step(&mut stack, 0x1008, Transfer::Return);
    step(&mut stack, 0x1004, Transfer::Swap);
    step(&mut stack, 0x1100, Transfer::Swap);
    assert_eq!(stack.finish().0, "?a+a+a-a-a+b-b-a");
}

#[test]
fn nothing_is_known_after_a_gap() {
    let mut stack = start();
    step(&mut stack, 0x1000, Transfer::Call);
    step(&mut stack, 0x1100, Transfer::Call);
    event(&mut stack, Event::Gap(Fault::NotSynchronised));
    step(&mut stack, 0x1200, Transfer::Return);
    assert_eq!(stack.finish().0, "?a+b-b-a gap ?c-c");
}

#[test]
fn traps_and_threads() {
    let mut stack = start();
    step(&mut stack, 0x1000, Transfer::Call);
    step(&mut stack, 0x1100, Transfer::None);
    event(&mut stack, trap(0x1104));
    step(&mut stack, 0x1200, Transfer::Call);
    step(&mut stack, 0x1300, Transfer::TrapReturn);
    // The first thread goes on, and is interrupted for another one.
    step(&mut stack, 0x1104, Transfer::None);
    event(&mut stack, trap(0x1108));
    step(&mut stack, 0x1200, Transfer::TrapReturn);
    step(&mut stack, 0x1400, Transfer::None);
    event(&mut stack, trap(0x1404));
    step(&mut stack, 0x1200, Transfer::TrapReturn);
    step(&mut stack, 0x1108, Transfer::Return);
    step(&mut stack, 0x1004, Transfer::None);
    assert_eq!(stack.finish().0, "?a+b!c+d-d-c!c-c-b-a?e!c-c-e?a+b-b-a");
}

#[test]
fn contexts_have_their_own_stacks() {
    let mut stack = start();
    let context = |context| Event::Context { privilege: 3, context, time: 0 };
    step(&mut stack, 0x1000, Transfer::Call);
    step(&mut stack, 0x1100, Transfer::None);
    event(&mut stack, context(1));
    step(&mut stack, 0x1500, Transfer::None);
    event(&mut stack, context(0));
    step(&mut stack, 0x1104, Transfer::Return);
    step(&mut stack, 0x1004, Transfer::None);
    assert_eq!(stack.finish().0, "?a+b-b-a?f-f?a+b-b-a");
}

#[test]
fn calls_without_end_are_counted() {
    let mut stack = start();
    for _ in 0..2 * MAX_DEPTH {
        step(&mut stack, 0x1000, Transfer::Call);
    }
    assert_eq!(stack.frames().len(), MAX_DEPTH);
    step(&mut stack, 0x1000, Transfer::Return);
    for _ in 0..MAX_DEPTH {
        step(&mut stack, 0x1004, Transfer::Return);
    }
    assert_eq!(stack.frames().len(), MAX_DEPTH);
    step(&mut stack, 0x1004, Transfer::Return);
    step(&mut stack, 0x1004, Transfer::None);
    assert_eq!(stack.frames().len(), MAX_DEPTH - 1);
}

#[test]
fn inlined_functions_stay_while_they_call() {
    let mut stack = start();
    step(&mut stack, 0x1c00, Transfer::None);
    // From k into j in i in k, which calls a.
    step(&mut stack, 0x1cc0, Transfer::Call);
    step(&mut stack, 0x1000, Transfer::Return);
    step(&mut stack, 0x1cc4, Transfer::None);
    step(&mut stack, 0x1c80, Transfer::Call);
    step(&mut stack, 0x1100, Transfer::None);
    event(&mut stack, Event::Context { privilege: 3, context: 1, time: 0 });
    step(&mut stack, 0x1200, Transfer::None);
    event(&mut stack, Event::Context { privilege: 3, context: 0, time: 0 });
    step(&mut stack, 0x1104, Transfer::Return);
    // The call was the last instruction of what is inlined.
    step(&mut stack, 0x1c10, Transfer::None);
    assert_eq!(stack.finish().0, "?m<i<j+a-a-j+b-b-i-m?c-c?m<i+b-b-i-m");
}

#[test]
fn a_run_through_inlined_functions_is_divided() {
    struct Times(Vec<(u64, u64)>);
    impl Visit for Times {
        fn enter(&mut self, frame: &Frame, at: u64) {
            self.0.push((frame.function, at));
        }
        fn leave(&mut self, frame: &Frame, at: u64) {
            self.0.push((frame.function + 1, at));
        }
    }
    let mut part = Transfers::new(functions());
    let run = Run::new(0x1878, &[0, 4, 8, 0x44, 0x48, 0x88, 0x8c], 0x1908, Leaves::No).unwrap();
    part.run(StreamPos::default(), run);
    let mut stack = CallStack::new(functions(), Times(Vec::new()));
    stack.replay(&part);
    assert_eq!(stack.instructions(), 7);
    let expected = [
        (0x1800, 0),
        (0x1800, 2),
        (0x1900, 4),
        (0x1901, 5),
        (0x1801, 5),
        (0x1801, 5),
        (0x1900, 5),
        (0x1901, 7),
    ];
    assert_eq!(stack.finish().0, expected);
}
