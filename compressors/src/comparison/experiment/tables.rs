//! The tables and figures of the source that can be measured, with their published means.

use super::quantity::{Quantity, Side};
use super::{Column, Experiment};
use crate::comparison::Characteristics;
use crate::comparison::statistics::{Blocks, SIZES};

/// Sizes of stream caches.
const ENTRIES: [u32; 6] = [32, 64, 128, 256, 512, 1024];
/// Sizes of data caches, in KB.
const CACHES: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// Values in a block, in K.
const BLOCKS: [usize; 4] = [1, 8, 64, 128];

/// A property of blocks of values.
type Property = fn(&Blocks) -> f64;

/// Tables of chapters 3 and 4.
pub(super) const INSTRUCTIONS: &[Experiment] = &[
    Experiment {
        table: "3.3",
        page: None,
        what: "a stream cache with tuples of eight, in prose and without figures (section)",
        unit: "shares of streams in tuples of the list, and bits per instruction",
        columns: || {
            let names = ["Tuples-16", "Tuples-32", "Tuples-64"];
            let listed = names.map(|name| {
                let of = Quantity::Streams(name.into(), &["listed"]);
                Column::unpublished(&name.replace("Tuples", "listed"), of)
            });
            let bits = names.map(|name| Column::unpublished(name, Quantity::Bits(name.into())));
            [listed, bits].concat()
        },
    },
    Experiment {
        table: "4.1",
        page: Some(49),
        what: "characteristics of programs",
        unit: "millions of instructions, and streams",
        columns: || {
            vec![
                program("instructions", 816.0, |one| one.instructions as f64 / 1e6),
                program("different", 1791.0, |one| one.unique_streams as f64),
                program("longest", 145.0, |one| one.longest_stream as f64),
                program("average", 21.6, Characteristics::average_stream),
                program("for 90 %", 77.8, |one| one.streams_for_90_percent as f64),
            ]
        },
    },
    Experiment {
        table: "4.2",
        page: Some(52),
        what: "places of streams in a list of 128, the last ones first, and hits of the first in a list of 16 places",
        unit: "places, and shares of streams",
        columns: || {
            let most =
                |one: &Characteristics| one.most_frequent_place as f64 / one.streams.max(1) as f64;
            vec![
                program("places for 90 %", 14.5, |one| one.places_for_90_percent as f64),
                program("most frequent", 0.46, most),
                Column::new("zero", 0.82, Quantity::Streams("bDMTF(128,16)".into(), &["zero"])),
            ]
        },
    },
    Experiment {
        table: "4.3",
        page: Some(58),
        what: "bDMTF(128,X): size of the second list, and where the bits of bDMTF(128,4) go",
        unit: "bits per instruction, and shares of bits",
        columns: || {
            let share = |kind| Quantity::Share("bDMTF(128,4)".into(), kind);
            vec![
                bits("bDMTF(128,4)", 0.176),
                bits("bDMTF(128,8)", 0.183),
                bits("bDMTF(128,16)", 0.190),
                Column::new("zero", 0.428, share(&["zero"])),
                Column::new("near", 0.123, share(&["near"])),
                Column::new("far", 0.200, share(&["far"])),
                Column::new("miss", 0.250, share(&["miss"])),
            ]
        },
    },
    Experiment {
        table: "4.4",
        page: Some(63),
        what: "variants of DMTF: compression ratio",
        unit: "addresses of 32 bits over bits",
        columns: || {
            let ratio =
                |(name, mean): (&str, f64)| Column::new(name, mean, Quantity::Ratio(name.into()));
            [
                ("bDMTF(192,4)", 242.5),
                ("hDMTF(192,4)", 239.5),
                ("eDMTF(192,4)", 268.1),
                ("bDMTF(64,4)", 143.1),
                ("hDMTF(64,4)", 153.1),
                ("eDMTF(64,4)", 165.1),
            ]
            .map(ratio)
            .into()
        },
    },
    Experiment {
        table: "4.6",
        page: Some(76),
        what: "hit rate of the stream cache, four ways, by number of entries",
        unit: "shares of streams",
        columns: || {
            by(ENTRIES, [0.838, 0.921, 0.969, 0.988, 0.994, 0.998], |size| {
                (format!("SDC-{size}"), Quantity::Streams(sdc('b', size), &["predicted", "cached"]))
            })
        },
    },
    Experiment {
        table: "4.7",
        page: Some(77),
        what: "bSDC-LSP by number of entries: hit rate of the predictor, and bits",
        unit: "shares of streams, and bits per instruction",
        columns: || {
            let hits = by(ENTRIES, [0.819, 0.856, 0.881, 0.893, 0.897, 0.899], |size| {
                (format!("LSP-{size}"), Quantity::Streams(sdc('b', size), &["predicted"]))
            });
            let bits = sdc_bits('b', [0.426, 0.272, 0.174, 0.142, 0.136, 0.135]);
            [hits, bits].concat()
        },
    },
    Experiment {
        table: "4.8",
        page: Some(79),
        what: "where the bits of bSDC-LSP go: misses, hits of the cache only, hits of the predictor",
        unit: "shares of bits",
        columns: || {
            let kinds: [&[&str]; 3] = [&["miss"], &["cached"], &["predicted"]];
            let of = |size: u32, means: [f64; 3]| {
                by(kinds, means, |kind| {
                    (format!("{} {size}", kind[0]), Quantity::Share(sdc('b', size), kind))
                })
            };
            [of(64, [0.413, 0.237, 0.349]), of(256, [0.119, 0.396, 0.485])].concat()
        },
    },
    Experiment {
        table: "4.9",
        page: Some(81),
        what: "misses of eSDC-128 with u predicted upper bits of 32, compared with those of bSDC-128",
        unit: "bits over bits",
        columns: || {
            let uppers = [21, 20, 19, 18, 17, 16, 15, 14, 13, 12];
            by(uppers, [0.88, 0.87, 0.85, 0.84, 0.84, 0.83, 0.82, 0.82, 0.84, 0.85], |upper| {
                let scheme = format!("eSDC-128[upper={upper}]");
                (format!("u={upper}"), Quantity::Misses(scheme, sdc('b', 128)))
            })
        },
    },
    Experiment {
        table: "4.10",
        page: Some(84),
        what: "eSDC-LSP by number of entries",
        unit: "bits per instruction",
        columns: || sdc_bits('e', [0.349, 0.230, 0.146, 0.120, 0.114, 0.114]),
    },
    Experiment {
        table: "4.11",
        page: Some(85),
        what: "rSDC-LSP by number of entries",
        unit: "bits per instruction",
        columns: || sdc_bits('r', [0.359, 0.235, 0.150, 0.123, 0.117, 0.117]),
    },
    Experiment {
        table: "4.13",
        page: Some(100),
        what: "TMBP by size of the target buffer",
        unit: "bits per instruction",
        columns: || vec![bits("tTMBP", 0.076), bits("sTMBP", 0.047), bits("bTMBP", 0.036)],
    },
    Experiment {
        table: "4.14",
        page: Some(103),
        what: "all schemes; gzip at its default level",
        unit: "bits per instruction",
        columns: || PUBLISHED.iter().map(|(name, mean)| bits(name, *mean)).collect(),
    },
    Experiment {
        table: "4.16",
        page: Some(87),
        what: "gates of SDC-LSP (figure)",
        unit: "gates, addresses of 32 bits",
        columns: || {
            vec![
                gates("bSDC-128", 8_311.0),
                gates("eSDC-128", 8_311.0),
                gates("rSDC-128", 6_061.0),
                gates("rSDC-256", 11_900.0),
            ]
        },
    },
    Experiment {
        table: "4.23",
        page: Some(105),
        what: "gates of all schemes (figure)",
        unit: "gates, addresses of 32 bits",
        columns: || {
            vec![
                gates("HWLZ-256", 50_000.0),
                gates("eDMTF(64,4)", 8_200.0),
                gates("eDMTF(192,4)", 24_600.0),
                gates("rSDC-128", 6_061.0),
                gates("tTMBP", 2_800.0),
                gates("sTMBP", 4_000.0),
                gates("bTMBP", 5_200.0),
            ]
        },
    },
];

