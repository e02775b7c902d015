//! Payloads that count branches: a few bytes stand for billions of them.

use hartrace_bits::BitWriter;
use hartrace_decoder::calls::{CallStack, Frame, Functions, Transfers, Visit};
use hartrace_decoder::{
    Config, Count, Coverage, Edges, Event, Fault, Frequencies, Image, Path, Run, Sink, StreamPos,
    Tracer,
};
use hartrace_etrace::ingress::{IType, Retired};
use hartrace_etrace::{
    AddressReport, Branch, BranchCount, BranchFmt, BranchMap, Ioptions, Params, Payload, Start,
};
use hartrace_golden::encoder::EncoderConfig;
use hartrace_isa::{Isa, Xlen};
use hartrace_tests::production::feed;
use std::sync::Arc;

const BASE: u64 = 0x8000_0000;

/// Decrements and branches back, then returns.
const LOOP: [u16; 3] = [0x157d, 0xfd7d, 0x8082]; // c.addi a0,-1; c.bnez a0,.-2; ret

fn image(code: &[u16]) -> Image {
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    let bytes: Vec<u8> = code.iter().flat_map(|half| half.to_le_bytes()).collect();
    image.add(BASE, &bytes);
    image
}

fn config() -> Config {
    let params = Params {
        iaddress_width_p: 64,
        bpred_size_p: 7,
        return_stack_size_p: 4,
        ..Params::default()
    };
    Config { params, ..Config::default() }
}

fn options() -> Ioptions {
    Ioptions { branch_prediction: true, implicit_return: true, ..Ioptions::default() }
}

/// A synchronisation at the start, and `taken` branches.
fn start(taken: u8) -> [Payload; 2] {
    let start = Start { branch: true, privilege: 3, address: BASE >> 1, ..Start::default() };
    let map = BranchMap::new(taken, 0).expect("at most 31");
    [Payload::Start(start), Payload::Branch(Branch { map, address: None })]
}

/// `count` predicted branches, then one that is not.
fn counted(count: u32) -> Payload {
    let branch_fmt = BranchFmt::NoAddress;
    Payload::BranchCount(BranchCount { branch_count: count - 31, branch_fmt })
}

fn decode<S: Sink>(image: &Image, config: Config, payloads: &[Payload], sink: &mut S) {
    let mut tracer = Tracer::new(config, image).expect("legal");
    tracer.set_options(options());
    for (packet, payload) in (0..).zip(payloads) {
        tracer.feed(StreamPos { packet, byte: 0 }, payload, sink);
    }
    tracer.finish(sink);
}

/// A sink that wants to see every turn, around one that only adds up.
#[derive(Default)]
struct Every<S>(S);

impl<S: Sink> Sink for Every<S> {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.0.run(at, run);
    }

    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        self.0.path(at, path);
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.0.event(at, event);
    }
}

/// Counts the calls of the tracer.
#[derive(Default)]
struct Calls {
    count: Count,
    calls: u64,
    faults: Vec<Fault>,
}

impl Sink for Calls {
    const REPEATS: bool = true;

    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.calls += 1;
        self.count.run(at, run);
    }

    fn repeat(&mut self, at: StreamPos, run: Run<'_>, times: u64) {
        self.calls += 1;
        self.count.repeat(at, run, times);
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.count.event(at, event);
        if let Event::Gap(fault) = event {
            self.faults.push(fault);
        }
    }
}

/// The instructions of [`LOOP`] up to the last of `branches`, with that branch.
fn instructions(branches: u64) -> u64 {
    2 * branches
}

#[test]
fn eighty_million_branches_are_no_gap() {
    const COUNT: u32 = 80_000_000;
    let payloads: Vec<_> = start(31).into_iter().chain([counted(COUNT)]).collect();
    let want = Count { instructions: instructions(31 + u64::from(COUNT) + 1), gaps: 0 };
    let mut sum = Count::default();
    decode(&image(&LOOP), config(), &payloads, &mut sum);
    assert_eq!(sum, want);
    // The same, turn by turn.
    let mut every = Every::<Count>::default();
    decode(&image(&LOOP), config(), &payloads, &mut every);
    assert_eq!(every.0, want);
}

/// Every payload counts as many branches as it can.
#[test]
fn a_few_hostile_bytes_cost_little() {
    let image = image(&LOOP);
    let layout = config().params.layout(config().unit).expect("legal");
    let mut payloads = start(31).to_vec();
    // With an address, the next payload continues in the same loop.
    let branch_fmt = BranchFmt::Address(AddressReport::new(2 >> 1));
    let most = BranchCount { branch_count: u32::MAX, branch_fmt };
    payloads.push(Payload::BranchCount(most));
    let bytes: usize = payloads
        .iter()
        .map(|payload| {
            let mut bytes = [0; 32];
            let mut out = BitWriter::new(&mut bytes);
            payload.emit(&layout, options(), &mut out).expect("fits");
            1 + out.finish_compressed()
        })
        .sum();
    assert!(bytes <= 26, "{bytes} bytes");
    let mut calls = Calls::default();
    decode(&image, config(), &payloads, &mut calls);
    assert_eq!(calls.faults, []);
    assert!(calls.calls < 1000, "{} calls for {bytes} bytes", calls.calls);
    let branches = 31 + 31 + u64::from(u32::MAX);
    assert_eq!(calls.count.instructions, instructions(branches));
}

