mod many;
mod specification;
mod table;
mod vectors;

use crate::*;
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

/// Everything on, as ETE or not.
fn config(ete: bool) -> Config {
    Config {
        version: if ete { 0x53 } else { 0x46 },
        context_id_bytes: 4,
        vmid_bytes: 2,
        cycle_count_bits: 20,
        q: true,
        conditional: true,
        data: true,
        v8_m: true,
        ..Config::default()
    }
}

fn parse(config: &Config, bytes: &[u8]) -> Result<(Packet, usize), ParseError> {
    Packet::parse(&Headers::new(config), bytes)
}

fn emit(config: &Config, packet: &Packet) -> Result<Vec<u8>, EmitError> {
    let mut bytes = [0; MAX_PACKET];
    let len = packet.emit(&Headers::new(config), &mut bytes)?;
    Ok(bytes[..len].to_vec())
}

/// A literal is read as this packet, and the packet is written as the literal.
#[track_caller]
fn both(bytes: &[u8], packet: Packet) {
    let config = Config { vmid_bytes: 1, ..config(false) };
    assert_eq!(parse(&config, bytes), Ok((packet, bytes.len())));
    assert_eq!(emit(&config, &packet).unwrap(), bytes);
}

fn address(form: Form, is: Is, value: u64) -> Address {
    Address { form, is, value }
}

#[test]
fn vectors_of_public_captures() {
    let info = TraceInfo { info: Some(0), ..TraceInfo::default() };
    both(&[0x01, 0x01, 0x00], Packet::TraceInfo(info));
    let context = Context { el: 1, sf: true, ns: true, ..Context::default() };
    both(
        &[0x85, 0x28, 0x70, 0x1a, 0x00, 0xc0, 0xff, 0xff, 0xff, 0x31],
        Packet::AddressContext(address(Form::Long64, Is::Is0, 0xffff_ffc0_001a_e0a0), context),
    );
    let short = Form::Short { two: true };
    both(&[0x95, 0xac, 0x09], Packet::Address(address(short, Is::Is0, 0x12b0)));
    both(
        &[0x9a, 0x63, 0x02, 0x39, 0x00],
        Packet::Address(address(Form::Long32, Is::Is0, 0x39_058c)),
    );
    let exception = Exception { number: 0xc, returns: Return::Target, fault_pending: false };
    both(&[0x06, 0x58], Packet::Exception(exception));
    both(&[0xd4], Packet::Atoms(Atoms::new(24, 0xff_ffff).unwrap()));
    both(&[0xf4], Packet::Atoms(Atoms::new(24, 0x7f_ffff).unwrap()));
    both(&[0xfc], Packet::Atoms(Atoms::new(3, 0b100).unwrap()));
    both(&[0x2e, 0x04], Packet::Cancel(Cancel::F1 { count: 4, mispredict: false }));
    both(&[0x2d, 0x04], Packet::Commit(4));
    let q = |address, count| Packet::Q(Q { address: Some(address), count: Some(count) });
    both(&[0xa5, 0x86, 0x1c, 0x03], q(address(short, Is::Is0, 0x3818), 3));
    both(&[0xaa, 0x34, 0x3f, 0x06, 0x00, 0x03], q(address(Form::Long32, Is::Is0, 0x6_7ed0), 3));
}

#[test]
fn addresses_build_on_each_other() {
    let mut addresses = Addresses::default();
    let long = address(Form::Long64, Is::Is0, 0xffff_ffc0_001a_e0a0);
    assert_eq!(addresses.update(&long, false).0, 0xffff_ffc0_001a_e0a0);
    let middle = address(Form::Long32, Is::Is0, 0x39_058c);
    assert_eq!({ addresses }.update(&middle, false).0, 0x39_058c);
    assert_eq!(addresses.update(&middle, true).0, 0xffff_ffc0_0039_058c);
    let short = address(Form::Short { two: true }, Is::Is0, 0x12b0);
    assert_eq!(addresses.update(&short, true).0, 0xffff_ffc0_0038_12b0);
    let oldest = address(Form::Match(2), Is::Is0, 0);
    assert_eq!(addresses.update(&oldest, true).0, 0xffff_ffc0_001a_e0a0);
    assert_eq!(addresses.last(), (0xffff_ffc0_001a_e0a0, Is::Is0));
}

