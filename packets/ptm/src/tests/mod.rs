mod many;

use crate::*;
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

fn config(cycle_accurate: bool) -> Config {
    Config { cycle_accurate, timestamp_64: true, ..Config::default() }
}

fn emit(config: &Config, packet: &Packet) -> Result<Vec<u8>, EmitError> {
    let mut bytes = [0; MAX_PACKET];
    let len = packet.emit(config, &mut bytes)?;
    Ok(bytes[..len].to_vec())
}

/// A literal is read as this packet, and the packet is written as the literal.
#[track_caller]
fn both(config: Config, bytes: &[u8], packet: Packet) {
    assert_eq!(Packet::parse(&config, bytes), Ok((packet, bytes.len())));
    assert_eq!(emit(&config, &packet).unwrap(), bytes);
    for cut in 0..bytes.len() {
        let Err(ParseError::Incomplete { missing }) = Packet::parse(&config, &bytes[..cut]) else {
            panic!("{bytes:x?} cut at {cut}");
        };
        // At least one, and not more than there are.
        assert!((1..=bytes.len() - cut).contains(&missing.into()), "{bytes:x?} cut at {cut}");
    }
}

#[test]
fn vectors_of_public_captures() {
    let plain = config(false);
    both(plain, &[0, 0, 0, 0, 0, 0x80], Packet::Async { extra: 0 });
    let sync = ISync {
        address: 0x8000_0554,
        isa: Isa::Arm,
        reason: Reason::DebugExit,
        ns: false,
        hyp: false,
        cycles: None,
        context_id: None,
    };
    both(plain, &[0x08, 0x54, 0x05, 0x00, 0x80, 0x61], Packet::ISync(sync));
    both(plain, &[0x84], Packet::Atoms(Atoms::new(1, 1).unwrap()));
    both(plain, &[0x8a], Packet::Atoms(Atoms::new(2, 0b01).unwrap())); // E, then N
    both(plain, &[0xfc], Packet::Atoms(Atoms::new(5, 0b10000).unwrap())); // N N N N E
    let branch = |raw, bytes, isa| Packet::Branch {
        address: Address { raw, bytes, isa },
        exception: None,
        cycles: None,
    };
    both(plain, &[0xad, 0x05], branch(0x558 >> 2, 2, None));
    let halt = Exception { number: 1, ns: false, alt_isa: false, hyp: None };
    let address = Address { raw: 0, bytes: 5, isa: Some(Isa::Arm) };
    both(
        plain,
        &[0x81, 0x80, 0x80, 0x80, 0x48, 0x02],
        Packet::Branch { address, exception: Some(halt), cycles: None },
    );
    let low = Address { raw: 0xf0 >> 2, bytes: 1, isa: None };
    let written = [0x72, 0x78];
    both(plain, &written, Packet::Waypoint { address: low, alt_isa: None });
    // Bit 0 of the first address byte is ignored.
    let read = Packet::parse(&plain, &[0x72, 0x79]).unwrap().0;
    assert_eq!(read, Packet::Waypoint { address: low, alt_isa: None });

    let exact = config(true);
    let irq = Exception { number: 14, ns: true, alt_isa: false, hyp: None };
    let address = Address { raw: 0xffff_0018 >> 2, bytes: 5, isa: Some(Isa::Arm) };
    both(
        exact,
        &[0x8d, 0x80, 0xfe, 0xff, 0x4f, 0x1d, 0x3c],
        Packet::Branch { address, exception: Some(irq), cycles: Some(15) },
    );
    let time = Timestamp { value: 0xe80, bits: 14, clock_changed: false, cycles: Some(0) };
    both(exact, &[0x42, 0x80, 0x1d, 0x00], Packet::Timestamp(time));
    both(exact, &[0xe8, 0x20], Packet::Atom { taken: true, cycles: 522 });
    both(exact, &[0xde, 0x01], Packet::Atom { taken: false, cycles: 23 });
}

