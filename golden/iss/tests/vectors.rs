//! Executes the programs of the reference vectors. The hart must report every row of the encoder
//! input, with its kind, cause, trap value and privilege.
//!
//! Needs `HARTRACE_DATA`, the folder that holds `etrace-reference`; shows as ignored without it.

mod platform;

use hartrace_etrace::ingress::{IType, Retired};
use hartrace_iss::{Hart, Step};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let args = Arguments::from_args();
    let trials = match env::var_os("HARTRACE_DATA") {
        Some(data) => trials(&Path::new(&data).join("etrace-reference")),
        None => vec![Trial::test("etrace-reference", || Ok(())).with_ignored_flag(true)],
    };
    libtest_mimic::run(&args, trials).exit();
}

fn trials(folder: &Path) -> Vec<Trial> {
    let manifest = fs::read(folder.join("manifest.json")).expect("manifest.json");
    let manifest: Value = serde_json::from_slice(&manifest).expect("manifest.json");
    let mut trials = Vec::new();
    for test in manifest["tests"].as_array().expect("tests") {
        for (variant, input) in test["input"].as_object().expect("input") {
            // Sequentially inferable jumps are marked there, which is not the task of the hart.
            if variant == "itype4_sijump" {
                continue;
            }
            let vector = Vector {
                rows: folder.join(text(&input["file"])),
                narrow: variant == "itype3",
                test: test.clone(),
                folder: folder.to_owned(),
            };
            let name = format!("{variant}/{}", text(&test["name"]));
            trials.push(Trial::test(name, move || vector.check()));
        }
    }
    assert!(!trials.is_empty(), "the manifest lists no tests");
    trials
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

struct Vector {
    folder: PathBuf,
    test: Value,
    rows: PathBuf,
    /// Codes of 3 bits.
    narrow: bool,
}

impl Vector {
    fn check(&self) -> Result<(), Failed> {
        let expected = rows(&self.rows)?;
        let mut hart = self.hart()?;
        let (mut found, mut at) = (Vec::new(), 0);
        let exit = hart.run(expected.len() as u64, &mut |step: &Step| {
            if found.len() < 5 {
                let row = self.row(step);
                if expected.get(at) != Some(&row) {
                    found.push((at, row));
                }
            }
            at += 1;
        });
        if let Some((at, row)) = found.first() {
            let want = &expected[*at];
            return Err(format!("row {at}: {row:x?} instead of {want:x?}; {exit:?}").into());
        }
        if at != expected.len() {
            return Err(format!("{at} rows instead of {}; {exit:?}", expected.len()).into());
        }
        Ok(())
    }

    fn hart(&self) -> Result<Hart, Failed> {
        let names: Vec<PathBuf> = self.test["elf"]
            .as_array()
            .map_or(&[][..], Vec::as_slice)
            .iter()
            .map(|elf| self.folder.join(text(&elf["file"])))
            .collect();
        let program = fs::read(&names[0])?;
        let mut hart = match names.last() {
            // The proxy kernel and the program it loads.
            Some(user) if names.len() > 1 => Hart::new(platform::proxy_kernel(fs::read(user)?)),
            _ => Hart::new(platform::spike(self.test["isa"] == "RV32")),
        };
        hart.load_elf(&program)?;
        Ok(hart)
    }

    fn row(&self, step: &Step) -> Row {
        let Retired { itype, cause, tval, privilege, iaddr, iretire, ilastsize, .. } =
            step.retired();
        // The reference flow has no code for returns from traps.
        let itype = if itype == IType::TrapReturn { IType::OtherUninferableJump } else { itype };
        let itype = if self.narrow { itype.narrow() } else { itype };
        let numbers = [cause, tval, privilege.0.into(), iaddr];
        (itype.raw(), numbers, iretire.min(1), ilastsize)
    }
}

/// itype; cause, tval, privilege and address; iretire, ilastsize.
type Row = (u8, [u64; 4], u32, u8);

fn rows(file: &Path) -> Result<Vec<Row>, Failed> {
    let bytes = zstd::decode_all(fs::File::open(file)?)?;
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let headers = reader.headers()?.clone();
    let column = |name: &str| headers.iter().position(|h| h == name).ok_or(name.to_owned());
    let [itype, cause, tval, privilege, iaddr, iretire, ilastsize] =
        ["itype_0", "cause", "tval", "priv", "iaddr_0", "iretire_0", "ilastsize_0"].map(column);
    let (itype, cause, tval, privilege) = (itype?, cause?, tval?, privilege?);
    let (iaddr, iretire, ilastsize) = (iaddr?, iretire?, ilastsize?);
    let hex = |text: &str| u64::from_str_radix(text, 16);
    let mut list = Vec::new();
    for record in reader.records() {
        let record = record?;
        let numbers = [
            record[cause].parse()?,
            hex(&record[tval])?,
            record[privilege].parse()?,
            hex(&record[iaddr])?,
        ];
        list.push((
            record[itype].parse()?,
            numbers,
            record[iretire].parse()?,
            record[ilastsize].parse()?,
        ));
    }
    Ok(list)
}