/// Tables of chapters 5 and 6, and of what the source suggests or draws without figures.
pub(super) const DATA: &[Experiment] = &[
    Experiment {
        table: "5.3",
        page: Some(119),
        what: "loads whose address need not be sent after register validation, all forms",
        unit: "shares of loads",
        columns: || vec![Column::new("DAF", 0.698, Quantity::Found("DAF".into(), Side::Loads))],
    },
    Experiment {
        table: "5.5",
        page: Some(121),
        what: "stores whose address need not be sent after register validation, all forms",
        unit: "shares of stores",
        columns: || vec![Column::new("DAF", 0.769, Quantity::Found("DAF".into(), Side::Stores))],
    },
    Experiment {
        table: "5.6",
        page: Some(123),
        what: "addresses of loads and stores after register validation",
        unit: "shares of references, and bits per instruction",
        columns: || {
            vec![
                Column::new("filtered", 0.720, Quantity::Found("DAF".into(), Side::Both)),
                Column::new("DAF", 3.566, Quantity::DataBits("DAF".into())),
            ]
        },
    },
    Experiment {
        table: "5.7",
        page: Some(127),
        what: "references to one of the last N addresses, without SHIFT low bits",
        unit: "shares of references",
        columns: || {
            let of = |shift: u32, means: [f64; 3]| {
                by([16, 32, 64], means, |entries| {
                    (format!("{shift}:{entries}"), Quantity::Recent(shift, entries))
                })
            };
            let zero = of(0, [0.523, 0.578, 0.640]);
            [zero, of(4, [0.817, 0.863, 0.916]), of(8, [0.977, 0.991, 0.998])].concat()
        },
    },
    Experiment {
        table: "5.8",
        page: Some(128),
        what: "hit rate of an address cache of N entries, four ways, that always sends SHIFT bits",
        unit: "shares of references",
        columns: || {
            let of = |shift: u32, means: [f64; 3]| {
                by([32, 64, 128], means, |entries| {
                    let sets = entries / 4;
                    let scheme =
                        format!("ADAC-{sets}x4[window=1,shift_max={shift},shift_min={shift}]");
                    (format!("{shift}:{entries}"), Quantity::Found(scheme, Side::Both))
                })
            };
            let zero = of(0, [0.301, 0.363, 0.471]);
            [zero, of(4, [0.515, 0.548, 0.650]), of(8, [0.853, 0.859, 0.887])].concat()
        },
    },
    Experiment {
        table: "5.10",
        page: Some(138),
        what: "compression ratio of data addresses; bADAC: the best of six settings for each program",
        unit: "uncompressed over compressed",
        columns: || {
            let settings = [12, 8, 16].map(|shift| {
                [4, 1].map(|window| format!("ADAC-128x4[shift_max={shift},window={window}]"))
            });
            vec![
                data_ratio("DAF", 3.56),
                data_ratio("ADAC-16x4", 3.25),
                data_ratio("ADAC-128x4", 5.593),
                Column::new("bADAC-128x4", 6.71, Quantity::DataBest(settings.concat())),
                data_ratio("NEXS-DA", 1.59),
                data_ratio("gzip-1-DA", 11.16),
            ]
        },
    },
    Experiment {
        table: "figure 5.5",
        page: None,
        what: "hit rate of ADAC by number of entries, four ways, windows of 1 and 4; the text has two figures",
        unit: "shares of references",
        columns: || {
            adac_sweep(|scheme| Quantity::Found(scheme, Side::Both), [Some(0.928), Some(0.982)])
        },
    },
    Experiment {
        table: "figure 5.6",
        page: None,
        what: "bits of ADAC by number of entries, four ways, windows of 1 and 4; without published figures",
        unit: "bits per instruction",
        columns: || adac_sweep(Quantity::DataBits, [None, None]),
    },
    Experiment {
        table: "DAF+ADAC",
        page: None,
        what: "register validation before an address cache, which the source suggests; without published figures",
        unit: "uncompressed over compressed",
        columns: || {
            ["DAF", "ADAC-16x4", "DAF+ADAC-16x4", "ADAC-128x4", "DAF+ADAC-128x4"]
                .map(|name| Column::unpublished(name, Quantity::DataRatio(name.into())))
                .into()
        },
    },
    Experiment {
        table: "6.1",
        page: Some(144),
        what: "entropy of loaded values in blocks of N thousand: least, average, most, and different values",
        unit: "bits, and values",
        columns: || {
            let means = [
                [1.8, 6.3, 8.9, 270.0],
                [3.1, 7.2, 9.5, 1_197.0],
                [4.5, 8.1, 10.0, 5_887.0],
                [4.9, 8.3, 10.1, 10_483.0],
            ];
            let properties: [(&str, Property); 4] = [
                ("least", Blocks::least),
                ("average", Blocks::average),
                ("most", Blocks::most),
                ("values", Blocks::different),
            ];
            let of = |(size, means): (usize, [f64; 4])| {
                by(properties, means, |(name, property)| {
                    (format!("{name} {size}K"), Quantity::Values(size << 10, 0, property))
                })
            };
            BLOCKS.into_iter().zip(means).flat_map(of).collect()
        },
    },
    Experiment {
        table: "6.2",
        page: Some(145),
        what: "compression of loaded values by that entropy",
        unit: "uncompressed over compressed",
        columns: || {
            by(BLOCKS, [2.47, 2.97, 3.16, 3.17], |size| {
                (format!("{size}K"), Quantity::Values(size << 10, 0, Blocks::ratio))
            })
        },
    },
    Experiment {
        table: "6.3",
        page: Some(146),
        what: "the same in blocks of 128 thousand, with M low bits sent as they are",
        unit: "bits, values, and uncompressed over compressed",
        columns: || {
            let of = |name: &str, means: [f64; 4], property: Property| {
                by([0, 4, 8, 12], means, |mask| {
                    (format!("{name} M={mask}"), Quantity::Values(128 << 10, mask, property))
                })
            };
            [
                of("entropy", [8.3, 7.2, 6.0, 5.3], Blocks::average),
                of("values", [10_483.0, 8_220.0, 7_276.0, 5_600.0], Blocks::different),
                of("ratio", [3.17, 2.58, 2.15, 1.79], Blocks::ratio),
            ]
            .concat()
        },
    },
    Experiment {
        table: "6.4",
        page: Some(148),
        what: "loaded values that fit in SIZE bits",
        unit: "shares of loads",
        columns: || {
            let means = [0.189, 0.220, 0.256, 0.286, 0.322, 0.330, 0.335, 0.342, 0.367];
            let size =
                |(size, mean)| Column::new(&format!("SIZE={size}"), mean, Quantity::Fitting(size));
            SIZES.zip(means).map(size).collect()
        },
    },
    Experiment {
        table: "figure 6.1",
        page: None,
        what: "a flag, and SIZE bits and a sign if a value fits in them; the text has one figure",
        unit: "uncompressed over compressed",
        columns: || {
            let size = |size| {
                let (name, of) = (format!("SIZE={size}"), Quantity::SmallValues(size));
                let published = (size == 8).then_some(1.4);
                Column { name, published, of }
            };
            SIZES.map(size).collect()
        },
    },
    Experiment {
        table: "figure 6.3",
        page: None,
        what: "first-access tracking with lines of 4, 16 and 64 bytes; without published figures",
        unit: "bits per instruction",
        columns: || {
            let of = |line: u32| {
                [8, 64].map(|size| {
                    let scheme = format!("FAT-{size}K[line={line}]");
                    Column::unpublished(&format!("{size}K:{line}"), Quantity::DataBits(scheme))
                })
            };
            [4, 16, 64].map(of).concat()
        },
    },
    Experiment {
        table: "figure 6.4",
        page: None,
        what: "a cache of 1 and 8 KB in the trace module, with 1, 2 and 4 ways; without published figures",
        unit: "bits per instruction",
        columns: || {
            let of = |size: u32| {
                [1, 2, 4].map(|ways| {
                    let scheme = format!("FAC-{size}K[ways={ways}]");
                    Column::unpublished(&format!("{size}K:{ways}"), Quantity::DataBits(scheme))
                })
            };
            [1, 8].map(of).concat()
        },
    },
    Experiment {
        table: "6.6",
        page: Some(155),
        what: "loads of bytes whose flags are set, by size of the cache",
        unit: "shares of loads",
        columns: || {
            by(CACHES, [0.648, 0.726, 0.793, 0.863, 0.924, 0.966, 0.978, 0.985], |size| {
                (format!("FAT-{size}K"), Quantity::Found(format!("FAT-{size}K"), Side::Loads))
            })
        },
    },
    Experiment {
        table: "6.7",
        page: Some(156),
        what: "loaded values by size of the cache",
        unit: "bits per instruction",
        columns: || {
            by(CACHES, [3.34, 2.58, 1.96, 1.22, 0.85, 0.59, 0.51, 0.46], |size| {
                (format!("FAT-{size}K"), Quantity::DataBits(format!("FAT-{size}K")))
            })
        },
    },
    Experiment {
        table: "6.8",
        page: Some(160),
        what: "compression ratio of loaded values; entropy as in table 6.2",
        unit: "uncompressed over compressed",
        columns: || {
            vec![
                data_ratio("FAT-8K", 6.69),
                data_ratio("FAT-64K", 17.20),
                Column::new("entropy", 3.17, Quantity::Values(128 << 10, 0, Blocks::ratio)),
                data_ratio("gzip-1-LV", 4.12),
                data_ratio("bzip2-1-LV", 5.72),
            ]
        },
    },
];

