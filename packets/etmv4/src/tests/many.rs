//! Packets read many at a time are the same as packets read one at a time.

use super::config;
use crate::many::single;
use crate::*;
use proptest::prelude::*;
use std::vec::Vec;

/// Everything that changes what headers and bytes mean.
fn any_config() -> impl Strategy<Value = Config> {
    let bytes = (prop::sample::select(&[0u8, 1, 2, 4]), prop::sample::select(&[0u8, 4]));
    let versions = prop::sample::select(&[0x40u8, 0x42, 0x43, 0x46, 0x50, 0x53]);
    (versions, bytes, any::<[bool; 5]>()).prop_map(
        |(version, (vmid_bytes, context_id_bytes), [commopt, q, conditional, data, v8_m])| Config {
            version,
            vmid_bytes,
            context_id_bytes,
            commopt,
            q,
            conditional,
            data,
            v8_m,
            ..config(false)
        },
    )
}

/// Bytes like those of streams: frequent packets, long runs of atoms, and arbitrary bytes.
pub(super) fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let headers: &[u8] =
        &[0x02, 0x06, 0x07, 0x0c, 0x2d, 0x82, 0x85, 0x86, 0x91, 0x95, 0x96, 0x9a, 0x9d];
    let piece = prop_oneof![
        4 => prop::collection::vec(0xc0u8.., 1..4),
        1 => prop::collection::vec(0xc0u8.., 1..80),
        4 => (prop::sample::select(headers), prop::collection::vec(any::<u8>(), 0..18))
            .prop_map(|(header, payload)| [&[header], &payload[..]].concat()),
        1 => prop::collection::vec(any::<u8>(), 1..20),
        1 => prop::collection::vec(0x80u8.., 1..12),
    ];
    prop::collection::vec(piece, 0..120).prop_map(|pieces| pieces.concat())
}

/// Whether fields and packet have the same content.
fn is_same(headers: &Headers, batch: &Batch, fields: &Fields, packet: &Packet) -> bool {
    let bytes = [fields.header(), 0];
    fields.kind() == packet.kind()
        && match *packet {
            Packet::Atoms(atoms) => fields.atoms() == Some(atoms),
            Packet::Address(address) => fields.is_address() && fields.address() == Some(address),
            Packet::AddressContext(address, context) => {
                !fields.is_address()
                    && fields.address() == Some(address)
                    && batch.context(fields) == Some(context)
            }
            Packet::Exception(exception) => fields.exception() == Some(exception),
            Packet::Timestamp(timestamp) => fields.timestamp() == Some(timestamp),
            Packet::Commit(count) | Packet::Cancel(Cancel::F1 { count, .. }) => {
                // 32 bits at most: O3.
                fields.value() as u32 == count
            }
            Packet::CycleCount(CycleCount::F2 { commit, count, .. }) => {
                fields.value() == u64::from(commit << 4 | count)
            }
            Packet::Event(bits) => fields.events() == Some(bits) && fields.len() == 1,
            // The header contains all fields.
            _ => {
                fields.is_exception_return() == matches!(packet, Packet::ExceptionReturn)
                    && fields.events().is_none()
                    && fields.len() == 1
                    && Packet::parse(headers, &bytes) == Ok((*packet, 1))
            }
        }
}

/// Returns how many packets of a synchronised stream are read many at a time. Fails if they differ from the
/// packets that are read one at a time.
fn check(config: &Config, stream: &[u8]) -> usize {
    let headers = Headers::new(config);
    let [mut many, mut one] = [(); 2].map(|()| Reader::new(headers.clone()));
    let mut batch = Batch::default();
    let (mut offset, mut count) = (0, 0);
    loop {
        let used = many.read(&stream[offset..], &mut batch);
        let end = offset + used;
        for fields in batch.packets() {
            let (found, len) = one.next(&stream[offset..]).unwrap();
            let (packet, parsed) = Packet::parse(&headers, &stream[offset..]).unwrap();
            assert_eq!((found, len), (Found::Packet(fields.kind()), fields.len()));
            assert_eq!(parsed, len);
            assert!(is_same(&headers, &batch, fields, &packet), "{fields:x?} is not {packet:x?}");
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

const ASYNC: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80];

proptest! {
    #[test]
    fn streams(config in any_config(), bytes in any_bytes()) {
        check(&config, &[&ASYNC, &bytes[..]].concat());
    }

    #[test]
    fn every_header(config in any_config(), payload in prop::collection::vec(any::<u8>(), 20), before in 0usize..64) {
        for header in 0..=u8::MAX {
            let stream = [&ASYNC, &[0xf7; 64][..before], &[header], &payload, &[0xf6; 200]].concat();
            check(&config, &stream);
        }
    }

    /// Headers that are recognised without the table are in it, in every configuration.
    #[test]
    fn singles_are_packets_of_one_byte(config in any_config()) {
        let headers = Headers::new(&config);
        for header in (0..=u8::MAX).filter(|header| single(*header, headers.exception_return())) {
            let (packet, len) = Packet::parse(&headers, &[header]).unwrap();
            prop_assert_eq!((headers.class(header), len), (Class::Packet(packet.kind()), 1));
        }
    }
}

/// Most packets are actually read this way.
#[test]
fn frequent_packets_are_read() {
    let address = [0x85, 0x28, 0x70, 0x1a, 0x00, 0xc0, 0xff, 0xff, 0xff, 0xf1, 7, 1, 2, 3, 4];
    let packets: [&[u8]; 9] = [
        &[0xf7],
        &[0x95, 0xac, 0x09],
        &[0x90],
        &[0x06, 0x58],
        &[0x07],
        &address,
        &[0x02, 0x88, 0x99, 0x12],
        &[0x9a, 1, 2, 3, 4],
        &[0xd4],
    ];
    let config = Config { vmid_bytes: 1, ..config(false) };
    let stream = [&ASYNC, &packets.concat().repeat(200)[..], &[0xf7; 100]].concat();
    let count = check(&config, &stream);
    assert!(count >= 200 * packets.len(), "{count}");
}

proptest! {
    /// One call that finds and reads is the same as two.
    #[test]
    fn packets_are_found_and_read_at_once(config in any_config(), bytes in any_bytes(), cut in 0usize..20) {
        let headers = Headers::new(&config);
        let sync = [&[0; 11][..], &[0x80]].concat();
        let bytes = [&bytes[bytes.len().min(cut)..], &sync, &bytes].concat();
        let (mut finder, mut parser) = (Reader::new(headers.clone()), Reader::new(headers.clone()));
        let mut rest = &bytes[..];
        loop {
            let found = finder.next(rest);
            let parsed = parser.parse(rest);
            let expected = found.map(|(found, len)| match found {
                Found::Packet(_) => (Parsed::Packet(Packet::parse(&headers, rest).unwrap().0), len),
                Found::Unsynchronised => (Parsed::Unsynchronised, len),
                Found::Bad(error) => (Parsed::Bad(error), len),
            });
            prop_assert_eq!(parsed, expected);
            let Some((_, len)) = found else { break };
            rest = &rest[len..];
        }
    }
}