/// Every header of the table, with enough bytes after it, in every configuration of interest.
#[test]
fn all_headers() {
    // Counted from the table of the specification: 08..0b, 47 4b 4f, 60..67, 84 87 89..8f, 93 94,
    // 97..99 9c 9f, seven of the Q row, b0..bf.
    let all = 4 + 3 + 8 + 9 + 2 + 5 + 7 + 16;
    let table = [
        (config(false), all),
        // 09..0b exist, and the source addresses.
        (config(true), all - 3 - 9),
        // 05, 70, 88 and nine of the Q row do not exist.
        (Config::default(), all + 3 + 9),
    ];
    for (config, reserved) in table {
        let headers = Headers::new(&config);
        let found = (0..=255).filter(|header| headers.class(*header) == Class::Reserved);
        assert_eq!(found.count(), reserved);
        for header in 0..=255u8 {
            let mut bytes = [0; 40];
            bytes[0] = header;
            if header == 0 {
                bytes[11] = 0x80;
            }
            let outcome = Packet::parse(&headers, &bytes);
            match headers.class(header) {
                Class::Packet(kind) => {
                    let (packet, len) = outcome.unwrap();
                    if !matches!(kind, Kind::Extension | Kind::Exception) {
                        assert_eq!(packet.kind(), kind);
                    }
                    // Wherever the packet is cut, the only error is that more bytes are needed.
                    for cut in 0..len {
                        let error = Packet::parse(&headers, &bytes[..cut]).unwrap_err();
                        let ParseError::Incomplete { missing } = error else {
                            panic!("{header:#04x} cut at {cut}: {error}");
                        };
                        // At least one, and not more than there are.
                        assert!((1..=len - cut).contains(&missing.into()), "{header:#04x}");
                    }
                    assert_eq!(emit(&config, &packet).unwrap()[0], header);
                }
                Class::Reserved => assert_eq!(outcome, Err(ParseError::Reserved(header))),
                Class::NotConfigured(_) => {
                    assert_eq!(outcome, Err(ParseError::NotConfigured(header)));
                }
            }
        }
    }
}

#[test]
fn malformed_sequences_say_how_much_to_skip() {
    let bad = |bytes: &[u8], kind, len| {
        assert_eq!(parse(&config(false), bytes), Err(ParseError::BadSequence { kind, len }));
    };
    bad(&[0x00, 0x07], Kind::Extension, 2);
    bad(&[0, 0, 0, 0, 0x13], Kind::Async, 5);
    bad(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81], Kind::Async, 12);
    bad(&[0x2d, 0x80, 0x80, 0x80, 0x80, 0x80], Kind::Commit, 6);
}

#[test]
fn registers_of_a_cortex_a53() {
    let registers = Registers {
        configr: 0xc1,
        idr0: 0x2800_0ea1,
        idr1: 0x4100_f403,
        idr2: 0x0000_0488,
        idr8: 0,
        devarch: None,
    };
    let expected = Config {
        version: 0x40,
        context_id_bytes: 4,
        vmid_bytes: 1,
        commopt: true,
        ..Config::default()
    };
    assert_eq!(registers.config(), expected);
    let ete = Registers { devarch: Some(0x4771_5a13), idr1: 0x4100_fff0, ..registers };
    assert_eq!(ete.config().version, 0x51);
}

#[test]
fn commits_of_cycle_counts() {
    let config = Config { max_speculation: 0x78, ..Config::default() };
    let far = CycleCount::F2 { far: true, commit: 3, count: 2 };
    assert_eq!(far.commits(&config), 0x78 + 3 - 15);
    assert_eq!(far.cycles(4), Some(6));
    assert_eq!(CycleCount::F3 { commit: 3, count: 1 }.commits(&config), 4);
    assert_eq!(far.commits(&Config { commopt: true, ..config }), 0);
    assert_eq!(CycleCount::F1 { commit: Some(7), count: None }.cycles(4), None);
}

