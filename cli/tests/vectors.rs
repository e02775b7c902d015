//! Outside vectors, through the command line: every stream of the reference flow is encoded to the
//! byte, from a trace file of its CSV, and one of each CSV from that itself, by the production encoder of the
//! command and by the golden one, and decoded to the instruction; rv_tracer's capture is decoded; and the
//! commit log of a CVA6 is encoded and decoded.
//!
//! Needs `HARTRACE_DATA`, the folder that holds `etrace-reference`, `rv_tracer` and `cva6-commit`; shows
//! as ignored without it.

use flate2::read::GzDecoder;
use hartrace_capture::params::{Draft, Given, Setup};
use hartrace_etrace::Compat;
use hartrace_etrace::encoder::EncoderConfig;
use hartrace_executions::Options;
use hartrace_isa::Xlen;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::{env, fs};

/// Vectors per configuration: in all, encoded alike, decoded alike.
type Table = Arc<Mutex<BTreeMap<String, [usize; 3]>>>;

fn main() {
    let args = Arguments::from_args();
    let table = Table::default();
    let trials = match env::var_os("HARTRACE_DATA") {
        Some(data) => trials(Path::new(&data), &table),
        None => ["etrace-reference", "rv_tracer", "cva6-commit"]
            .map(|name| Trial::test(name, || Ok(())).with_ignored_flag(true))
            .into(),
    };
    let conclusion = libtest_mimic::run(&args, trials);
    print(&table);
    conclusion.exit();
}

fn print(table: &Table) {
    let table = table.lock().expect("no test panics with the lock");
    if table.is_empty() {
        return;
    }
    println!("{:28} vectors  encoded identical  decoded identical  listed deviations", "");
    let mut total = [0; 3];
    for (config, counts) in table.iter() {
        let quirks = match config {
            c if c.starts_with("tec_") => "C1 C2 C4 C5",
            c if c.starts_with("rv_tracer") => "R1 R2",
            _ => "C1 C2 C3, D2 in new_hw",
        };
        let [all, encoded, decoded] = counts;
        println!("{config:28} {all:7}  {encoded:17}  {decoded:17}  {quirks}");
        for (sum, n) in total.iter_mut().zip(counts) {
            *sum += n;
        }
    }
    println!("{:28} {:7}  {:17}  {:17}\n", "total", total[0], total[1], total[2]);
}

fn json(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Runs `hartrace` and returns what it printed.
fn hartrace(args: &[String]) -> Result<Vec<u8>, Failed> {
    let output = Command::new(env!("CARGO_BIN_EXE_hartrace")).args(args).output()?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("hartrace {}: {}\n{stderr}", args.join(" "), output.status).into())
}

fn trials(data: &Path, table: &Table) -> Vec<Trial> {
    let reference = data.join("etrace-reference");
    let manifest = json(&reference.join("manifest.json"));
    let mut trials = Vec::new();
    let mut inputs = BTreeMap::new();
    for vector in list(&manifest["vectors"]) {
        let test = list(&manifest["tests"]).iter().find(|t| t["name"] == vector["test"]);
        let test = test.unwrap_or_else(|| panic!("no test for vector {vector}"));
        let vector = Arc::new(Vector::new(&reference, vector, test, &mut inputs));
        count(table, &vector.config, 0);
        let (encoder, encoded) = (vector.clone(), table.clone());
        trials.push(Trial::test(format!("encode/{}", vector.name), move || {
            encoder.encode()?;
            count(&encoded, &encoder.config, 1);
            Ok(())
        }));
        let (decoder, decoded) = (vector.clone(), table.clone());
        trials.push(Trial::test(format!("decode/{}", vector.name), move || {
            decoder.decode()?;
            count(&decoded, &decoder.config, 2);
            Ok(())
        }));
    }
    assert!(!trials.is_empty(), "the manifest lists no vectors");
    let folder = data.join("rv_tracer/l1_test");
    let table = table.clone();
    count(&table, "rv_tracer (decode only)", 0);
    trials.push(Trial::test("decode/rv_tracer/l1_test", move || {
        rv_tracer(&folder)?;
        count(&table, "rv_tracer (decode only)", 2);
        Ok(())
    }));
    let folder = data.join("cva6-commit");
    trials.push(Trial::test("log/cva6-commit/prog_a", move || cva6(&folder)));
    trials
}

fn count(table: &Table, config: &str, column: usize) {
    let mut table = table.lock().expect("no test panics with the lock");
    table.entry(config.to_owned()).or_default()[column] += 1;
}

/// One stream of the reference flow.
struct Vector {
    name: String,
    config: String,
    params: Vec<String>,
    params_file: PathBuf,
    xlen: Xlen,
    compat: Compat,
    input: Arc<Input>,
    packets: PathBuf,
    /// Options of `decode` that name the program.
    program: Vec<String>,
}

/// What was executed. Many vectors have the same.
struct Input {
    file: PathBuf,
    xlen: &'static str,
    /// One of its vectors was encoded from this file.
    read: AtomicBool,
    /// The same as a trace file.
    converted: Mutex<Option<PathBuf>>,
    /// The addresses of all rows that retired something, a line for each.
    executed: OnceLock<String>,
}

