//! The table of all families.

use super::config::{Config, configured, streams};
use super::family::{Family, Setting};
use crate::compressor::Coding;
use crate::{Base, Dmtf, Etrace, Hwlz, Nexs, Packed, Sdc, Tage, Tmbp, Tuples};
use std::str::FromStr;
use std::sync::Arc;

/// What most families have in common.
const PLAIN: Family = Family {
    name: "",
    forms: &[],
    idea: "",
    default: "",
    compared: &[],
    charted: &[],
    small: &[],
    settings: &[],
    colour: [0x60, 0x60, 0x60],
    note: None,
    canonical: None,
    config: |_| None,
};

/// What general-purpose compressors have in common.
const SOFTWARE: Family = Family {
    colour: [0x8c, 0x84, 0x1a],
    note: Some("software on the descriptors of BASE, with all the memory it wants"),
    ..PLAIN
};

/// All families, in the order of texts and tables.
pub(super) static FAMILIES: [Family; 12] = [
    Family {
        name: "base",
        forms: &["BASE"],
        idea: "the length of each stream, and its address where that does not follow from the stream before",
        default: "BASE",
        compared: &["BASE"],
        config: |name| {
            streams((name == "BASE").then_some(Base {})?, |_| Ok(()), Some(Base::cost), Base::coder)
        },
        ..PLAIN
    },
    Family {
        name: "nexs",
        forms: &["NEXS"],
        idea: "BASE with the groups of 6 bits that differ from the address before, as in Nexus messages",
        default: "NEXS",
        compared: &["NEXS"],
        charted: &["NEXS"],
        config: |name| {
            streams((name == "NEXS").then_some(Nexs {})?, |_| Ok(()), Some(Nexs::cost), Nexs::coder)
        },
        ..PLAIN
    },
    Family {
        name: "hwlz",
        forms: &["HWLZ-ENTRIES"],
        idea: "BASE in symbols of 12 bits through LZ77, with a window of them that hardware can search",
        default: "HWLZ-256",
        compared: &["HWLZ-256", "HWLZ-1024"],
        charted: &["HWLZ-256"],
        small: &["HWLZ-4"],
        settings: &[Setting::powers("entries", 2, 1 << 20)],
        colour: [0xd0, 0x7f, 0x12],
        note: Some("reconstructed: the source has no layout; it reports 50,000 gates for 256"),
        config: |name| {
            streams(
                Hwlz { entries: number("HWLZ-", name)? },
                Hwlz::check,
                Some(Hwlz::cost),
                Hwlz::coder,
            )
        },
        ..PLAIN
    },
    Family {
        name: "gzip",
        forms: &["gzip-LEVEL"],
        idea: "BASE through gzip",
        default: "gzip-6",
        compared: &["gzip-1", "gzip-6", "gzip-9"],
        charted: &["gzip-6"],
        settings: &[Setting::numbers("level", 1, 9)],
        config: |name| packed(Packed::Gzip { level: number("gzip-", name)? }),
        ..SOFTWARE
    },
    Family {
        name: "bzip2",
        forms: &["bzip2-LEVEL"],
        idea: "BASE through bzip2",
        default: "bzip2-9",
        small: &["bzip2-1"],
        settings: &[Setting::numbers("level", 1, 9)],
        config: |name| packed(Packed::Bzip2 { level: number("bzip2-", name)? }),
        ..SOFTWARE
    },
    Family {
        name: "zstd",
        forms: &["zstd-LEVEL"],
        idea: "BASE through zstd",
        default: "zstd-3",
        compared: &["zstd-3", "zstd-17"],
        settings: &[Setting::numbers("level", 1, 22)],
        config: |name| packed(Packed::Zstd { level: number("zstd-", name)? }),
        ..SOFTWARE
    },
    Family {
        name: "dmtf",
        forms: &["bDMTF(MTF1,MTF2)", "hDMTF(MTF1,MTF2)", "eDMTF(MTF1,MTF2)"],
        idea: "the place of the stream in a list with the last ones first, and the place of that place in a second such list; \
               with h upper address bits are predicted, with e runs are counted too",
        default: "eDMTF(192,4)",
        compared: &["bDMTF(192,4)", "hDMTF(192,4)", "eDMTF(192,4)", "eDMTF(64,4)"],
        charted: &["eDMTF(192,4)"],
        small: &["bDMTF(4,2)", "eDMTF(9,3)[run.wmax=4]"],
        settings: &[
            Setting::words("variant", &["b", "h", "e"]),
            Setting::numbers("mtf1", 2, 1 << 16),
            Setting::numbers("mtf2", 2, 1 << 16),
            RUN[0],
            RUN[1],
            RUN[2],
            RUN[3],
            RUN[4],
        ],
        colour: [0x8a, 0x56, 0xb8],
        config: |name| streams(Dmtf::named(name)?, Dmtf::check, Some(Dmtf::cost), Dmtf::coder),
        ..PLAIN
    },
    Family {
        name: "sdc",
        forms: &["bSDC-ENTRIES", "eSDC-ENTRIES", "rSDC-ENTRIES", "rSDC-SETSxWAYS"],
        idea: "the index of the stream in a cache, unless it is the one that came last after the stream before; with e upper \
               address bits are predicted and runs are counted, with r those bits are not in the cache either",
        default: "rSDC-128",
        compared: &["bSDC-128", "eSDC-128", "rSDC-128", "rSDC-256"],
        charted: &["rSDC-128"],
        small: &["eSDC-4x1", "rSDC-8"],
        settings: &[
            Setting::words("variant", &["b", "e", "r"]),
            Setting::powers("entries", 4, 1 << 16),
            Setting::powers("ways", 1, 128),
            Setting::numbers("shift", 0, 16),
            Setting::numbers("align", 1, 2),
            Setting::numbers("upper", 1, 28).of("eSDC-128"),
            RUN[0],
            RUN[1],
            RUN[2],
            RUN[3],
            RUN[4],
        ],
        colour: [0x2c, 0x8f, 0x3c],
        config: |name| streams(Sdc::named(name)?, Sdc::check, Some(Sdc::cost), Sdc::coder),
        ..PLAIN
    },
    Family {
        name: "tuples",
        forms: &["Tuples-TUPLES"],
        idea: "indices of streams in such a cache, eight at a time: the place of the eight in a list of the last ones, or all \
               of them",
        default: "Tuples-32",
        small: &["Tuples-16", "Tuples-2[entries=8]"],
        settings: &[
            Setting::powers("tuples", 2, 1 << 16),
            Setting::powers("entries", 4, 1 << 16),
            Setting::powers("ways", 1, 128),
        ],
        config: |name| {
            streams(
                Tuples { tuples: number("Tuples-", name)?, ..Tuples::default() },
                Tuples::check,
                Some(Tuples::cost),
                Tuples::coder,
            )
        },
        ..PLAIN
    },
    Family {
        name: "tmbp",
        forms: &["tTMBP", "sTMBP", "bTMBP"],
        idea: "gshare, a return stack and (s: 32, b: 64) targets of indirect jumps on both sides; only what they get wrong is sent",
        default: "bTMBP",
        compared: &["tTMBP", "sTMBP", "bTMBP"],
        charted: &["tTMBP", "bTMBP"],
        small: &["bTMBP[entries=4,ibtb=4,ras=1]", "tTMBP[targets.size=32]"],
        settings: &[
            Setting::powers("entries", 1, 1 << 20),
            Setting::numbers("bhr_bits", 0, 9),
            Setting::numbers("ras", 0, 1 << 16),
            Setting::powers("ibtb", 2, 1 << 20),
            Setting::powers("ways", 1, 64),
            Setting::numbers("pc_shift", 0, 16),
            Setting::switch("path_targets"),
            Setting::switch("whole_targets"),
            Setting::switch("trap_differences"),
            Setting::numbers("branches.size", 1, 32),
            Setting::numbers("branches.step", 1, 32),
            Setting::numbers("targets.size", 1, 32),
            Setting::numbers("targets.step", 1, 32),
            Setting::numbers("instructions.size", 1, 32),
            Setting::numbers("instructions.step", 1, 32),
        ],
        colour: [0x1f, 0x77, 0xb4],
        config: |name| {
            configured(
                Tmbp::named(name)?,
                Tmbp::check,
                Some(Tmbp::cost),
                |tmbp, setup| {
                    let coder = tmbp.coder(setup.code, setup.sync_every);
                    Ok(Box::new(Coding::new(setup.code, coder, setup.sync_every)))
                },
                |tmbp, setup| Box::new(tmbp.coder(setup.code, setup.sync_every)),
            )
        },
        ..PLAIN
    },
    Family {
        name: "tage",
        forms: &["TAGE"],
        idea: "as TMBP, with tagged tables for longer and longer histories, a cache of targets, and runs of right predictions for \
               each degree of confidence, or a range coder. Ours",
        default: "TAGE",
        compared: &["TAGE", "TAGE[coder=range]"],
        charted: &["TAGE"],
        small: &[
            "TAGE[base=1,tables=8,entries=1,tag=2,history=128,targets=4,ras=1,records=2]",
            "TAGE[coder=range,base=1,tables=2,entries=2,tag=2,history=2,targets=4,ras=0]",
        ],
        settings: &[
            Setting::powers("base", 1, 1 << 16),
            Setting::numbers("tables", 1, 6),
            Setting::powers("entries", 1, 1 << 16),
            Setting::numbers("tag", 2, 16),
            Setting::numbers("history", 8, 128),
            Setting::powers("targets", 4, 1 << 16),
            Setting::numbers("ras", 0, 1 << 16),
            Setting::numbers("records", 1, 1024),
            Setting::words("coder", &["runs", "range"]),
        ],
        colour: [0xc2, 0x3b, 0x9a],
        config: |name| {
            configured(
                (name == "TAGE").then(Tage::default)?,
                Tage::check,
                Some(Tage::cost),
                |tage, setup| Ok(tage.compressor(setup)),
                |tage, setup| tage.decompressor(setup),
            )
        },
        ..PLAIN
    },
    Family {
        name: "etrace",
        forms: &["E-Trace", "E-Trace+MODES"],
        idea: "E-Trace with some of its modes: addresses in full (full), implicit exceptions (ie), sequential jumps (sij), implicit \
               returns (ir), branch prediction (bp), a jump target cache (jtc), or history prediction (hp)",
        default: "E-Trace+ir+bp+jtc",
        compared: &[
            "E-Trace",
            "E-Trace+full",
            "E-Trace+ie",
            "E-Trace+sij",
            "E-Trace+ir",
            "E-Trace+bp",
            "E-Trace+jtc",
            "E-Trace+ir+sij",
            "E-Trace+ir+bp",
            "E-Trace+ir+jtc",
            "E-Trace+bp+jtc",
            "E-Trace+ir+bp+jtc",
            "E-Trace+ir+ie+sij+bp+jtc",
        ],
        charted: &["E-Trace", "E-Trace+ir+bp+jtc"],
        small: &["E-Trace+hp", "E-Trace+full+hp"],
        settings: &[
            Setting::switch("full"),
            Setting::switch("ie"),
            Setting::switch("sij"),
            Setting::switch("ir"),
            Setting::switch("bp"),
            Setting::switch("jtc"),
            Setting::switch("hp").of("E-Trace"),
            Setting::numbers("bpred_size_p", 1, 16),
            Setting::numbers("cache_size_p", 1, 16),
            Setting::numbers("return_stack_size_p", 1, 15),
            Setting::numbers("hpred_size_p", 1, 9).of("E-Trace+hp"),
            Setting::numbers("return_marks", 1, 64),
        ],
        colour: [0xd6, 0x2f, 0x2f],
        note: Some("also carries privilege, cause and value of traps, which no other scheme does"),
        canonical: Some(|name| Etrace::named(name).map(|etrace| etrace.name())),
        config: |name| {
            configured(
                Etrace::named(name)?,
                Etrace::check,
                Some(Etrace::cost),
                |etrace, setup| Ok(Box::new(etrace.compressor(setup.code, setup.sync_every)?)),
                |etrace, setup| Box::new(etrace.decompressor(setup.code, setup.tvec)),
            )
        },
    },
];

/// Settings of the run-length counter.
const RUN: [Setting; 5] = [
    Setting::numbers("run.w0", 1, 10),
    Setting::numbers("run.wmin", 1, 3),
    Setting::numbers("run.wmax", 3, 32),
    Setting::numbers("run.m0", 1, 14),
    Setting::words("run.grows", &["overflow", "full"]),
];

/// General-purpose compressors have no gates.
fn packed(config: Packed) -> Option<Arc<dyn Config>> {
    streams(config, Packed::check, None, Packed::coder)
}

/// The number after the first part of a name.
fn number<T: FromStr>(first: &str, name: &str) -> Option<T> {
    name.strip_prefix(first)?.parse().ok()
}