#[test]
fn addresses_build_on_each_other() {
    let mut target = Target { address: 0xc001_8dae, isa: Isa::Thumb };
    for (bytes, expected) in
        [(&[0xa3, 0x0b][..], 0xc001_85a2), (&[0xbb, 0xb6, 0xbd, 0x01], 0xc02f_5b3a)]
    {
        let Ok((Packet::Branch { address, .. }, _)) = Packet::parse(&config(false), bytes) else {
            panic!("not a branch");
        };
        target.update(&address, None);
        assert_eq!(target.address, expected);
    }
}

/// Every header of the table.
#[test]
fn all_headers() {
    let others = [0x00, 0x08, 0x0c, 0x3c, 0x42, 0x46, 0x66, 0x6e, 0x72, 0x76];
    for header in 0..=255u8 {
        let mut bytes = [0; 20];
        bytes[0] = header;
        bytes[5] = 0x80;
        let outcome = Packet::parse(&config(false), &bytes);
        if header & 1 == 1 || header & 0x80 != 0 || others.contains(&header) {
            assert!(outcome.is_ok(), "{header:#x}");
        } else {
            assert_eq!(outcome, Err(ParseError::Reserved(header)));
        }
    }
    // Atoms are written as they were read, except for two reserved headers.
    for header in (0x80..=0xfe).step_by(2) {
        let (packet, _) = Packet::parse(&config(false), &[header]).unwrap();
        let written = emit(&config(false), &packet).unwrap();
        assert_eq!(written == [header], header > 0x82, "{header:#x}");
    }
}

#[test]
fn registers_of_a_cortex_a15() {
    let registers = Registers { cr: 0x1000_1000, idr: 0x411c_f312, ccer: 0x34c0_1ac2 };
    assert_eq!(registers.config(), config(true));
    let first = Registers { idr: 0x411c_f302, ..registers }.config();
    assert!(!first.timestamp_64 && first.timestamp_gray);
}

/// The items that a reader finds in a stream cut into pieces; unsynchronised pieces are joined.
fn found(bytes: &[u8], piece: usize) -> Vec<(Found, usize)> {
    let mut reader = Reader::new(config(false));
    let (mut all, mut start, mut end): (Vec<(Found, usize)>, _, _) = (Vec::new(), 0, 0);
    while end < bytes.len() {
        end = (end + piece).min(bytes.len());
        while let Some((found, len)) = reader.next(&bytes[start..end]) {
            assert!(len > 0);
            start += len;
            match all.last_mut() {
                Some((Found::Unsynchronised, before)) if found == Found::Unsynchronised => {
                    *before += len;
                }
                _ => all.push((found, len)),
            }
        }
    }
    all
}

#[test]
fn a_stream_is_read_from_the_first_synchronisation_on() {
    let stream = [&[1, 2, 0, 0, 0, 3, 0x80][..], &[0; 18], &[0x80, 0x84, 0x02, 0x86]].concat();
    let expected = [
        (Found::Unsynchronised, 10), // three zeros too many
        (Found::Packet(Kind::Async), 16),
        (Found::Packet(Kind::Atom), 1),
        (Found::Bad(ParseError::Reserved(2)), 1),
        (Found::Packet(Kind::Atom), 1),
    ];
    assert_eq!(found(&stream, 100), expected);
}