/// The limit of blocks holds for branches that are only counted, whatever the loop.
#[test]
fn counted_branches_keep_to_the_limit() {
    const LIMIT: u64 = 1000;
    // The second: loop: c.beqz a0,.+4; c.nop; c.bnez a0,loop.
    for code in [&LOOP[..], &[0xc111, 0x0001, 0xfd75, 0xbfed]] {
        let image = image(code);
        let payloads: Vec<_> = start(31).into_iter().chain([counted(4000)]).collect();
        let config = Config { max_blocks: LIMIT, ..config() };
        let mut every = Every::<Calls>::default();
        decode(&image, config, &payloads, &mut every);
        let Calls { count, faults, .. } = every.0;
        let [Fault::TooLong { blocks: LIMIT, .. }] = faults[..] else {
            panic!("{faults:?} after {} instructions", count.instructions)
        };
        // No block has more than two instructions; those before the count have their own limit.
        let most = 2 * (LIMIT + 40);
        assert!((LIMIT..=most).contains(&count.instructions), "{count:?}");
    }
}

/// Loops of all kinds: what is added up does not depend on whether turns are reported together.
#[test]
fn sums_do_not_depend_on_repetition() {
    let calls = [
        0x157d, // loop: c.addi a0,-1
        0x00ef, 0x00c0, // jal ra, f
        0x0001, // c.nop
        0xfd65, // c.bnez a0,loop
        0x8082, // ret
        0x0001, // c.nop
        0xa009, // f: c.j .+2
        0xc111, // c.beqz a0,.+4
        0x8082, // ret
        0x8082, // ret
    ];
    let mut long = vec![0x0001; 700]; // more than two blocks
    long.push(0xa009); // c.j .+2
    // beq x0,x0 back to the start
    let offset = -(2 * long.len() as i32);
    let bits = |value: i32, from: u32, count: u32| ((value >> from) as u32) & ((1 << count) - 1);
    let word = bits(offset, 12, 1) << 31
        | bits(offset, 5, 6) << 25
        | bits(offset, 1, 4) << 8
        | bits(offset, 11, 1) << 7
        | 0x63;
    long.extend([word as u16, (word >> 16) as u16, 0x8082]);
    let programs: [(&str, &[u16], u8); 3] =
        [("loop", &LOOP, 3), ("calls", &calls, 0), ("long", &long, 3)];
    let mut repeated = 0;
    for (name, code, taken) in programs {
        let image = image(code);
        for count in [31, 32, 64, 100, 4095, 4096, 4097, 5000, 100_003] {
            let mut payloads = start(taken.max(1)).to_vec();
            if taken == 0 {
                // f: not taken; loop: taken; twice.
                let map = BranchMap::new(4, 0b0101).expect("four");
                payloads[1] = Payload::Branch(Branch { map, address: None });
            }
            payloads.push(counted(count));
            payloads.push(counted(count + 7));
            let (mut sum, mut every) = (Calls::default(), Every::<Calls>::default());
            decode(&image, config(), &payloads, &mut sum);
            decode(&image, config(), &payloads, &mut every);
            assert_eq!(sum.count, every.0.count, "{name}, {count}");
            assert!(sum.count.instructions > u64::from(count), "{name}, {count}: {:?}", sum.faults);
            repeated += u32::from(sum.calls < every.0.calls / 2);
            let (mut sum, mut every) = (Edges::default(), Every::<Edges>::default());
            decode(&image, config(), &payloads, &mut sum);
            decode(&image, config(), &payloads, &mut every);
            assert_eq!(sum.sorted(), every.0.sorted(), "{name}, {count}");
            let (mut sum, mut every) = (Frequencies::default(), Every::<Frequencies>::default());
            decode(&image, config(), &payloads, &mut sum);
            decode(&image, config(), &payloads, &mut every);
            assert_eq!(sum.sorted(), every.0.sorted(), "{name}, {count}");
            let (mut sum, mut every) = (Coverage::default(), Every::<Coverage>::default());
            decode(&image, config(), &payloads, &mut sum);
            decode(&image, config(), &payloads, &mut every);
            assert_eq!(sum.ranges(), every.0.ranges(), "{name}, {count}");
            let [sum, every] = [true, false].map(|repeats| stacks(&image, &payloads, repeats));
            assert_eq!(sum, every, "{name}, {count}");
            // Blocks that are dropped all the time make no difference.
            let mut sum = Calls::default();
            let small = Config { block_cap: 2, ..config() };
            decode(&image, small, &payloads, &mut sum);
            assert_eq!(sum.count, every_count(&image, &payloads), "{name}, {count}");
        }
    }
    assert!(repeated > 10, "only {repeated} streams with repetitions");
}

/// Functions that are entered and left.
#[derive(Default)]
struct Entered(Vec<(u64, u64)>);

