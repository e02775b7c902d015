//! Vectors, identities, and round trips on the bundled programs.

use super::*;
use crate::cost::PartKind;
use crate::test_bits::parse;
use hartrace_isa::Xlen;
use hartrace_iss::{Environment, Hart, HartConfig, Range, Retire};

/// The steps of a program, up to a limit.
fn executed(elf: &[u8], xlen: Xlen, steps: u64) -> Vec<DataStep> {
    struct Keep(Vec<DataStep>);
    impl Retire for Keep {
        const DETAIL: bool = true;
        fn retire(&mut self, step: &Step) {
            self.0.extend(DataStep::of(step));
        }
    }
    let config = HartConfig {
        xlen,
        memory: vec![Range { base: 0x8000_0000, size: 16 << 20 }],
        environment: Environment::Htif,
        ..HartConfig::default()
    };
    let mut hart = Hart::new(config);
    hart.load_elf(elf).expect("a program");
    let mut keep = Keep(Vec::new());
    hart.run(steps, &mut keep);
    keep.0
}

#[test]
fn programs_come_back() {
    let programs: [(&str, &[u8], Xlen); 6] = [
        ("sort", include_bytes!("../../../tests/programs/elf/sort.elf"), Xlen::Rv64),
        ("strings", include_bytes!("../../../tests/programs/elf/strings.elf"), Xlen::Rv32),
        ("float", include_bytes!("../../../tests/programs/elf/float.elf"), Xlen::Rv64),
        ("user", include_bytes!("../../../tests/programs/elf/user.elf"), Xlen::Rv64),
        ("atomics", include_bytes!("../../../tests/programs/elf/cva6/atomics.elf"), Xlen::Rv64),
        ("interrupts", include_bytes!("../../../tests/programs/elf/interrupts.elf"), Xlen::Rv64),
    ];
    let mut schemes = DataScheme::defaults();
    for name in
        ["DAF+ADAC-16x4", "ADAC-8x4[window=1,shift_min=4,shift_max=4]", "gzip-1-DA", "gzip-1-LV"]
    {
        schemes.push((name, name.parse().unwrap()));
    }
    let after_increase = AfterIncrease::Zero;
    let small = Adac { sets: 2, ways: 2, window: 1, after_increase, ..Adac::default() };
    schemes.push(("small ADAC", DataScheme::Adac(small)));
    schemes.push(("ADAC as printed", DataScheme::Adac(printed())));
    let small = FirstAccess { size: 256, line: 16, ways: 2, ..FirstAccess::default() };
    schemes.push(("small FAT", DataScheme::FirstAccess(small)));
    schemes.push(("small FAC", DataScheme::FirstAccess(FirstAccess { dedicated: true, ..small })));
    for (program, elf, xlen) in programs {
        let steps = executed(elf, xlen, 100_000);
        assert!(steps.iter().filter(|step| step.reference.is_some()).count() > 5_000, "{program}");
        for (name, scheme) in &schemes {
            let (mut writer, mut out) = (scheme.coder(xlen).unwrap(), Bits::default());
            let (mut raw_sent, mut loads) = (0, 0);
            for step in &steps {
                let before = out.len();
                let lookup = writer.encode(step, &mut out);
                let raw = scheme.raw_bits(step, xlen.bits());
                // What was found shows in the bits as well.
                if let Some(expected) = lookup_by_bits(scheme, step, xlen, out.len() - before) {
                    assert_eq!(lookup, expected, "{program} {name}: {step:x?}");
                }
                raw_sent += if out.len() - before > 1 { raw } else { 0 };
                loads += u64::from(raw > 0);
            }
            writer.finish(&mut out).unwrap();
            // The cost, according to the source.
            if let DataScheme::FirstAccess(_) = scheme {
                assert_eq!(out.len(), loads + raw_sent);
            }
            let (mut reader, mut from) = (scheme.coder(xlen).unwrap(), BitSource::new(&out));
            for (number, step) in steps.iter().enumerate() {
                let found = reader.decode(&scheme.hidden(step), &mut from);
                let what = format!("{program} {name}: step {number} {step:x?}");
                assert_eq!(found.expect(&what), scheme.field(step), "{what}");
            }
            assert_eq!(from.left(), 0, "{program} {name}");
        }
    }
}

