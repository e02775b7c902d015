//! The table agrees with `Packet::parse` and `Packet::emit` on every packet.

use super::{any_packet, many::any_bytes, specification};
use crate::table::FieldName;
use crate::*;
use proptest::prelude::*;
use std::vec::Vec;

/// Any configuration, including those that no trace unit has.
fn any_config() -> impl Strategy<Value = Config> {
    let versions = prop_oneof![
        prop::sample::select(&[0x40u8, 0x42, 0x43, 0x46, 0x50, 0x51, 0x53]),
        any::<u8>(),
    ];
    let bytes = || prop_oneof![4 => prop::sample::select(&[0u8, 1, 2, 4]), 1 => any::<u8>()];
    let bits = prop_oneof![12u8..28, any::<u8>()];
    (versions, bytes(), bytes(), bits, any::<[bool; 5]>()).prop_map(
        |(version, vmid_bytes, context_id_bytes, cycle_count_bits, flags)| {
            let [commopt, q, conditional, data, v8_m] = flags;
            Config {
                version,
                vmid_bytes,
                context_id_bytes,
                cycle_count_bits,
                commopt,
                q,
                conditional,
                data,
                v8_m,
                ..Config::default()
            }
        },
    )
}

/// A piece of a stream: the kind of its packet, or why it is not a packet, and its length in bytes.
type Piece = (Result<Kind, ParseError>, usize);

/// Splits a stream into pieces with a function that reads one packet.
fn pieces(bytes: &[u8], one: impl Fn(&[u8]) -> Result<(Kind, usize), ParseError>) -> Vec<Piece> {
    let (mut all, mut offset) = (Vec::new(), 0);
    loop {
        let piece = match one(&bytes[offset..]) {
            Ok((kind, len)) => (Ok(kind), len),
            Err(ParseError::Incomplete { .. }) => return all,
            Err(error) => (Err(error), error.len()),
        };
        offset += piece.1;
        all.push(piece);
    }
}

fn parsed(headers: &Headers, bytes: &[u8]) -> Vec<Piece> {
    pieces(bytes, |rest| Packet::parse(headers, rest).map(|(packet, len)| (packet.kind(), len)))
}

fn specified(config: &Config, bytes: &[u8]) -> Vec<Piece> {
    pieces(bytes, |rest| specification::packet(config, rest))
}

fn stepped(layout: &Layout, bytes: &[u8]) -> Vec<Piece> {
    let (mut all, mut stepper, mut len) = (Vec::new(), Stepper::default(), 0);
    for byte in bytes {
        // The section of the byte is the one announced before it.
        let (section, pending) = (stepper.section(), stepper.pending());
        let step = stepper.step(layout, *byte);
        assert_eq!(step.section, section);
        assert_eq!(step.section.is_none(), len == 0);
        if let Some(section) = section {
            assert!(step.index < layout.shape(section).most);
            assert!({ pending }.all(|other| other > section));
        }
        len += 1;
        if let Some(end) = step.end {
            all.push((end, len));
            len = 0;
        }
    }
    all
}

