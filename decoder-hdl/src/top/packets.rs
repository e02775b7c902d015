//! What is counted of packets, byte by byte.

use crate::wires::{delay, instance, join};
use crate::{Decoder, etmv4, etrace};
use hartrace_etrace::Format;
use hartrace_rtl::{Expr, Module, Outputs, bundle, index_width, lit};

bundle! {
    /// Records of an ETMv4 decoder, as far as they are counted.
    struct Etmv4Records { valid, error, header }
}

bundle! {
    /// Records of an E-Trace decoder, and its lanes of bytes, as far as they are counted.
    struct EtraceRecords {
        valid, second, error, format, lane_valid, lane_last, lane_null, lane_found: Option
    }
}

/// Kinds of packets of E-Trace after those of formats.
const OTHER: usize = Format::STANDARD.len();
const NULL: usize = OTHER + 1;
const MALFORMED: usize = OTHER + 2;

/// The kinds of packets that are counted, by number.
#[must_use]
pub fn kinds(decoder: &Decoder) -> Vec<&'static str> {
    match decoder {
        Decoder::Etmv4(_) | Decoder::Etmv4Follower(_) => etmv4::KINDS.to_vec(),
        Decoder::Etrace(_) | Decoder::Follower(_) => vec![
            "format 0, subformat 0",
            "format 0, subformat 1",
            "format 1",
            "format 2",
            "format 3, subformat 0",
            "format 3, subformat 1",
            "format 3, subformat 2",
            "format 3, subformat 3",
            "another source or type",
            "null packet",
            "malformed payload",
        ],
    }
}

/// Bytes of a packet that ends a search.
pub(super) fn sync_bytes(decoder: &Decoder) -> u32 {
    match decoder {
        Decoder::Etmv4(_) | Decoder::Etmv4Follower(_) => etmv4::ZEROS + 1,
        // A search ends within null packets.
        Decoder::Etrace(_) | Decoder::Follower(_) => 1,
    }
}

/// The inputs of an analysis for packets, from the outputs of a decoder.
pub(super) fn lanes(
    m: &Module,
    decoder: &Decoder,
    valid: &Expr,
    records: &Outputs,
) -> Vec<(&'static str, Expr)> {
    let lanes = match decoder {
        Decoder::Etmv4(config) => of_etmv4(m, config, valid, records),
        Decoder::Etrace(config) => of_etrace(m, config, records),
        Decoder::Follower(config) => of_etrace(m, &config.decoder, records),
        Decoder::Etmv4Follower(config) => of_etmv4(m, &config.decoder, valid, records),
    };
    // Nothing waits for counters.
    let names = ["byte", "ends", "error", "sync", "kind"];
    let ports =
        ["packet_byte_i", "packet_ends_i", "packet_error_i", "packet_sync_i", "packet_kind_i"];
    ports
        .into_iter()
        .zip(names.into_iter().zip(&lanes))
        .map(|(port, (name, value))| {
            (port, delay(m, &format!("packet_{name}"), value, name != "kind"))
        })
        .collect()
}

fn of_etmv4(m: &Module, config: &etmv4::Config, valid: &Expr, records: &Outputs) -> [Expr; 5] {
    m.section("Packets: bytes at the time of their records. The first packet after a start or an error ends a search.");
    let byte = (1..=etmv4::LATENCY).fold(valid.clone(), |value, stage| {
        delay(m, &format!("valid_after_{stage}"), &value, true)
    });
    let records = Etmv4Records::of(records);
    let error = m.let_("malformed", &records.valid & &records.error);
    let ends = m.let_("ends", &records.valid & !&error);
    let searching = m.reg("searching", true);
    let mut search = searching.q.clone();
    let (mut syncs, mut kinds) = (Vec::new(), Vec::new());
    let classifier = etmv4::classifier(config);
    let header = &records.header;
    let width = header.width() / config.unroll;
    for i in 0..config.unroll {
        syncs.push(ends.bit(i) & &search);
        let next = error.bit(i) | (&search & !ends.bit(i));
        search = m.let_(&format!("searching_after_{i}"), next);
        let ports = [("header_i".to_owned(), header.slice(i * width, width))];
        let kind = instance(m, &format!("i_kind_{i}"), &classifier, &ports);
        kinds.push(kind.only().clone());
    }
    m.assign(&searching.d, &search);
    [byte, ends, error, join(&syncs), join(&kinds)]
}

fn of_etrace(m: &Module, config: &etrace::Config, records: &Outputs) -> [Expr; 5] {
    m.section("Packets: those without a record are of another source or type.");
    let u = config.unroll;
    let records = EtraceRecords::of(records);
    let EtraceRecords { lane_last: last, lane_null: null, format, error: code, .. } = &records;
    let slots = u.div_ceil(2);
    let (format_bits, code_bits) = (format.width() / slots, code.width() / slots);
    let width = index_width(MALFORMED as u32 + 1);
    let number = |kind: usize| lit(width, kind as u128);
    let (mut errors, mut kinds) = (Vec::new(), Vec::new());
    for lane in 0..u {
        let (slot, second) = (lane / 2, lane % 2 == 1);
        let is_second = records.second.bit(slot);
        let here = if second { is_second } else { !is_second };
        let here = m.let_(&format!("record_{lane}"), records.valid.bit(slot) & here);
        let malformed = &here & code.slice(slot * code_bits, code_bits).any();
        let malformed = m.let_(&format!("malformed_{lane}"), malformed);
        let of_record = malformed
            .mux(number(MALFORMED), format.slice(slot * format_bits, format_bits).zext(width));
        let without = null.bit(lane).mux(number(NULL), number(OTHER));
        kinds.push(here.mux(of_record, without));
        errors.push(malformed);
    }
    let sync = records.lane_found.clone().unwrap_or_else(|| lit(u, 0));
    [records.lane_valid.clone(), last | null, join(&errors), sync, join(&kinds)]
}