/// The items that a reader finds in a stream that is cut into pieces.
fn found(bytes: &[u8], piece: usize) -> Vec<(Found, usize)> {
    let mut reader = Reader::new(Headers::new(&config(true)));
    let (mut all, mut start, mut end) = (Vec::new(), 0, 0);
    while end < bytes.len() {
        end = (end + piece).min(bytes.len());
        while let Some((found, len)) = reader.next(&bytes[start..end]) {
            assert!(len > 0);
            start += len;
            all.push((found, len));
        }
    }
    all
}

#[test]
fn a_stream_is_read_from_the_first_synchronisation_on() {
    let stream = [
        &[0x95, 0xaf, 0x31, 0xf7, 0x95, 0x84, 0x27, 0xf7, 1, 0, 5][..],
        &[0; 13],
        &[0x80, 0xf7, 0xb3, 0xf6],
    ]
    .concat();
    let atom = Found::Packet(Kind::AtomF1);
    let expected = [
        (Found::Unsynchronised, 8),
        (Found::Unsynchronised, 1),
        (Found::Unsynchronised, 2),
        (Found::Unsynchronised, 2), // two zeros too many
        (Found::Packet(Kind::Async), 12),
        (atom, 1),
        (Found::Bad(ParseError::Reserved(0xb3)), 1),
        (atom, 1),
    ];
    assert_eq!(found(&stream, 100), expected);
}

fn any_address() -> impl Strategy<Value = Address> {
    let is = prop::sample::select(vec![Is::Is0, Is::Is1]);
    let form = prop_oneof![
        (0u8..3).prop_map(Form::Match),
        any::<bool>().prop_map(|two| Form::Short { two }),
        Just(Form::Long32),
        Just(Form::Long64),
    ];
    (form, is, any::<u64>()).prop_map(|(form, is, value)| match form {
        Form::Match(_) => Address { form, is: Is::Is0, value: 0 },
        _ => {
            let bits = Address { form, is, value: 0 }.bits();
            let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
            Address { form, is, value: value & mask & !(if is == Is::Is0 { 3 } else { 1 }) }
        }
    })
}

fn any_context() -> impl Strategy<Value = Context> {
    let ids = (any::<Option<u16>>(), any::<Option<u32>>());
    (0u8..4, any::<[bool; 3]>(), ids).prop_map(|(el, [sf, ns, nse], (vmid, context_id))| Context {
        el,
        sf,
        ns,
        nse,
        vmid: vmid.map(u32::from),
        context_id,
    })
}

