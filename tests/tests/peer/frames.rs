//! Framings: the peer reads our frames, and its frames are compared with ours.

use crate::convert;
use crate::difference::{P, Tally, Verdict};
use hartrace_encap::{EncapParams, FrameHeader, Framing, Item, MAX_FRAME, SmiParams};
use hartrace_etrace::{BranchCount, BranchFmt, Ioptions, Params, Payload, Unit};
use hartrace_tests::case::{Case, Dice};
use riscv_etrace::packet::encoder::{Encode, Encoder};
use riscv_etrace::packet::payload::{InstructionTrace, Payload as Theirs};
use riscv_etrace::packet::unit::Reference;
use riscv_etrace::packet::{Builder, Error, encap, smi};

/// A payload to be framed.
struct Subject<'a> {
    params: &'a Params,
    options: Ioptions,
    payload: Payload,
    bytes: Vec<u8>,
}

/// Frames some payloads of a case, in random frames of each kind.
pub(crate) fn one(n: u64, case: &Case, tally: &mut Tally) {
    let mut dice = Dice::new(n ^ 0xf4a3);
    // Long payloads do not fit into every frame.
    let mut add = |verdict: Option<Verdict>| {
        if let Some(verdict) = verdict {
            tally.add(n, verdict);
        }
    };
    for encoded in case.encode().into_iter().take(8) {
        let subject = Subject {
            params: &case.encoder.params,
            options: case.encoder.options,
            payload: encoded.payload,
            bytes: encoded.bytes,
        };
        let width = |bits: u8| if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };

        let (source, stamp, kind) = (dice.range(0, 16), dice.range(0, 8), dice.range(0, 8));
        let (source, stamp) = (source as u8, stamp as u8);
        let params = EncapParams::new(source, stamp, kind as u8).expect("in range");
        let stamped = stamp > 0 && dice.one_in(2);
        let header = FrameHeader {
            source: (source > 0).then(|| (dice.roll() & width(source)) as u16),
            timestamp: stamped.then(|| dice.roll() & width(8 * stamp)),
            flow: dice.range(0, 3) as u8,
            ..FrameHeader::default()
        };
        add(encap_read(&subject, params, &header));
        add(encap_written(&subject, params, &header));

        let hart = dice.range(0, 16) as u8;
        let params = SmiParams::new(hart).expect("in range");
        let header = FrameHeader {
            source: (hart > 0).then(|| (dice.roll() & width(hart)) as u16),
            timestamp: dice.one_in(2).then(|| dice.roll() & 0xffff),
            ..FrameHeader::default()
        };
        add(smi_read(&subject, params, &header));
        add(smi_written(&subject, params, &header));

        let header = FrameHeader { index: Some(dice.roll() as u16), ..FrameHeader::default() };
        add(esp32_read(&subject, &header, 0));
    }
}

/// The differences of this file.
pub(crate) fn directed(expect: &mut impl FnMut(P, Verdict)) {
    let params = Params { bpred_size_p: 4, ..Params::default() };
    let subject = |payload: Payload| {
        let options = Ioptions { branch_prediction: true, ..Ioptions::default() };
        let bytes = crate::directed::bytes(&params, options, &payload);
        Subject { params: &params, options, payload, bytes }
    };
    let support = subject(Payload::Support(Default::default()));
    let header = FrameHeader { source: Some(5), ..FrameHeader::default() };
    let stamped = EncapParams::new(8, 4, 0).expect("in range");
    expect(P::EncapTimestamp, encap_read(&support, stamped, &header).expect("it fits"));

    let zeros = BranchCount { branch_count: 0, branch_fmt: BranchFmt::NoAddress };
    let zeros = subject(Payload::BranchCount(zeros));
    let plain = EncapParams::new(8, 0, 0).expect("in range");
    expect(P::EncapZero, encap_written(&zeros, plain, &header).expect("it fits"));

    let hart = SmiParams::new(8).expect("in range");
    expect(P::SmiHartIndex, smi_written(&support, hart, &header).expect("it fits"));

    let header = FrameHeader { index: Some(1), ..FrameHeader::default() };
    expect(P::Esp32Padding, esp32_read(&support, &header, 1).expect("it fits"));
}

fn ours(framing: Framing, header: &FrameHeader, subject: &Subject<'_>) -> Option<Vec<u8>> {
    let mut out = [0; MAX_FRAME];
    let len = framing.emit(header, &subject.bytes, &mut out).ok()?;
    Some(out[..len].to_vec())
}

fn theirs<T>(builder: Builder<Reference>, packet: &T) -> Result<Vec<u8>, Error>
where
    T: for<'d> Encode<'d, Reference>,
{
    let mut buffer = [0; 2 * MAX_FRAME];
    let mut encoder: Encoder<'_, Reference> = builder.encoder(&mut buffer);
    encoder.encode(packet)?;
    let len = 2 * MAX_FRAME - encoder.uncommitted();
    Ok(buffer[..len].to_vec())
}

/// Whether we read `frame` as header and payload.
fn read_back(framing: Framing, header: &FrameHeader, subject: &Subject<'_>, frame: &[u8]) -> bool {
    let layout = subject.params.layout(Unit::Reference).expect("legal parameters");
    let Ok(parsed) = framing.parse(frame) else { return false };
    let Item::Frame(read) = parsed.item else { return false };
    let payload = Payload::parse(&layout, subject.options, &mut read.payload());
    parsed.used == frame.len() && read.header() == *header && payload == Ok(subject.payload)
}

fn converted(subject: &Subject<'_>) -> InstructionTrace {
    convert::payload(subject.params, &subject.payload).expect("modes the peer knows")
}

