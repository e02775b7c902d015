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

    fn suspend(&mut self, frame: &Frame, at: u64) -> Note {
        self.0.push('_');
        self.0.push(Self::name(frame));
        [frame.function, at]
    }

    fn resume(&mut self, frame: &Frame, at: u64, note: Option<Note>) {
        let Some([function, since]) = note else { return self.enter(frame, at) };
        assert!(function == frame.function && since <= at, "the note of another function");
        self.0.push('=');
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
    assert_eq!(stack.finish().0, "?a+b!c+d-d-c!c-c_b_a?e!c-c_e=a=b-b-a=e-e");
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
    assert_eq!(stack.finish().0, "?a+b_b_a?f_f=a=b-b-a=f-f");
}

/// Threads that an operating system runs in turn: each goes on where it was, however it was left.
#[test]
fn threads_go_on_after_their_own_traps() {
    let mut stack = start();
    let context = |context| Event::Context { privilege: 0, context, time: 0 };
    step(&mut stack, 0x1000, Transfer::Call);
    step(&mut stack, 0x1100, Transfer::None);
    event(&mut stack, trap(0x1104));
    event(&mut stack, context(1));
    // A new thread starts in the same function.
    step(&mut stack, 0x1108, Transfer::Call);
    step(&mut stack, 0x1200, Transfer::None);
    event(&mut stack, trap(0x1204));
    event(&mut stack, context(0));
    step(&mut stack, 0x1104, Transfer::Return);
    step(&mut stack, 0x1004, Transfer::None);
    event(&mut stack, trap(0x1008));
    event(&mut stack, context(1));
    step(&mut stack, 0x1204, Transfer::Return);
    step(&mut stack, 0x110c, Transfer::None);
    assert_eq!(stack.finish().0, "?a+b_b_a?b+c_c_b=a=b-b_a=b=c-c-b=a-a");
}

/// An operating system that is not traced calls handlers of signals, which return through a system call.
#[test]
fn handlers_of_signals() {
    let mut stack = start();
    let call = |epc| Event::Trap { cause: 8, interrupt: false, tval: None, epc: Some(epc) };
    step(&mut stack, 0x1000, Transfer::Call);
    step(&mut stack, 0x1100, Transfer::None);
    event(&mut stack, call(0x1104));
    step(&mut stack, 0x1200, Transfer::Call);
    // The handler makes a system call of its own, and is interrupted by another one.
    step(&mut stack, 0x1300, Transfer::None);
    event(&mut stack, call(0x1304));
    step(&mut stack, 0x1308, Transfer::None);
    event(&mut stack, trap(0x130c));
    step(&mut stack, 0x1400, Transfer::Return);
    // Code without a name.
    step(&mut stack, 0x9000, Transfer::None);
    event(&mut stack, call(0x9004));
    step(&mut stack, 0x130c, Transfer::Return);
    step(&mut stack, 0x1204, Transfer::Return);
    step(&mut stack, 0x9000, Transfer::None);
    event(&mut stack, call(0x9004));
    step(&mut stack, 0x1108, Transfer::Return);
    step(&mut stack, 0x1004, Transfer::None);
    assert_eq!(stack.finish().0, "?a+b!c+d!e-e-d-c-b-a");
}

/// A long jump leaves the handler of a signal, and what the signal has interrupted; that of an operating system does not.
#[test]
fn a_long_jump_out_of_a_handler() {
    for (privilege, calls) in [(0, "?a+b+c!d+e-e-d-c-b-a"), (3, "?a+b+c!d+e-e~a-a-d-c-b-a")] {
        let mut stack = start();
        event(&mut stack, Event::Context { privilege, context: 0, time: 0 });
        step(&mut stack, 0x1000, Transfer::Call);
        step(&mut stack, 0x1100, Transfer::Call);
        step(&mut stack, 0x1200, Transfer::None);
        event(
            &mut stack,
            Event::Trap { cause: 7, interrupt: false, tval: None, epc: Some(0x1204) },
        );
        step(&mut stack, 0x1300, Transfer::Call);
        step(&mut stack, 0x1400, Transfer::Return);
        step(&mut stack, 0x1040, Transfer::None);
        assert_eq!(stack.finish().0, calls);
    }
}