impl Input {
    fn new(file: PathBuf, xlen: &'static str) -> Self {
        Self {
            file,
            xlen,
            read: AtomicBool::default(),
            converted: Mutex::default(),
            executed: OnceLock::new(),
        }
    }

    fn converted(&self) -> Result<PathBuf, Failed> {
        let mut made = self.converted.lock().expect("no test panics with the lock");
        if let Some(made) = &*made {
            return Ok(made.clone());
        }
        let name = self.file.file_name().ok_or("no name")?.display();
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.htr"));
        let (input, output) = (self.file.display().to_string(), file.display().to_string());
        let convert = ["log", &input, "--xlen", self.xlen, "-o", &output];
        hartrace(&convert.map(str::to_owned))?;
        Ok(made.insert(file).clone())
    }

    fn executed(&self) -> Result<&str, Failed> {
        if let Some(made) = self.executed.get() {
            return Ok(made);
        }
        let rows = zstd::decode_all(fs::File::open(&self.file)?)?;
        let mut reader = csv::Reader::from_reader(&rows[..]);
        let headers = reader.headers()?.clone();
        let column = |name: &str| headers.iter().position(|h| h == name).ok_or(name.to_owned());
        let (address, retired) = (column("iaddr_0")?, column("iretire_0")?);
        let mut list = String::new();
        let mut row = csv::StringRecord::new();
        while reader.read_record(&mut row)? {
            if &row[retired] != "0" {
                writeln!(list, "{:0>16}", &row[address])?;
            }
        }
        Ok(self.executed.get_or_init(|| list))
    }
}

impl Vector {
    fn new(
        folder: &Path,
        vector: &Value,
        test: &Value,
        inputs: &mut BTreeMap<PathBuf, Arc<Input>>,
    ) -> Self {
        let path = |name: &Value| folder.join(text(name)).display().to_string();
        let config = text(&vector["config"]);
        let test_name = text(&test["name"]);
        let narrow = test["isa"] == "RV32";
        let xlen = if narrow { "32" } else { "64" };
        let codec = config.starts_with("tec_");
        let compat = if codec { "c-model" } else { "python-model" };
        let file = folder.join("config").join(format!("{config}.json"));
        let params = ["--params", &file.display().to_string(), "--xlen", xlen, "--compat", compat]
            .map(str::to_owned)
            .to_vec();

        let mut program = Vec::new();
        for elf in list(&test["elf"]) {
            let bias = elf.get("bias").map_or(String::new(), |bias| format!("@{}", text(bias)));
            program.extend(["--elf".to_owned(), format!("{}{bias}", path(&elf["file"]))]);
        }
        program.extend(["--image".to_owned(), format!("{}@0x1000", boot_rom(xlen).display())]);
        for (level, bases) in vector["trap_vector_by_privilege"].as_object().into_iter().flatten() {
            let base = text(&bases[0]);
            program.extend(["--tvec".to_owned(), format!("{level}=0x{base}")]);
        }
        let input = folder.join(text(&test["input"][text(&vector["input"])]["file"]));
        let new = || Arc::new(Input::new(input.clone(), xlen));
        let input = Arc::clone(inputs.entry(input.clone()).or_insert_with(new));
        Self {
            name: format!("{config}/{test_name}"),
            config,
            params,
            params_file: file,
            xlen: if narrow { Xlen::Rv32 } else { Xlen::Rv64 },
            compat: if codec { Compat::CModel } else { Compat::PythonModel },
            input,
            packets: folder.join(text(&vector["file"])),
            program,
        }
    }

    fn encode(&self) -> Result<(), Failed> {
        let mut args = vec!["encode".to_owned(), self.input.file.display().to_string()];
        args.extend(self.params.iter().cloned());
        args.extend(["-o".to_owned(), "-".to_owned()]);
        let expected = fs::read(&self.packets)?;
        // Reading rows does not depend on what is made of them.
        if !self.input.read.swap(true, Ordering::Relaxed) && hartrace(&args)? != expected {
            return Err("from the CSV itself, the trace is another".into());
        }
        args[1] = self.input.converted()?.display().to_string();
        let encoded = hartrace(&args)?;
        let same = encoded.iter().zip(&expected).take_while(|(a, b)| a == b).count();
        if encoded == expected {
            return self.encode_golden(&expected);
        }
        let (got, want) = (encoded.len(), expected.len());
        Err(format!("{got} bytes instead of {want}, first difference at byte {same}").into())
    }

    /// The command uses the production encoder; the golden one must write the same.
    fn encode_golden(&self, expected: &[u8]) -> Result<(), Failed> {
        let given = Given { xlen: Some(self.xlen), ..Given::default() };
        let setup = Setup::new(Some(Draft::read(&self.params_file)?), &given)?;
        let config = EncoderConfig { compat: self.compat, ..setup.encoder() };
        let itype_width = setup.itype_width;
        let options = Options { xlen: Some(self.xlen), itype_width, ..Options::default() };
        let mut rows = hartrace_executions::open(&self.input.converted()?, &options)?;
        let mut golden = hartrace_golden::Encoder::new(config)?;
        let mut stream = Vec::new();
        let mut out = |encoded: hartrace_golden::Encoded| {
            stream.push(0x40 | encoded.bytes.len() as u8);
            stream.extend(encoded.bytes);
        };
        while let Some(row) = rows.next_row()? {
            golden.retire(&row.retired, &mut out);
        }
        golden.finish(&mut out);
        let same = stream.iter().zip(expected).take_while(|(a, b)| a == b).count();
        match stream == expected {
            true => Ok(()),
            false => Err(format!("the golden encoder differs at byte {same}").into()),
        }
    }