/// Whether a step was found, from the number of bits that were written for it; `None` where that does not say it.
fn lookup_by_bits(scheme: &DataScheme, step: &DataStep, xlen: Xlen, bits: u64) -> Option<Lookup> {
    let xlen = u64::from(xlen.bits());
    let Some(reference) = step.reference else {
        return (!matches!(scheme, DataScheme::PackedValues(_))).then_some(Lookup::None);
    };
    match scheme {
        DataScheme::Filter(_) | DataScheme::Filtered(..) => {
            if let DataScheme::Filter(_) = scheme {
                assert!(bits == 0 || bits == xlen);
            }
            Some(if bits == 0 { Lookup::Hit } else { Lookup::Miss })
        }
        DataScheme::Adac(Adac { ways, window, .. }) => {
            let whole = u64::from(1 + 2 * ways.ilog2() + window.ilog2()) + xlen;
            Some(if bits < whole { Lookup::Hit } else { Lookup::Miss })
        }
        DataScheme::FirstAccess(_) if step.succeeded.is_none() => Some(match reference.loaded {
            None => Lookup::None,
            Some(_) if bits == 1 => Lookup::Hit,
            Some(_) => Lookup::Miss,
        }),
        _ => None,
    }
}

#[test]
fn names_of_data_schemes() {
    for name in [
        "",
        "ADAC",
        "ADAC-16",
        "FAT-8",
        "gzip-1",
        "gzip-1-X",
        "DAF[x=1]",
        "FAC-1K[x=1]",
        "FAT-99999999999999999999K",
    ] {
        let error = name.parse::<DataScheme>().unwrap_err();
        assert_eq!(error.to_string(), format!("there is no data scheme `{name}`"));
    }
    assert_eq!(DataScheme::defaults().len(), DataScheme::DEFAULT.len());
    let fixed = "ADAC-8x4[window=1,shift_min=4,shift_max=4]".parse::<DataScheme>().unwrap();
    let expected = Adac { sets: 8, window: 1, shift_min: 4, shift_max: 4, ..Adac::default() };
    assert_eq!(fixed, DataScheme::Adac(expected));
    // A hit sends 1 bit and 4, however often there is one.
    let addresses = [&[0x2001_0000; 50][..], &[0x2001_000c]].concat();
    assert_eq!(address_bits(expected, &addresses).len(), 37 + 50 * 5);
    let wrong = Adac { shift_min: 13, ..Adac::default() };
    assert!(DataScheme::Adac(wrong).coder(Xlen::Rv32).is_err());
    assert!("gzip-0-DA".parse::<DataScheme>().unwrap().coder(Xlen::Rv32).is_err());
}

#[test]
fn addresses_in_a_row() {
    let mut coder = Adac { align: 2, ..Adac::default() }.coder(32).unwrap();
    let mut out = Bits::default();
    let mut text = String::new();
    for number in 0..12_u64 {
        let address = 0x2001_0000 + 4 * number;
        let reference = Reference { address, size: 4, loaded: Some(0), stored: None };
        let reference = Some(reference);
        let step = DataStep { pc: 0x1000, encoding: 0, reference, succeeded: None };
        coder.encode(&step, &mut out);
        text += &match number {
            0 => format!("0 00 00 00 {address:032b}"),
            1..=8 => format!("1 {:012b}", address & 0xfff),
            _ => format!("1 {:011b}", address & 0x7ff),
        };
    }
    assert_eq!(out, parse(&text));
    let gates = |sets| {
        let cost = DataScheme::Adac(Adac { sets, ..Adac::default() }).cost(32).unwrap();
        (cost.gates_of(PartKind::Tables), cost.bits_of(PartKind::Order))
    };
    assert_eq!((gates(16), gates(128)), ((3_840.0, 80), (30_720.0, 640)));
}

/// Figure 5.4 of the source, taken literally.
fn printed() -> Adac {
    let (after_increase, search) = (AfterIncrease::Zero, AdacSearch::FirstWay);
    Adac { after_increase, search, update_on_hit: false, align: 2, ..Adac::default() }
}

/// The records of references of one instruction.
fn address_bits(config: Adac, addresses: &[u64]) -> Bits {
    let (mut coder, mut out) = (config.coder(32).unwrap(), Bits::default());
    for address in addresses {
        let reference =
            Some(Reference { address: *address, size: 4, loaded: Some(0), stored: None });
        coder.encode(&DataStep { pc: 0, encoding: 0, reference, succeeded: None }, &mut out);
    }
    out
}