fn encap_builder(subject: &Subject<'_>, params: EncapParams) -> Builder<Reference> {
    convert::builder(subject.params)
        .with_hart_index_width(params.src_id_bits())
        .with_timestamp_width(params.timestamp_bytes())
        .with_trace_type_width(params.type_bits())
}

fn encap_read(subject: &Subject<'_>, params: EncapParams, header: &FrameHeader) -> Option<Verdict> {
    let frame = ours(Framing::Encap(params), header, subject)?;
    let stream = [frame.as_slice(), &[0x80; 12]].concat();
    let mut decoder = encap_builder(subject, params).decoder(&stream);
    let got = decoder.decode_encap_packet().map(|packet| {
        let normal = packet.into_normal()?;
        let head = (normal.flow(), normal.src_id(), normal.timestamp());
        Some((head, normal.decode_payload()))
    });
    let head = (header.flow, header.source.unwrap_or(0), header.timestamp);
    let payload = Ok(Theirs::InstructionTrace(converted(subject)));
    let same = got == Ok(Some((head, payload))) && decoder.bytes_left() == 12;
    Some(match same {
        true => Verdict::Equal,
        false if params.timestamp_bytes() > 0 && header.timestamp.is_none() => {
            Verdict::Known(P::EncapTimestamp)
        }
        false => Verdict::Unknown(format!("{params:?} {header:?} {frame:02x?}\nas {got:?}")),
    })
}

fn encap_written(
    subject: &Subject<'_>,
    params: EncapParams,
    header: &FrameHeader,
) -> Option<Verdict> {
    let framing = Framing::Encap(params);
    let frame = ours(framing, header, subject)?;
    let payload = Theirs::InstructionTrace(converted(subject));
    let mut normal = encap::Normal::new(header.flow, header.source.unwrap_or(0), payload);
    if let Some(timestamp) = header.timestamp {
        normal = normal.with_timestamp(timestamp);
    }
    Some(match theirs(encap_builder(subject, params), &normal) {
        Ok(got) if got == frame && read_back(framing, header, subject, &got) => Verdict::Equal,
        Ok(got) if subject.bytes == [0] && got[0] & 0x1f == 0 => Verdict::Known(P::EncapZero),
        got => Verdict::Unknown(format!("{params:?} {header:?} {got:02x?}\nnot {frame:02x?}")),
    })
}

fn smi_read(subject: &Subject<'_>, params: SmiParams, header: &FrameHeader) -> Option<Verdict> {
    let frame = ours(Framing::Smi(params), header, subject)?;
    let stream = [frame.as_slice(), &[0x41, 0x12]].concat();
    let builder = convert::builder(subject.params).with_hart_index_width(params.hart_index_bits());
    let mut decoder = builder.decoder(&stream);
    let got = decoder.decode_smi_packet().map(|packet| {
        let head = (packet.hart(), packet.time_tag().map(u64::from), packet.raw_trace_type());
        (head, packet.decode_payload())
    });
    let head = (header.source.unwrap_or(0).into(), header.timestamp, 2);
    let payload = Ok(Theirs::InstructionTrace(converted(subject)));
    Some(match got == Ok((head, payload)) && decoder.bytes_left() == 2 {
        true => Verdict::Equal,
        false => Verdict::Unknown(format!("{params:?} {header:?} {frame:02x?}\nas {got:?}")),
    })
}

fn smi_written(subject: &Subject<'_>, params: SmiParams, header: &FrameHeader) -> Option<Verdict> {
    let framing = Framing::Smi(params);
    let frame = ours(framing, header, subject)?;
    let hart = header.source.unwrap_or(0);
    let mut packet = smi::Packet::new(2, hart.into(), converted(subject));
    if let Some(tag) = header.timestamp {
        packet = packet.with_time_tag(tag as u16);
    }
    let builder = convert::builder(subject.params).with_hart_index_width(params.hart_index_bits());
    // The same message without a hart index.
    let bare = Framing::Smi(SmiParams::new(0).expect("in range"));
    let bare = ours(bare, &FrameHeader { source: None, ..*header }, subject);
    Some(match theirs(builder, &packet) {
        Ok(got) if got == frame && read_back(framing, header, subject, &got) => Verdict::Equal,
        Ok(got) if params.hart_index_bits() > 0 && Some(&got) == bare.as_ref() => {
            Verdict::Known(P::SmiHartIndex)
        }
        got => Verdict::Unknown(format!("{params:?} {header:?} {got:02x?}\nnot {frame:02x?}")),
    })
}

/// Only for reading: the peer does not write these.
fn esp32_read(subject: &Subject<'_>, header: &FrameHeader, padding: usize) -> Option<Verdict> {
    let frame = ours(Framing::Esp32, header, subject)?;
    let stream = [vec![0; padding], frame.clone(), vec![5, 1, 2, 3, 4]].concat();
    let mut decoder = convert::builder(subject.params).decoder(&stream);
    let mut got = decoder.decode_esp32_packet();
    for _ in 0..padding {
        got = decoder.decode_esp32_packet();
    }
    let got = got.map(|packet| {
        let normal = packet.into_normal()?;
        Some((normal.index(), normal.decode_payload()))
    });
    let payload = Ok(Theirs::InstructionTrace(converted(subject)));
    let want = (header.index.unwrap_or(0), payload);
    Some(match got == Ok(Some(want)) && decoder.bytes_left() == 5 {
        true => Verdict::Equal,
        false if !padding.is_multiple_of(3) => Verdict::Known(P::Esp32Padding),
        false => Verdict::Unknown(format!("{header:?} {frame:02x?}\nas {got:?}")),
    })
}