    fn decode(&self) -> Result<(), Failed> {
        let executed = self.input.executed()?;
        for threads in ["1", "3"] {
            let mut args = vec!["decode".to_owned(), self.packets.display().to_string()];
            args.extend(["--threads", threads].map(str::to_owned));
            args.extend(self.params.iter().cloned());
            args.extend(self.program.iter().cloned());
            let decoded = String::from_utf8(hartrace(&args)?)?;
            if decoded != executed {
                compare(decoded.lines(), executed.lines())?;
            }
        }
        Ok(())
    }
}

/// Equal from first to last.
fn compare<'a>(
    got: impl Iterator<Item = &'a str>,
    want: impl Iterator<Item = &'a str>,
) -> Result<(), Failed> {
    let (got, want): (Vec<_>, Vec<_>) = (got.collect(), want.collect());
    if got == want {
        return Ok(());
    }
    let same = got.iter().zip(&want).take_while(|(a, b)| a == b).count();
    Err(format!(
        "{} instructions instead of {}, first difference at {same}: {:?} instead of {:?}",
        got.len(),
        want.len(),
        got.get(same),
        want.get(same)
    )
    .into())
}

/// The simulator's reset code, which is traced but in no ELF file: auipc t0,0 / addi a1,t0,32 /
/// csrr a0,mhartid / ld or lw t0,24(t0) / jr t0.
fn boot_rom(xlen: &str) -> PathBuf {
    let load: u32 = if xlen == "32" { 0x0182_a283 } else { 0x0182_b283 };
    let words = [0x0000_0297, 0x0202_8593, 0xf140_2573, load, 0x0002_8067];
    let bytes: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("boot-rom-{xlen}.bin"));
    fs::write(&path, bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    path
}

/// The log of a CVA6 through the encoder and back.
fn cva6(folder: &Path) -> Result<(), Failed> {
    let unpack = |name: &str| -> Result<Vec<u8>, Failed> {
        let mut bytes = Vec::new();
        GzDecoder::new(fs::File::open(folder.join(name))?).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = |name: &str| place.join(name).display().to_string();
    let log = folder.join("prog_a.commit.csv.gz").display().to_string();
    let (trace, elf, params) = (path("prog_a.te"), path("prog_a.elf"), path("prog_a.toml"));
    fs::write(&elf, unpack("prog_a.elf.gz")?)?;
    fs::write(&params, "iaddress_width_p = 64\niaddress_lsb_p = 1\necause_width_p = 5\n")?;
    let run = |line: &str| hartrace(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
    run(&format!("encode {log} --params {params} -o {trace}"))?;
    let decoded = run(&format!("decode {trace} --params {params} --elf {elf}"))?;

    let table = unpack("prog_a.commit.csv.gz")?;
    let mut reader = csv::Reader::from_reader(&table[..]);
    let headers = reader.headers()?.clone();
    let column = |name: &str| headers.iter().position(|h| h == name).ok_or(name.to_owned());
    let (event, pc) = (column("event")?, column("pc")?);
    let mut retired = Vec::new();
    for row in reader.records() {
        let row = row?;
        if &row[event] == "R" {
            retired.push(format!("{:0>16}", &row[pc]));
        }
    }
    if retired.len() != 8104 {
        return Err(format!("{} instructions instead of 8104", retired.len()).into());
    }
    // D15: it ends with a jump to itself, and no trace shows how often it is taken.
    let turns = retired.iter().rev().take_while(|pc| Some(*pc) == retired.last()).count();
    if turns != 3 {
        return Err(format!("{turns} turns at the end instead of 3").into());
    }
    retired.truncate(retired.len() - (turns - 1));
    let decoded = String::from_utf8(decoded)?;
    compare(decoded.lines(), retired.iter().map(String::as_str))
}

fn rv_tracer(folder: &Path) -> Result<(), Failed> {
    let path = |name: &str| folder.join(name).display().to_string();
    let args = [
        "decode",
        &path("packets.bin"),
        "--framing",
        "rv-tracer",
        "--elf",
        &path("l1.riscv"),
        "--xlen",
        "64",
        "--emit",
        "pcs",
    ];
    let decoded = String::from_utf8(hartrace(&args.map(str::to_owned))?)?;
    let expected = zstd::decode_all(fs::File::open(folder.join("pcs.txt.zst"))?)?;
    let expected = String::from_utf8(expected)?;
    let padded: Vec<String> = expected.lines().map(|line| format!("{line:0>16}")).collect();
    compare(decoded.lines(), padded.iter().map(String::as_str))
}