/// After an increase from 11 bits the counter is at its maximum, so that 12 bits are sent from then on. As printed it
/// is 0, and the next hit takes the increase back.
#[test]
fn an_increase_lasts() {
    let config = Adac { align: 2, ..Adac::default() };
    let zero = Adac { after_increase: AfterIncrease::Zero, ..config };
    // A miss and eight hits reduce the bits to 11; then bit 11 changes, and stays as it is.
    let addresses = [&[0x2001_0000; 9][..], &[0x2001_0800; 3]].concat();
    let start = format!("0 00 00 00 {:032b}", 0x2001_0000) + &"1 000000000000".repeat(8);
    let increase = format!("0 11 11 01 {:012b}", 0x800);
    let twelve = format!("1 {:012b}", 0x800);
    let expected = start.clone() + &increase + &twelve + &twelve;
    assert_eq!(address_bits(config, &addresses), parse(&expected));
    let undone = start + &increase + &twelve + "1 00000000000";
    assert_eq!(address_bits(zero, &addresses), parse(&undone));
}

/// After 32 hits, 8 bits of the address in way 1 are sent. An address that differs from it in bit 14 then fills way 0.
/// The first address again fits way 1 with 8 bits, and way 0 with 12 and 3 more.
#[test]
fn the_way_with_the_fewest_bits_is_taken() {
    let addresses = [&[0x2001_0000; 33][..], &[0x2001_4000, 0x2001_0000]].concat();
    let config = Adac { align: 2, ways: 2, ..Adac::default() };
    let first = Adac { search: AdacSearch::FirstWay, ..config };
    let before = address_bits(config, &addresses[..34]);
    assert_eq!(address_bits(first, &addresses[..34]), before);
    assert_eq!(address_bits(config, &addresses).len() - before.len(), 1 + 1 + 8);
    assert_eq!(address_bits(first, &addresses).len() - before.len(), 1 + 1 + 1 + 2 + 15);
}

/// An entry holds the last address. As printed it holds the one that filled it, which a program soon leaves.
#[test]
fn a_hit_updates_the_address() {
    let addresses = [0x2001_0000, 0x2001_7000, 0x2001_7004];
    let config = Adac { align: 2, ..Adac::default() };
    let before = address_bits(config, &addresses[..2]).len();
    assert_eq!(before, 39 + 1 + 2 + 2 + 2 + 15);
    assert_eq!(address_bits(config, &addresses).len() - before, 1 + 12);
    let kept = Adac { update_on_hit: false, ..config };
    assert_eq!(address_bits(kept, &addresses).len() - before, 1 + 2 + 2 + 2 + 15);
}

/// Decoding of damaged bits never panics and always ends.
#[test]
fn damage_is_survived() {
    let elf = include_bytes!("../../../tests/programs/elf/user.elf");
    let steps = executed(elf, Xlen::Rv64, 5_000);
    for (name, scheme) in DataScheme::defaults() {
        let (mut writer, mut out) = (scheme.coder(Xlen::Rv64).unwrap(), Bits::default());
        steps.iter().for_each(|step| _ = writer.encode(step, &mut out));
        for at in (0..out.len()).step_by(out.len() as usize / 40 + 1) {
            let mut bytes = out.bytes().to_vec();
            bytes[at as usize / 8] ^= 0x80 >> (at % 8);
            for damaged in [Bits::new(bytes, out.len()), Bits::new(out.bytes().to_vec(), at)] {
                let (mut reader, mut from) =
                    (scheme.coder(Xlen::Rv64).unwrap(), BitSource::new(&damaged));
                let mut read =
                    steps.iter().map(|step| reader.decode(&scheme.hidden(step), &mut from));
                let failed = read.find_map(Result::err);
                assert!(failed.is_none_or(|error| error.bit <= out.len()), "{name}");
            }
        }
    }
}

/// A load or store of 4 bytes.
fn accessed(address: u64, loaded: Option<u64>, stored: Option<u64>) -> DataStep {
    let reference = Some(Reference { address, size: 4, loaded, stored });
    DataStep { pc: 0, encoding: 0, reference, succeeded: None }
}

/// Encodes steps, checks that they are recovered, and returns the bits.
fn value_bits(config: FirstAccess, steps: &[DataStep]) -> Bits {
    let scheme = DataScheme::FirstAccess(config);
    let (mut writer, mut out) = (scheme.coder(Xlen::Rv32).unwrap(), Bits::default());
    steps.iter().for_each(|step| _ = writer.encode(step, &mut out));
    let (mut reader, mut from) = (scheme.coder(Xlen::Rv32).unwrap(), BitSource::new(&out));
    for step in steps {
        assert_eq!(reader.decode(&scheme.hidden(step), &mut from), Ok(scheme.field(step)));
    }
    assert_eq!(from.left(), 0);
    out
}

