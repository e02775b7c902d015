//! What is found out about captures of others: the vectors of the reference flow, rv_tracer's captures, and the
//! trace buffers of Arm systems. The table at the end is that of docs/evidence.md.
//!
//! Needs `HARTRACE_DATA`, the folder that holds `etrace-reference`, `rv_tracer` and `coresight`; shows as
//! ignored without it.

use hartrace_capture::params::{Draft, Given, Setup};
use hartrace_capture::probe::{ArmUnit, Known, Limits, Origin, Packing, Report, Stream};
use hartrace_capture::snapshot::{Format, Protocol, Snapshot};
use hartrace_decoder::{Compat, Config, Event, Image, Run, Sink, StreamPos, Tracer};
use hartrace_encap::{Framing, Item};
use hartrace_etrace::{Params, Unit};
use hartrace_isa::{Isa, Xlen};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::{env, fs};

/// In how many vectors a parameter is determined, some other values decode to the same, all do, some decode as well
/// but to others, and no packet contains it. The right value is always among those that are named.
type Counts = [usize; 5];

type Table = Arc<Mutex<BTreeMap<&'static str, Counts>>>;

/// The table for all vectors.
const EXPECTED: &[(&str, Counts)] = &[
    ("bpred_size_p", [1, 25, 7, 3, 147]),
    ("cache_size_p", [28, 0, 8, 0, 147]),
    ("call_counter_size_p", [0, 24, 159, 0, 0]),
    ("compat", [0, 0, 183, 0, 0]),
    ("ecause_width_p", [14, 0, 0, 3, 166]),
    ("f0s_width_p", [40, 0, 7, 1, 135]),
    ("iaddress_lsb_p", [183, 0, 0, 0, 0]),
    ("iaddress_width_p", [50, 62, 65, 6, 0]),
    ("privilege + time + context", [181, 0, 0, 2, 0]),
    ("return_stack_size_p", [0, 16, 167, 0, 0]),
    ("sijump_p", [23, 0, 160, 0, 0]),
    ("unit", [10, 0, 173, 0, 0]),
];

fn main() {
    let args = Arguments::from_args();
    let table = Table::default();
    let trials = match env::var_os("HARTRACE_DATA") {
        Some(data) => trials(Path::new(&data), &table),
        None => ["etrace-reference", "rv_tracer", "coresight"]
            .map(|name| Trial::test(name, || Ok(())).with_ignored_flag(true))
            .into(),
    };
    let all = !trials.is_empty() && args.filter.is_none() && args.skip.is_empty() && !args.list;
    let data = env::var_os("HARTRACE_DATA").is_some();
    let conclusion = libtest_mimic::run(&args, trials);
    let table = table.lock().expect("no test panics with the lock");
    println!("{:28} determined  some alike  all alike  rivals  in no packet", "");
    for (name, [found, some, all, rivals, unused]) in table.iter() {
        println!("{name:28} {found:10}  {some:10}  {all:9}  {rivals:6}  {unused:12}");
    }
    if all && data && !conclusion.has_failed() {
        assert_eq!(
            table.iter().map(|(name, counts)| (*name, *counts)).collect::<Vec<_>>(),
            EXPECTED
        );
    }
    conclusion.exit();
}

fn trials(data: &Path, table: &Table) -> Vec<Trial> {
    let folder = data.join("etrace-reference");
    let manifest: Value =
        serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    let mut trials = Vec::new();
    for vector in manifest["vectors"].as_array().unwrap() {
        let test = manifest["tests"].as_array().unwrap();
        let test = test.iter().find(|test| test["name"] == vector["test"]).unwrap();
        let vector = Vector::new(&folder, vector, test);
        let table = table.clone();
        trials.push(Trial::test(vector.name.clone(), move || vector.check(&table)));
    }
    assert_eq!(trials.len(), 183, "vectors");
    let l1 = data.join("rv_tracer/l1_test");
    trials.push(Trial::test("rv_tracer/l1_test", move || rv_tracer(&l1)));
    let folder = data.join("coresight");
    let summary = fs::read_to_string(folder.join("SUMMARY.tsv")).unwrap();
    for line in summary.lines().skip(1) {
        let [group, name, buffer, ..] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let (folder, buffer) = (folder.join(group).join(name), buffer.to_owned());
        trials.push(Trial::test(format!("coresight/{group}/{name}/{buffer}"), move || {
            coresight(&folder, &buffer)
        }));
    }
    assert_eq!(trials.len(), 183 + 1 + 18, "buffers");
    trials
}