fn any_packet() -> impl Strategy<Value = Packet> {
    let isas = prop::sample::select(vec![Isa::Arm, Isa::Thumb, Isa::Jazelle]);
    let address = (any::<u32>(), 1u8..6, isas.clone()).prop_map(|(raw, bytes, isa)| {
        let address = Address { raw: 0, bytes, isa: (bytes == 5).then_some(isa) };
        Address { raw: raw & ((1u64 << address.raw_bits()) - 1) as u32, ..address }
    });
    let exception = (0u16..0x200, any::<[bool; 2]>(), any::<Option<bool>>())
        .prop_map(|(number, [ns, alt_isa], hyp)| Exception { number, ns, alt_isa, hyp });
    let sync = (any::<u32>(), 0usize..3, 0usize..4, any::<[bool; 2]>(), any::<Option<u32>>())
        .prop_map(|(address, isa, reason, [ns, hyp], cycles)| {
            let reasons = [Reason::Periodic, Reason::TraceOn, Reason::Overflow, Reason::DebugExit];
            Packet::ISync(ISync {
                address: address & !1,
                isa: [Isa::Arm, Isa::Thumb, Isa::ThumbEe][isa],
                reason: reasons[reason],
                ns,
                hyp,
                cycles,
                context_id: None,
            })
        });
    prop_oneof![
        (0u8..11).prop_map(|extra| Packet::Async { extra }),
        sync,
        any::<u8>().prop_map(Packet::Vmid),
        (any::<u64>(), 1u8..10, any::<bool>(), any::<Option<u32>>()).prop_map(
            |(value, n, clock_changed, cycles)| {
                let bits = if n == 9 { 64 } else { n * 7 };
                let value = if n == 9 { value } else { value & ((1 << bits) - 1) };
                Packet::Timestamp(Timestamp { value, bits, clock_changed, cycles })
            }
        ),
        (address.clone(), any::<Option<bool>>())
            .prop_map(|(address, alt_isa)| Packet::Waypoint { address, alt_isa }),
        (address, prop::option::of(exception), any::<Option<u32>>())
            .prop_map(|(address, exception, cycles)| Packet::Branch { address, exception, cycles }),
        (1u8..6, any::<u8>()).prop_map(|(len, bits)| Packet::Atoms(Atoms::new(len, bits).unwrap())),
        (any::<bool>(), any::<u32>()).prop_map(|(taken, cycles)| Packet::Atom { taken, cycles }),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read(packet in any_packet(), cycle_accurate: bool) {
        let config = config(cycle_accurate);
        if let Ok(bytes) = emit(&config, &packet) {
            prop_assert_eq!(Packet::parse(&config, &bytes), Ok((packet, bytes.len())));
        }
    }

    #[test]
    fn packets_are_found_as_they_are_read(
        payload in prop::collection::vec(prop_oneof![1 => 0x80u8.., 1 => any::<u8>()], 0..20),
        cycle_accurate: bool,
    ) {
        let config = config(cycle_accurate);
        for header in 0..=255 {
            let bytes = [&[header], &payload[..]].concat();
            let read = Packet::parse(&config, &bytes).map(|(packet, len)| (packet.kind(), len as u8));
            prop_assert_eq!(Packet::find(&config, &bytes), read, "{:02x?}", bytes);
        }
    }

    #[test]
    fn what_is_read_is_written(
        bytes in prop::collection::vec(any::<u8>(), 20),
        cycle_accurate: bool,
        long: bool,
    ) {
        let config = Config { timestamp_64: long, context_id_bytes: 2, ..config(cycle_accurate) };
        if let Ok((packet, _)) = Packet::parse(&config, &bytes) {
            let written = emit(&config, &packet).unwrap();
            prop_assert_eq!(Packet::parse(&config, &written), Ok((packet, written.len())));
        }
    }

    #[test]
    fn compressed_addresses_are_found_again(
        steps in prop::collection::vec((any::<u32>(), 0u32..32, 0usize..3), 1..50)
    ) {
        let mut target = Target::default();
        for (random, bits, isa) in steps {
            let isa = [Isa::Arm, Isa::Thumb, Isa::Jazelle][isa];
            let near = (target.address ^ (random >> bits)) & !3;
            let sent = target.compress(near, isa);
            target.update(&sent, None);
            prop_assert_eq!((target.address, target.isa), (near, isa));
        }
    }

    #[test]
    fn any_stream_in_any_pieces_gives_the_same(
        bytes in prop::collection::vec(prop_oneof![4 => Just(0u8), 1 => Just(0x80), 3 => any::<u8>()], 0..300),
        piece in 1usize..20,
    ) {
        // Items that wait for more bytes at the end may be reported early, but never differently.
        let (pieces, whole) = (found(&bytes, piece), found(&bytes, 1000));
        prop_assert_eq!(pieces, whole);
    }
}