/// When another agent writes to memory, the core's cache must be informed; the trace module detects
/// it.
#[test]
fn a_cache_of_its_own_compares() {
    let load = |value| accessed(0x8000_0040, Some(value), None);
    let steps = [load(5), load(5), load(6), load(6)];
    let own = FirstAccess { dedicated: true, ..FirstAccess::default() };
    let (five, six) = (format!("0 {:032b}", 5), format!("0 {:032b}", 6));
    assert_eq!(value_bits(own, &steps), parse(&format!("{five} 1 {six} 1")));
    // A stored value is known too; of a line, only the accessed bytes are known.
    let store = accessed(0x8000_0040, None, Some(7));
    let other = accessed(0x8000_0044, Some(5), None);
    assert_eq!(value_bits(own, &[store, load(7), other]), parse(&format!("1 {five}")));
    let cost = DataScheme::FirstAccess(own).cost(32).unwrap();
    let parts = [PartKind::Tables, PartKind::Valid, PartKind::Order];
    let bits = parts.map(|part| cost.bits_of(part));
    assert_eq!(bits, [128 * (512 + 32 - 6 - 5), 128 * 64, 32 * 5]);
}

/// Under Linux a system call may have written what was known.
#[test]
fn a_system_call_may_write() {
    let load = |value| accessed(64, Some(value), None);
    let call = DataStep { pc: 0, encoding: 0x73, reference: None, succeeded: None };
    let steps = [load(1), load(1), call, load(2), load(2)];
    let config = FirstAccess { handlers: false, ..FirstAccess::default() };
    let (one, two) = (format!("0 {:032b}", 1), format!("0 {:032b}", 2));
    assert_eq!(value_bits(config, &steps), parse(&format!("{one} 1 {two} 1")));
    // Where handlers are traced, they have written nothing that the trace does not have.
    let bare = FirstAccess::default();
    let steps = [load(1), call, load(1)];
    assert_eq!(value_bits(bare, &steps), parse(&format!("{one} 1")));
    let scheme = DataScheme::FirstAccess(bare).with_handlers(false);
    assert_eq!(scheme, DataScheme::FirstAccess(config));
}

/// A load into `x0` reveals no value, though the line is in the cache afterwards.
#[test]
fn what_nobody_sees_is_not_known() {
    for dedicated in [false, true] {
        let config = FirstAccess { dedicated, ..FirstAccess::default() };
        let steps = [accessed(64, None, None), accessed(64, Some(9), None)];
        assert_eq!(value_bits(config, &steps), parse(&format!("0 {:032b}", 9)));
    }
}

#[test]
fn conditional_stores_say_whether_they_stored() {
    let load = |value| accessed(64, Some(value), None);
    let stored = |value| DataStep { succeeded: Some(true), ..accessed(64, None, Some(value)) };
    let failed = DataStep { pc: 0, encoding: 0, reference: None, succeeded: Some(false) };
    let steps = [load(1), stored(2), load(2), failed, load(2)];
    let text = format!("0 {:032b} 1 1 0 1", 1);
    assert_eq!(value_bits(FirstAccess::default(), &steps), parse(&text));
    let scheme = DataScheme::FirstAccess(FirstAccess::default());
    assert_eq!((scheme.field(&stored(2)), scheme.field(&failed)), (Some(0), Some(1)));
    assert_eq!((scheme.raw_bits(&stored(2), 32), scheme.raw_bits(&failed, 32)), (1, 1));
    // The reader cannot distinguish them before the bit is read.
    assert_eq!(scheme.hidden(&failed).succeeded, scheme.hidden(&stored(2)).succeeded);
    assert!(scheme.hidden(&failed).reference.is_some());
    // An address scheme sends nothing for one that failed.
    assert_eq!(DataScheme::Nexus.field(&failed), None);
}

#[test]
fn what_makes_no_coder_is_refused() {
    for ways in [0, 3, 512] {
        assert!(DataScheme::Adac(Adac { ways, ..Adac::default() }).coder(Xlen::Rv32).is_err());
    }
    for line in [0, 48, 128] {
        let config = FirstAccess { line, ..FirstAccess::default() };
        assert!(DataScheme::FirstAccess(config).coder(Xlen::Rv64).is_err());
    }
}