/// Bits per instruction of table 4.14.
pub(super) const PUBLISHED: [(&str, f64); 13] = [
    ("BASE", 1.055),
    ("NEXS", 0.907),
    ("HWLZ-256", 0.446),
    ("HWLZ-1024", 0.233),
    ("eDMTF(64,4)", 0.194),
    ("eDMTF(192,4)", 0.119),
    ("bSDC-128", 0.174),
    ("eSDC-128", 0.146),
    ("rSDC-128", 0.150),
    ("tTMBP", 0.076),
    ("sTMBP", 0.047),
    ("bTMBP", 0.036),
    ("gzip-6", 0.031),
];

/// Tables and figures that are not measured, and why.
pub(super) const OTHERS: [(&str, &[&str], &str); 5] = [
    (
        "4.5, 4.12, 5.9",
        &["4.5", "4.12", "5.9"],
        "formats of records; the modules of the schemes define them",
    ),
    ("5.1, 6.5", &["5.1", "6.5"], "an example"),
    (
        "5.2, 5.4",
        &["5.2", "5.4"],
        "shares of Arm's forms of addresses; a RISC-V address is always a register and a constant",
    ),
    (
        "figures 4.2, 4.7, 4.14, 4.15, 4.22",
        &["figure 4.2", "figure 4.7", "figure 4.14", "figure 4.15", "figure 4.22"],
        "drawings without figures; --suite prints shares of branches, and --sweep measures any sizes",
    ),
    (
        "buffers by cycle",
        &["buffers"],
        "they need the cycle of every instruction, which our hart and QEMU do not have; docs/compression.md has those of a CVA6",
    ),
];

