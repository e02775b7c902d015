//! Places where a faster encoder could differ from the golden one, and random walks rarely lead.

use hartrace_encoder::{
    Combine, Comparator, Condition, Encoder, EncoderConfig, Filter, Function, Input, Resync,
};
use hartrace_etrace::ingress::{IType, Retired};
use hartrace_etrace::{Compat, Ioptions, Params};
use hartrace_golden::Encoded;

/// Encodes with both and compares everything; the modes change after the blocks, and they repeat.
fn same(config: &EncoderConfig, blocks: &[Retired], then: Option<Ioptions>) -> usize {
    let mut golden = hartrace_golden::Encoder::new(config.clone()).unwrap();
    let mut production = Encoder::new(config.clone()).unwrap();
    let (mut expected, mut sent) = (Vec::new(), Vec::new());
    let mut expect = |encoded: Encoded| expected.push(encoded);
    let mut send = |encoded: hartrace_encoder::Encoded<'_>| {
        let hartrace_encoder::Encoded { row, payload, bytes, reason } = encoded;
        sent.push(Encoded { row, payload, bytes: bytes.to_vec(), reason });
    };
    for (options, at_once) in [(then, true), (None, false)] {
        blocks.iter().for_each(|block| golden.retire(block, &mut expect));
        // At once and, the second time, one by one.
        match at_once {
            true => production.retire_all(blocks, &mut send),
            false => blocks.iter().for_each(|block| production.retire(block, &mut send)),
        }
        if let Some(options) = options {
            golden.set_options(options, &mut expect).unwrap();
            production.set_options(options, &mut send).unwrap();
        }
    }
    golden.finish(&mut expect);
    production.finish(&mut send);
    assert_eq!(sent, expected);
    sent.len()
}

fn block(iaddr: u64, iretire: u32, itype: IType) -> Retired {
    Retired { iretire, itype, ilastsize: 0, ..Retired::plain(iaddr) }
}

/// A payload of the pending step and one of the first of the next block, just before
/// a resynchronisation is due.
#[test]
fn two_payloads_of_one_block_before_a_resynchronisation() {
    let jump = IType::UninferableTailCall;
    let mut blocks = Vec::new();
    for n in 0..40 {
        let itype = if n % 7 == 3 { IType::Taken } else { jump };
        blocks.push(block(0x1000 + 0x20 * n, 1 + n as u32 % 3, itype));
    }
    for period in 0..20 {
        for resync in [Resync::Packets(period), Resync::Cycles(period), Resync::HalfWords(period)] {
            let config = EncoderConfig { resync, ..EncoderConfig::default() };
            assert!(same(&config, &blocks, None) > 60, "{resync:?}");
        }
    }
}

/// A row in which nothing happens has a number, and leaves the step before it pending.
#[test]
fn rows_in_which_nothing_happens_are_counted() {
    let jump = IType::UninferableTailCall;
    let mut blocks: Vec<_> = (0..12).map(|n| block(0x1000 + 0x20 * n, 2, jump)).collect();
    for place in [11, 8, 8, 5, 3] {
        blocks.insert(place, block(0x5000, 0, IType::None));
    }
    assert!(same(&EncoderConfig::default(), &blocks, None) > 20);
}

/// The predictor of the C model is never reset, and is trained while its mode is off (C5).
#[test]
fn a_predictor_is_trained_before_its_mode_is_on() {
    let blocks: Vec<_> = (0..80)
        .map(|n| block(0x1000, 2, [IType::Taken, IType::NotTaken][usize::from(n % 40 == 39)]))
        .collect();
    let params = Params { bpred_size_p: 4, ..Params::default() };
    let on = Ioptions { branch_prediction: true, ..Ioptions::default() };
    let mut payloads = Vec::new();
    for compat in [Compat::None, Compat::PythonModel, Compat::CModel] {
        let config = EncoderConfig { params, compat, ..EncoderConfig::default() };
        payloads.push(same(&config, &blocks, Some(on)));
        let config = EncoderConfig { options: on, ..config };
        payloads.push(same(&config, &blocks, Some(Ioptions::default())));
    }
    assert!(payloads.iter().all(|count| *count > 8), "{payloads:?}");
}

/// A block around the end of the address space offers odd addresses if it starts at one.
#[test]
fn blocks_around_the_end_of_the_address_space() {
    let wraps = |iaddr| block(iaddr, 8, IType::None);
    let blocks = [u64::MAX - 3, u64::MAX - 4, 0x100, 0x101].map(wraps);
    for operand in [0, 1, 2, 3, 4, 0x100, 0x101, u64::MAX, u64::MAX - 1] {
        for primary in [Function::Equal, Function::NotEqual, Function::Less, Function::Greater] {
            for combine in [Combine::Primary, Combine::Both, Combine::NotBoth, Combine::Latch] {
                let secondary = (Function::LessEqual, 2);
                let primary = (primary, operand);
                let comparator = Comparator { input: Input::Iaddress, primary, secondary, combine };
                let condition = Condition { comparators: vec![0], ..Condition::default() };
                let filter = Filter {
                    comparators: vec![comparator],
                    conditions: vec![condition],
                    initially_on: true,
                };
                let params = Params { iaddress_width_p: 64, ..Params::default() };
                let config = EncoderConfig { params, filter, ..EncoderConfig::default() };
                assert!(same(&config, &blocks, None) >= 2);
            }
        }
    }
}

/// Handlers of traps that a filter asks for, within others and with blocks that are missing.
#[test]
fn handlers_of_traps() {
    let mut rng = fastrand::Rng::with_seed(1);
    let comparator = Comparator::within(Input::Tval, 1, 2);
    let mut longest = 0;
    for _ in 0..500 {
        let blocks: Vec<_> = (0..200)
            .map(|n| {
                let itypes = [IType::Exception, IType::Interrupt, IType::TrapReturn, IType::None];
                let itype = itypes[rng.usize(..4)];
                Retired {
                    cause: rng.u64(..4),
                    tval: rng.u64(..4),
                    reset: rng.u8(..50) == 0,
                    ..block(0x1000 + 0x20 * n, rng.u32(..3), itype)
                }
            })
            .collect();
        let condition = Condition {
            comparators: if rng.bool() { vec![0] } else { vec![] },
            causes: rng.bool().then(|| vec![rng.u64(..4), rng.u64(..4)]),
            interrupt: rng.bool().then(|| rng.bool()),
            privileges: None,
        };
        let filter = Filter {
            comparators: vec![comparator],
            conditions: vec![condition.clone(), Condition { causes: Some(vec![1]), ..condition }],
            initially_on: true,
        };
        let config = EncoderConfig { filter, ..EncoderConfig::default() };
        longest = longest.max(same(&config, &blocks, None));
    }
    assert!(longest > 100);
}