/// The length of a packet by the table: the header plus the lengths of all its sections.
fn summed(layout: &Layout, packet: &[u8]) -> usize {
    let mut pending = layout.sections(packet[0]);
    let mut len = 1;
    while let Some(section) = pending.next() {
        let shape = layout.shape(section);
        let rest = &packet[len..];
        let count = match shape.end {
            End::Fixed => shape.most.into(),
            _ => rest.iter().take(shape.most.into()).take_while(|byte| **byte > 0x7f).count() + 1,
        };
        let count = count.min(shape.most.into());
        for rule in layout.rules(section) {
            let holds = rest[..count].iter().zip(0..).any(|(byte, index)| rule.holds(index, *byte));
            if let Effect::Section(section) = rule.effect
                && holds
            {
                pending = pending.with(section);
            }
        }
        len += count;
    }
    len
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn steps_are_packets(config in any_config(), bytes in any_bytes()) {
        let headers = Headers::new(&config);
        let parsed = parsed(&headers, &bytes);
        prop_assert_eq!(&stepped(headers.layout(), &bytes), &parsed);
        prop_assert_eq!(&specified(&config, &bytes), &parsed);
    }

    /// Bytes with bit 7 set or clear, zeros, and arbitrary bytes: they end packets or make them
    /// malformed.
    #[test]
    fn steps_are_packets_of_every_header(
        config in any_config(),
        payload in prop::collection::vec(
            prop_oneof![3 => 0x80u8.., 2 => ..0x80u8, 2 => Just(0u8), 1 => any::<u8>()],
            0..30,
        ),
        zeros in 0usize..13,
    ) {
        let headers = Headers::new(&config);
        let zeros = &[0; 12][..zeros.min(12)];
        for header in 0..=u8::MAX {
            for before in [&[][..], zeros] {
                let bytes = [&[header], before, &[0x80][..before.len() / 9], &payload].concat();
                let parsed = parsed(&headers, &bytes);
                prop_assert_eq!(&stepped(headers.layout(), &bytes), &parsed, "{:02x?}", bytes);
                prop_assert_eq!(&specified(&config, &bytes), &parsed, "{:02x?}", bytes);
            }
        }
    }

    #[test]
    fn lengths_are_those_of_what_is_written(config in any_config(), packet in any_packet()) {
        let headers = Headers::new(&config);
        let mut bytes = [0; MAX_PACKET];
        if let Ok(len) = packet.emit(&headers, &mut bytes) {
            prop_assert_eq!(summed(headers.layout(), &bytes), len);
            let kind = (Ok(packet.kind()), len);
            prop_assert_eq!(stepped(headers.layout(), &bytes[..len]), [kind]);
        }
    }

    #[test]
    fn what_is_read_is_written(config in any_config(), bytes in any_bytes()) {
        let headers = Headers::new(&config);
        let mut offset = 0;
        while let Ok((packet, len)) = Packet::parse(&headers, &bytes[offset..]) {
            let mut out = [0; MAX_PACKET];
            let written = packet.emit(&headers, &mut out);
            let again = written.map(|len| Packet::parse(&headers, &out[..len]));
            prop_assert_eq!(again, Ok(Ok((packet, written.unwrap_or(0)))));
            offset += len;
        }
    }
}

/// A reset of ETE whose second byte looks as if a fault were pending, which only M profiles have.
#[test]
fn the_second_byte_of_a_reset_is_a_code() {
    let headers = Headers::new(&super::config(true));
    let (packet, len) = Packet::parse(&headers, &[0x06, 0x80, 0x20]).unwrap();
    let exception = Exception { number: 0, returns: Return::None, fault_pending: false };
    assert_eq!((packet, len), (Packet::Reset(exception, 0x20), 3));
    let mut out = [0; MAX_PACKET];
    assert_eq!(packet.emit(&headers, &mut out), Ok(3));
    assert_eq!(Packet::parse(&headers, &out), Ok((packet, 3)));
}

/// The table for a configuration omits nothing, and no bit is in two fields.
#[test]
fn the_table_is_sound() {
    let layout = Layout::new(&super::config(true));
    for section in Section::ALL {
        let names = |fields: &[Field]| fields.iter().map(|field| field.name).collect::<Vec<_>>();
        assert_eq!(names(layout.fields(*section)), names(section.fields()), "{section:?}");
        // All rules apply in an ETE with identifiers.
        assert_eq!(layout.rules(*section), section.rules(), "{section:?}");
        assert!(section.rules().is_sorted_by_key(|rule| rule.first), "{section:?}");
        let shape = layout.shape(*section);
        assert!(shape.septets < 1 << shape.most);
        let mut taken = 0u64;
        for field in layout.fields(*section) {
            assert!(field.from + field.width <= shape.bits(shape.most), "{section:?} {field:?}");
            // The second byte of an exception is also a field as a whole.
            if field.name != FieldName::SecondByte {
                assert_eq!(taken & field.insert(u64::MAX), 0, "{section:?} {field:?}");
                taken |= field.insert(u64::MAX);
            }
        }
    }
    for row in ROWS {
        assert!(row.first <= row.last);
        assert!(row.sections.is_sorted(), "{row:?}");
        // Headers of a row differ only in their fields.
        let fields = row.fields.iter().fold(0, |all, field| all | field.insert(u64::MAX));
        assert_eq!(u64::from(row.first) | fields, u64::from(row.last) | fields, "{row:?}");
    }
    assert!(FieldName::ALL.len() <= 64 && Section::ALL.len() <= 64);
}