/// The framing and the dialect, with the program and without.
fn rv_tracer(folder: &Path) -> Result<(), Failed> {
    let capture = fs::read(folder.join("packets.bin"))?;
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    image.add_elf(&fs::read(folder.join("l1.riscv"))?, 0)?;
    for image in [Some(&image), None] {
        let report = Report::new(&capture, &Known { image, tvec: &[] }, &Limits::default());
        let best = report.best().ok_or("nothing found")?;
        let found = (best.reading.framing, best.guess.unit, best.guess.params);
        assert_eq!(found, (Framing::RvTracer, Unit::RvTracer, Params::RV_TRACER));
        let clean = best.score.map(|score| (score.lost, score.gaps));
        assert_eq!(clean, image.map(|_| (0, 0)));
    }
    Ok(())
}

/// How a buffer is packed, which sources are in it, and the protocol of each.
fn coresight(folder: &Path, buffer: &str) -> Result<(), Failed> {
    let snapshot = Snapshot::open(folder)?;
    let buffer = snapshot.buffer(Some(buffer))?;
    let bytes = snapshot.bytes(buffer).read()?;
    let report = Report::new(&bytes, &Known::default(), &Limits::default());
    assert!(report.best().is_none(), "taken for E-Trace");
    let sources = snapshot.sources(&buffer.name)?;
    if sources.iter().all(|source| matches!(source.protocol, Protocol::Other(_))) {
        assert!(!report.is_arm(), "neither ETMv4 nor PTM is in it");
        return Ok(());
    }
    assert!(report.is_arm(), "{:?}", report.coresight);
    let found = report.coresight.as_ref().ok_or("nothing found")?;
    let packing = match buffer.format {
        Format::Coresight => Packing::Frames,
        Format::Dstream => Packing::Dstream,
        Format::SourceData => Packing::Raw,
    };
    assert_eq!(found.packing, packing);
    for stream in &found.streams {
        let source = sources.iter().find(|source| stream.id.is_none_or(|id| id == source.id));
        let right = match (stream.unit, source.map(|source| &source.protocol)) {
            (ArmUnit::Other, Some(Protocol::Other(_)) | None) => true,
            (ArmUnit::Etmv4(found), Some(Protocol::Etmv4(config))) => {
                same_sizes(stream, found, config)
            }
            (ArmUnit::Ete(found), Some(Protocol::Etmv4(config))) => {
                config.is_ete() && same_sizes(stream, found, config)
            }
            (ArmUnit::Ptm(found), Some(Protocol::Ptm(config))) => {
                found.cycle_accurate == config.cycle_accurate
                    && found.context_id_bytes == config.context_id_bytes
            }
            _ => false,
        };
        assert!(right, "{stream:?} is {:?}", source.map(|source| &source.protocol));
    }
    Ok(())
}

/// Whether sizes are those of the unit, or do not matter.
fn same_sizes(
    stream: &Stream,
    found: hartrace_etmv4::Config,
    config: &hartrace_etmv4::Config,
) -> bool {
    let sizes = |config: &hartrace_etmv4::Config| (config.context_id_bytes, config.vmid_bytes);
    stream.alike > 0 || sizes(&found) == sizes(config)
}

struct Vector {
    name: String,
    packets: PathBuf,
    setup: Setup,
    compat: Compat,
    /// The program without the reset ROM.
    image: Image,
    tvec: Vec<(u8, u64)>,
}

impl Vector {
    fn new(folder: &Path, vector: &Value, test: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let config = text(&vector["config"]);
        let xlen = if test["isa"] == "RV32" { Xlen::Rv32 } else { Xlen::Rv64 };
        let draft = Draft::read(&folder.join("config").join(format!("{config}.json"))).unwrap();
        let setup = Setup::new(Some(draft), &Given { xlen: Some(xlen), ..Given::default() });
        let mut image = Image::new(Isa::new(xlen));
        for elf in test["elf"].as_array().unwrap() {
            let bias = elf.get("bias").map_or(0, |bias| number(&text(bias)));
            image.add_elf(&fs::read(folder.join(text(&elf["file"]))).unwrap(), bias).unwrap();
        }
        let tvec = vector["trap_vector_by_privilege"].as_object().into_iter().flatten();
        let tvec = tvec.map(|(level, bases)| (level.parse().unwrap(), number(&text(&bases[0]))));
        Self {
            name: format!("{config}/{}", text(&test["name"])),
            packets: folder.join(text(&vector["file"])),
            setup: setup.unwrap(),
            compat: if config.starts_with("tec_") { Compat::CModel } else { Compat::PythonModel },
            image,
            tvec: tvec.collect(),
        }
    }

