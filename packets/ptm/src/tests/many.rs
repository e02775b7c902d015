//! Packets read many at a time are the same as packets read one at a time.

use crate::*;
use proptest::prelude::*;
use std::vec::Vec;

fn any_config() -> impl Strategy<Value = Config> {
    let bytes = prop::sample::select(&[0u8, 1, 2, 4]);
    (bytes, any::<bool>(), prop::bool::weighted(0.1)).prop_map(
        |(context_id_bytes, timestamp_64, cycle_accurate)| Config {
            context_id_bytes,
            timestamp_64,
            cycle_accurate,
            ..Config::default()
        },
    )
}

/// Bytes like those of streams: frequent packets, long runs of atoms, and arbitrary bytes.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let headers: &[u8] = &[0x42, 0x46, 0x72, 0x76, 0x81, 0xfb, 0x11];
    let payload = prop::collection::vec(prop_oneof![1 => 0x80u8.., 1 => any::<u8>()], 0..9);
    let piece = prop_oneof![
        4 => prop::collection::vec((0x40u8..0x80).prop_map(|byte| byte << 1), 1..4),
        1 => prop::collection::vec((0x40u8..0x80).prop_map(|byte| byte << 1), 1..80),
        4 => (prop::sample::select(headers), payload)
            .prop_map(|(header, payload)| [&[header], &payload[..]].concat()),
        1 => prop::collection::vec(any::<u8>(), 1..20),
    ];
    prop::collection::vec(piece, 0..120).prop_map(|pieces| pieces.concat())
}

/// Whether fields and packet have the same content.
fn is_same(fields: &Fields, packet: &Packet) -> bool {
    match *packet {
        Packet::Atoms(atoms) => fields.atoms() == Some(atoms),
        Packet::Branch { address, exception, cycles: None } => {
            fields.branch() == Some((address, exception))
        }
        Packet::Waypoint { address, alt_isa } => fields.waypoint() == Some((address, alt_isa)),
        Packet::Timestamp(timestamp) => fields.timestamp() == Some(timestamp),
        Packet::ExceptionReturn => fields.kind() == Kind::ExceptionReturn,
        _ => false,
    }
}

/// Returns how many packets of a synchronised stream are read many at a time. Fails if they differ from the
/// packets that are read one at a time.
fn check(config: Config, stream: &[u8]) -> usize {
    let [mut many, mut one] = [(); 2].map(|()| Reader::new(config));
    let mut batch = Batch::default();
    let (mut offset, mut count) = (0, 0);
    loop {
        let used = many.read(&stream[offset..], &mut batch);
        let end = offset + used;
        for fields in batch.packets() {
            let (found, len) = one.next(&stream[offset..]).unwrap();
            let (packet, parsed) = Packet::parse(&config, &stream[offset..]).unwrap();
            assert_eq!((found, len), (Found::Packet(fields.kind()), fields.len()));
            assert_eq!((packet.kind(), parsed), (fields.kind(), len));
            assert!(is_same(fields, &packet), "{fields:x?} is not {packet:x?}");
            offset += len;
            count += 1;
        }
        assert_eq!(offset, end);
        if used == 0 {
            let (by_many, by_one) = (many.next(&stream[offset..]), one.next(&stream[offset..]));
            assert_eq!(by_many, by_one);
            let Some((_, len)) = by_many else { return count };
            offset += len;
        }
    }
}

const ASYNC: [u8; 6] = [0, 0, 0, 0, 0, 0x80];

proptest! {
    #[test]
    fn streams(config in any_config(), bytes in any_bytes()) {
        check(config, &[&ASYNC, &bytes[..]].concat());
    }

    #[test]
    fn every_header(
        config in any_config(),
        payload in prop::collection::vec(prop_oneof![1 => 0x80u8.., 1 => any::<u8>()], 9),
        before in 0usize..64,
    ) {
        for header in 0..=u8::MAX {
            let stream = [&ASYNC, &[0x84; 64][..before], &[header], &payload, &[0x86; 150]].concat();
            check(config, &stream);
        }
    }
}

/// Most packets are actually read this way.
#[test]
fn frequent_packets_are_read() {
    let packets: [&[u8]; 8] = [
        &[0x84],
        &[0xad, 0x05],
        &[0x81, 0x80, 0x80, 0x80, 0x48, 0x02],
        &[0x8d, 0x80, 0xfe, 0xff, 0x4f, 0x9d, 0x03],
        &[0x72, 0x78],
        &[0x42, 0x80, 0x1d],
        &[0x76],
        &[0x13],
    ];
    let stream = [&ASYNC, &packets.concat().repeat(200)[..], &[0x84; 100]].concat();
    let count = check(Config::default(), &stream);
    assert!(count >= 200 * packets.len(), "{count}");
    assert_eq!(check(Config { cycle_accurate: true, ..Config::default() }, &stream), 0);
}