fn bits(name: &str, mean: f64) -> Column {
    Column::new(name, mean, Quantity::Bits(name.into()))
}

fn gates(name: &str, mean: f64) -> Column {
    Column::new(name, mean, Quantity::Gates(name.into()))
}

fn data_ratio(name: &str, mean: f64) -> Column {
    Column::new(name, mean, Quantity::DataRatio(name.into()))
}

fn program(name: &str, mean: f64, property: fn(&Characteristics) -> f64) -> Column {
    Column::new(name, mean, Quantity::Program(property))
}

fn sdc(variant: char, entries: u32) -> String {
    format!("{variant}SDC-{entries}")
}

fn sdc_bits(variant: char, means: [f64; 6]) -> Vec<Column> {
    by(ENTRIES, means, |size| (sdc(variant, size), Quantity::Bits(sdc(variant, size))))
}

/// A column for each size.
fn by<T, const N: usize>(
    sizes: [T; N],
    means: [f64; N],
    column: impl Fn(T) -> (String, Quantity),
) -> Vec<Column> {
    let all = sizes.into_iter().map(column).zip(means);
    all.map(|((name, of), mean)| Column { name, published: Some(mean), of }).collect()
}

/// ADAC with 32 to 512 entries. The text has figures of 32 entries with a window of 1, and of 128 with a window of 4.
fn adac_sweep(of: fn(String) -> Quantity, published: [Option<f64>; 2]) -> Vec<Column> {
    let window = |window: u32| {
        [32, 64, 128, 256, 512].map(|entries| {
            let scheme = format!("ADAC-{}x4[window={window}]", entries / 4);
            let published = match (window, entries) {
                (1, 32) => published[0],
                (4, 128) => published[1],
                _ => None,
            };
            Column { name: format!("{entries}:{window}"), published, of: of(scheme) }
        })
    };
    [1, 4].map(window).concat()
}