/// What waits for a gap is left before it, and the stack of its context is forgotten.
#[test]
fn nothing_waits_across_a_gap() {
    let mut stack = start();
    let context = |context| Event::Context { privilege: 3, context, time: 0 };
    step(&mut stack, 0x1000, Transfer::Call);
    step(&mut stack, 0x1100, Transfer::None);
    event(&mut stack, context(1));
    step(&mut stack, 0x1500, Transfer::None);
    event(&mut stack, Event::Gap(Fault::NotSynchronised));
    event(&mut stack, context(0));
    step(&mut stack, 0x1104, Transfer::None);
    assert_eq!(stack.finish().0, "?a+b_b_a?f-f=a=b-b-a gap ?b-b");
}

/// Threads that have ended make room for others, and one that goes on is remembered.
#[test]
fn many_threads_one_after_the_other() {
    let mut stack = start();
    let context = |context| Event::Context { privilege: 3, context, time: 0 };
    step(&mut stack, 0x1000, Transfer::Call);
    step(&mut stack, 0x1100, Transfer::None);
    for thread in 1..5000 {
        event(&mut stack, context(thread));
        step(&mut stack, 0x1500, Transfer::None);
        event(&mut stack, context(0));
        step(&mut stack, 0x1104, Transfer::None);
    }
    let log = stack.finish().0;
    assert_eq!((log.matches("+b").count(), log.matches("?a").count()), (1, 1));
    assert_eq!((log.matches("=b").count(), log.matches("-f").count()), (4999, 4999));
}

/// Of stacks that wait, those that have waited longest are left when there are too many.
#[test]
fn waiting_stacks_are_bounded() {
    let mut stack = start();
    let threads = (MAX_WAITING / (MAX_DEPTH + 1)) as u64 + 8;
    for thread in 0..threads {
        event(&mut stack, Event::Context { privilege: 3, context: thread, time: 0 });
        for _ in 0..=MAX_DEPTH {
            step(&mut stack, 0x1000, Transfer::Call);
        }
    }
    assert!(stack.visit().0.contains("=a"), "none was left");
    let log = stack.finish().0;
    let count = |mark: &str| log.matches(mark).count();
    assert_eq!((count("_a"), count("+a") + count("?a")), (count("=a"), count("-a")));
}

/// A caller that nothing has called, and a function that goes on in the middle, are not entered.
#[test]
fn only_what_is_reached_at_its_start_is_entered() {
    #[derive(Default)]
    struct Entered(String);
    impl Visit for Entered {
        fn enter(&mut self, frame: &Frame, _: u64) {
            self.0.push(Letters::name(frame));
        }
        fn leave(&mut self, _: &Frame, _: u64) {}
        fn resume(&mut self, _: &Frame, _: u64, note: Option<Note>) {
            assert_eq!(note, None);
        }
    }
    let mut part = Transfers::new(functions());
    let steps = [
        (0x1204, Transfer::Call),
        (0x1000, Transfer::None),
        // A jump to the start of another function, from there back into the middle, and out of what called all that.
        (0x1100, Transfer::None),
        (0x1008, Transfer::Return),
        (0x1208, Transfer::Return),
        (0x1304, Transfer::None),
    ];
    for (pc, transfer) in steps {
        let run = Run::new(pc, &[0], pc + 4, Leaves::Indirect).unwrap();
        part.run(StreamPos::default(), run.with_transfer(transfer));
    }
    let mut stack = CallStack::new(functions(), Entered::default());
    stack.replay(&part);
    assert_eq!(stack.finish().0, "ab");
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
    assert_eq!(stack.finish().0, "?m<i<j+a-a-j+b_b_i_m?c_c=m=i=b-b-i-m=c-c");
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