fn any_packet() -> impl Strategy<Value = Packet> {
    let count = || prop_oneof![0u32..200, any::<u32>()];
    let results = (0u8..16, any::<u32>(), any::<bool>())
        .prop_map(|(result, key, ci)| ConditionalResult { key, result, ci });
    let exception = (0u16..0x400, 0u8..4, any::<bool>()).prop_map(|(number, e, fault_pending)| {
        let returns = [Return::None, Return::Address, Return::Target, Return::Reserved][e as usize];
        Exception { number, returns, fault_pending }
    });
    let ts = (any::<u64>(), 1u8..10, prop::option::of(0u32..1 << 20)).prop_map(|(v, n, cycles)| {
        let bits = if n == 9 { 64 } else { n * 7 };
        let value = if n == 9 { v } else { v & ((1 << bits) - 1) };
        Packet::Timestamp(Timestamp { value, bits, cycles })
    });
    prop_oneof![
        ts,
        any::<[Option<u32>; 5]>().prop_map(|[info, key, speculation, threshold, window]| {
            Packet::TraceInfo(TraceInfo { info, key, speculation, threshold, window })
        }),
        exception.prop_map(Packet::Exception),
        (any::<u8>(), any::<u64>()).prop_map(|(el, value)| Packet::Ite { el, value }),
        (count(), prop::option::of(0u32..1 << 22)).prop_map(|(commit, count)| {
            Packet::CycleCount(CycleCount::F1 { commit: Some(commit), count })
        }),
        (any::<bool>(), 0u8..16, 0u8..16).prop_map(|(far, commit, count)| {
            Packet::CycleCount(CycleCount::F2 { far, commit, count })
        }),
        count().prop_map(Packet::Commit),
        (count(), any::<bool>())
            .prop_map(|(count, mispredict)| Packet::Cancel(Cancel::F1 { count, mispredict })),
        (any::<bool>(), 2u8..6)
            .prop_map(|(atom, count)| Packet::Cancel(Cancel::F3 { atom, count })),
        (results.clone(), prop::option::of(results)).prop_map(|(a, b)| Packet::ResultF1(a, b)),
        count().prop_map(Packet::ConditionalF1),
        prop::option::of(any_context()).prop_map(Packet::Context),
        any_address().prop_map(Packet::Address),
        any_address().prop_map(Packet::Source),
        (any_address(), any_context()).prop_map(|(a, c)| Packet::AddressContext(a, c)),
        (prop::option::of(any_address()), prop::option::of(count()))
            .prop_map(|(address, count)| Packet::Q(Q { count, address })),
        (1u8..25, any::<u32>()).prop_map(|(len, bits)| {
            Packet::Atoms(Atoms::new(len, bits).unwrap_or(Atoms::new(1, 1).unwrap()))
        }),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read(packet in any_packet(), ete in any::<bool>()) {
        let config = config(ete);
        if let Ok(bytes) = emit(&config, &packet) {
            prop_assert_eq!(parse(&config, &bytes), Ok((packet, bytes.len())));
        }
    }

    #[test]
    fn what_is_read_is_written(bytes in prop::collection::vec(any::<u8>(), 40), ete: bool) {
        let config = config(ete);
        if let Ok((packet, len)) = parse(&config, &bytes) {
            prop_assert!(len <= 40);
            let written = emit(&config, &packet).unwrap();
            prop_assert_eq!(parse(&config, &written), Ok((packet, written.len())));
        }
    }

    #[test]
    fn packets_are_found_as_they_are_read(
        payload in prop::collection::vec(prop_oneof![1 => 0x80u8.., 1 => any::<u8>()], 0..30),
        on: bool,
        ete: bool,
        commopt: bool,
    ) {
        let config = Config { commopt, ..if on { config(ete) } else { Config::default() } };
        let headers = Headers::new(&config);
        for header in 0..=255 {
            let bytes = [&[header], &payload[..]].concat();
            let read = Packet::parse(&headers, &bytes).map(|(packet, len)| (packet.kind(), len as u8));
            prop_assert_eq!(headers.find(&bytes), read, "{:02x?}", bytes);
        }
    }

    #[test]
    fn compressed_addresses_are_found_again(
        steps in prop::collection::vec((any::<u64>(), 0u32..64, any::<bool>(), any::<bool>()), 1..50)
    ) {
        let (mut writer, mut reader) = (Addresses::default(), Addresses::default());
        for (random, bits, thumb, wide) in steps {
            let is = if thumb { Is::Is1 } else { Is::Is0 };
            let near = (writer.last().0 ^ (random >> bits)) & !3;
            let sent = writer.compress(near, is, wide);
            prop_assert_eq!(writer.update(&sent, wide), (near, is));
            prop_assert_eq!(reader.update(&sent, wide), (near, is));
        }
    }

    #[test]
    fn any_stream_in_any_pieces_gives_the_same(
        bytes in prop::collection::vec(prop_oneof![3 => Just(0u8), 1 => Just(0x80), 4 => any::<u8>()], 0..300),
        piece in 1usize..20,
    ) {
        prop_assert_eq!(found(&bytes, piece), found(&bytes, 1000));
    }
}
