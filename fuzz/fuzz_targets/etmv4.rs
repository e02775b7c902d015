//! Parsed packets can be written and parse back; a stream in pieces gives the same packets; the
//! decoder ends, whatever the packets and the program.
#![no_main]

use arbitrary::{Result, Unstructured};
use hartrace_arm_decoder::{Capture, Etmv4, Layout, Memory};
use hartrace_etmv4::{Headers, MAX_PACKET, Packet, Reader, Registers};
use hartrace_fuzz::arm::Count;
use hartrace_isa::arm::{Arch, Spaces};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = check(Unstructured::new(input));
});

fn check(mut u: Unstructured<'_>) -> Result<()> {
    let registers: [u32; 5] = u.arbitrary()?;
    let [configr, idr0, idr1, idr2, idr8] = registers;
    let devarch = u.arbitrary()?;
    let config = Registers { configr, idr0, idr1, idr2, idr8, devarch }.config();
    let headers = Headers::new(&config);
    let parse = |bytes: &[u8]| Packet::parse(&headers, bytes);
    let emit = |packet: &Packet, out: &mut [u8]| packet.emit(&headers, out);
    let make = || Reader::new(headers.clone());
    let piece = u.int_in_range(1..=20usize)?;
    let (address, code): (u64, Vec<u8>) = u.arbitrary()?;
    let bytes = u.take_rest();

    let mut out = [0; MAX_PACKET];
    if let Ok((packet, used)) = parse(bytes) {
        assert!(used <= bytes.len());
        let len = emit(&packet, &mut out).expect("what was parsed can be written");
        assert_eq!(parse(&out[..len]), Ok((packet, len)));
    }

    let found = |piece: usize| {
        let mut reader = make();
        let (mut all, mut start, mut end) = (Vec::new(), 0, 0usize);
        while end < bytes.len() {
            end = end.saturating_add(piece).min(bytes.len());
            while let Some((found, len)) = reader.next(&bytes[start..end]) {
                assert!(len > 0);
                start += len;
                all.push((start, found));
            }
        }
        all
    };
    let whole = found(usize::MAX);
    assert!(whole.len() <= bytes.len());
    let synchronised = |all: Vec<_>| -> Vec<_> {
        let packet = |found: &(usize, hartrace_etmv4::Found)| {
            !matches!(found.1, hartrace_etmv4::Found::Unsynchronised)
        };
        all.into_iter().filter(packet).collect()
    };
    assert_eq!(synchronised(found(piece)), synchronised(whole));

    let mut memory = Memory::new();
    memory.add(address, code, Spaces::ALL);
    let capture = Capture::split(Layout::Raw, bytes);
    let mut count = Count::default();
    Etmv4::new(config, Arch::Later, &memory).decode(&capture.streams[0], &mut count);
    // Two for each of 24 atoms, and the events of a loss.
    assert!(count.0 <= 60 * bytes.len() as u64 + 10, "{} of {} bytes", count.0, bytes.len());
    Ok(())
}