impl Visit for Entered {
    fn enter(&mut self, frame: &Frame, at: u64) {
        self.0.push((frame.function, at));
    }

    fn leave(&mut self, _: &Frame, at: u64) {
        self.0.push((0, at));
    }
}

/// Follows the call stack, of all turns or of counted ones.
fn stacks(image: &Image, payloads: &[Payload], repeats: bool) -> (Vec<(u64, u64)>, u64) {
    let functions = Arc::new(Functions::default());
    let mut transfers = Every(Transfers::new(Arc::clone(&functions)));
    match repeats {
        true => decode(image, config(), payloads, &mut transfers.0),
        false => decode(image, config(), payloads, &mut transfers),
    }
    let mut stack = CallStack::new(functions, Entered::default());
    stack.replay(&transfers.0);
    let insns = stack.instructions();
    (stack.finish().0, insns)
}

fn every_count(image: &Image, payloads: &[Payload]) -> Count {
    let mut every = Every::<Count>::default();
    decode(image, config(), payloads, &mut every);
    every.0
}

/// A loop with a branch inside that is taken in every turn for a while, and then in none: the same count of predicted
/// branches arrives at the same place, and means another path.
#[test]
fn a_count_means_what_is_predicted_now() {
    // loop: c.beqz a0,.+4; c.nop; c.bnez a0,loop; c.j loop
    let image = image(&[0xc111, 0x0001, 0xfd75, 0xbfed]);
    let block = |offset, iretire, itype| Retired {
        iretire,
        itype,
        ilastsize: 0,
        ..Retired::plain(BASE + offset)
    };
    let outcome = |taken| if taken { IType::Taken } else { IType::NotTaken };
    let mut blocks = Vec::new();
    for round in 0..60 {
        let skips = round / 5 % 2 == 0;
        for turn in 0..40 {
            blocks.push(block(0, 1, outcome(skips)));
            let (offset, iretire) = if skips { (4, 1) } else { (2, 2) };
            blocks.push(block(offset, iretire, outcome(turn < 39)));
        }
        blocks.push(block(6, 1, IType::OtherInferableJump));
    }
    let Config { params, unit, .. } = config();
    let options = Ioptions { branch_prediction: true, ..Ioptions::default() };
    let encoder = EncoderConfig { params, unit, options, ..EncoderConfig::default() };
    let mut encoder = hartrace_golden::Encoder::new(encoder).expect("legal");
    let mut payloads = Vec::new();
    let mut out = |encoded: hartrace_golden::Encoded| payloads.push(encoded.bytes);
    blocks.iter().for_each(|block| encoder.retire(block, &mut out));
    encoder.finish(&mut out);
    let executed = blocks.iter().flat_map(|block| {
        (0..u64::from(block.iretire)).map(|half| block.iaddr + 2 * half).collect::<Vec<_>>()
    });

    let mut tracer = Tracer::new(config(), &image).expect("legal");
    let mut listing = Listing::default();
    for (packet, payload) in payloads.iter().enumerate() {
        feed(&mut tracer, packet as u64, payload, &mut listing);
    }
    tracer.finish(&mut listing);
    assert_eq!(listing.addresses, executed.collect::<Vec<_>>());
    assert!(listing.paths > 30, "only {} payloads were remembered", listing.paths);
}

/// The addresses of all instructions, and the number of payloads whose paths were remembered.
#[derive(Default)]
struct Listing {
    addresses: Vec<u64>,
    paths: u64,
}

impl Sink for Listing {
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        run.addresses(|address| self.addresses.push(address));
    }

    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        self.paths += 1;
        path.runs().for_each(|run| self.run(at, run));
    }
}

/// Functions that call the next one eight times each: no state repeats for a very long time, although
/// there is no branch. The limit on that is in the message.
#[test]
fn endless_calls_are_a_gap_with_its_limit() {
    const DEPTH: usize = 12;
    // Each function: eight times `jal ra, next`, then ret; 36 bytes with padding.
    let mut code = Vec::new();
    for depth in 0..DEPTH {
        for call in 0..8 {
            let offset: u32 = if depth + 1 < DEPTH { 36 - 4 * call } else { 4 };
            let jal = if depth + 1 < DEPTH { (offset << 20) | 0xef } else { 0x13 };
            code.extend([jal as u16, (jal >> 16) as u16]);
        }
        code.extend([0x8082, 0x0001]); // ret; c.nop
    }
    let image = image(&code);
    let beyond = AddressReport { notify: true, ..AddressReport::new(34 >> 1) };
    let payloads = [start(1)[0], Payload::Address(beyond)];
    let mut calls = Calls::default();
    decode(&image, Config { max_detour: 10_000, ..config() }, &payloads, &mut calls);
    let [Fault::TooLong { blocks: 10_000, .. }] = calls.faults[..] else {
        panic!("{:?}", calls.faults)
    };
    assert!(calls.calls < 10_100, "{} calls", calls.calls);
    let text = calls.faults[0].to_string();
    assert!(text.contains("limit of blocks, 10000"), "{text}");
}