    fn check(&self, table: &Table) -> Result<(), Failed> {
        let capture = fs::read(&self.packets)?;
        let known = Known { image: Some(&self.image), tvec: &self.tvec };
        let report = Report::new(&capture, &known, &Limits::default());
        let best = report.best().ok_or_else(|| format!("nothing found: {report:?}"))?;
        let mut wrong = Vec::new();
        if best.reading.framing != Framing::Reference {
            wrong.push(format!("framing {:?}", best.reading.framing));
        }
        let params = &self.setup.params;
        let state =
            u32::from(params.privilege_width_p) + params.time_bits() + params.context_bits();
        for setting in &best.settings {
            let truth = match setting.name {
                "privilege + time + context" => state as u8,
                "iaddress_width_p" => params.iaddress_width_p,
                "iaddress_lsb_p" => params.iaddress_lsb_p,
                "ecause_width_p" => params.ecause_width_p,
                "f0s_width_p" => params.f0s_width_p,
                "bpred_size_p" => params.bpred_size_p,
                "cache_size_p" => params.cache_size_p,
                "return_stack_size_p" => params.return_stack_size_p,
                "call_counter_size_p" => params.call_counter_size_p,
                "sijump_p" => params.sijump_p.into(),
                "unit" => 0,
                "compat" if self.compat == Compat::CModel => 2,
                "compat" => 1,
                _ => continue,
            };
            if !setting.allows(truth) {
                wrong.push(format!("{truth} is right: {setting:?}"));
            }
            let column = match setting.origin {
                Origin::Unused => 4,
                _ if setting.is_named() => 0,
                _ if !setting.rivals.is_empty() => 3,
                _ if setting.worse.is_empty() => 2,
                _ => 1,
            };
            let mut table = table.lock().expect("no test panics with the lock");
            table.entry(setting.name).or_default()[column] += 1;
        }
        // Without the program, only framing and modes are certain.
        let bare = Report::new(&capture, &Known::default(), &Limits::default());
        let bare = bare.best().map(|best| (best.reading.framing, best.modes));
        if bare != Some((Framing::Reference, best.modes)) {
            wrong.push(format!("without the program {bare:?}"));
        }
        let guess = &best.guess;
        let truth = self.decode(&capture, params, self.setup.unit, self.compat);
        let found = self.decode(&capture, &guess.params, guess.unit, guess.compat);
        if truth != found {
            let same = truth.iter().zip(&found).take_while(|(a, b)| a == b).count();
            let (a, b) = (truth.get(same), found.get(same));
            wrong.push(format!("the first difference in what is decoded, at {same}: {a:?} {b:?}"));
        }
        if wrong.is_empty() {
            return Ok(());
        }
        Err(format!("{}\n{:?}\n{:?}", wrong.join("\n"), best.guess, best.score).into())
    }

    /// Every instruction and event, with the reset ROM.
    fn decode(&self, capture: &[u8], params: &Params, unit: Unit, compat: Compat) -> Vec<String> {
        let mut image = self.image.clone();
        let load: u32 = if image.isa().xlen == Xlen::Rv32 { 0x0182_a283 } else { 0x0182_b283 };
        let words = [0x0000_0297, 0x0202_8593, 0xf140_2573, load, 0x0002_8067];
        let rom: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        image.add(0x1000, &rom);
        let config =
            Config { params: *params, unit, compat, tvec: self.tvec.clone(), ..Config::default() };
        let mut tracer = Tracer::new(config, &image).unwrap();
        let mut list = List::default();
        for item in Framing::Reference.frames(capture) {
            let Ok((byte, Item::Frame(frame))) = item else { panic!("{item:?}") };
            tracer.feed_bits(StreamPos { packet: 0, byte }, frame.payload(), &mut list);
        }
        tracer.finish(&mut list);
        list.0
    }
}

#[derive(Default)]
struct List(Vec<String>);

impl Sink for List {
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        run.addresses(|address| self.0.push(format!("{address:x}")));
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        // Whether there is a time at all cannot be told from times that are 0; their values are in the contexts.
        if !matches!(event, Event::Time(_)) {
            self.0.push(format!("{event:?}"));
        }
    }
}

fn number(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}
