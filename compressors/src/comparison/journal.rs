//! Figures of earlier runs, so that a sweep that was stopped can be resumed.

use super::figures::Figures;
use super::{ComparisonError, Workload};
use crate::Scheme;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A file with a line for each scheme on each execution, which is written as soon as it has been measured.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    known: HashMap<Key, Option<Figures>>,
}

/// The version of the lines, which increases whenever figures have more in them or mean something else.
const FORMAT: u32 = 2;

/// What figures depend on.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, Hash)]
struct Key {
    /// [`FORMAT`]; 0 for lines that had none. Those are kept, and not used.
    #[serde(default)]
    format: u32,
    /// Another version may compress differently.
    version: String,
    /// A digest of what was executed.
    execution: String,
    scheme: String,
    /// All parameters of the scheme: those that its name does not have may have other values one day.
    #[serde(default)]
    parameters: String,
    sync_every: Option<NonZeroU64>,
}

#[derive(Deserialize, Serialize)]
struct Line {
    #[serde(flatten)]
    key: Key,
    /// `None` if the scheme is not for this execution.
    figures: Option<Figures>,
}

impl Journal {
    /// Reads what is known, and removes a last line that was not written to its end.
    pub(super) fn open(path: &Path) -> Result<Self, ComparisonError> {
        let failed = |error| ComparisonError::Journal { path: path.into(), error };
        let options = OpenOptions::new().read(true).append(true).create(true).clone();
        let mut file = options.open(path).map_err(failed)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        let whole = text.rfind('\n').map_or(0, |end| end.saturating_add(1));
        let mut known = HashMap::new();
        for (number, line) in text.get(..whole).unwrap_or_default().lines().enumerate() {
            let Line { key, figures } = serde_json::from_str(line).map_err(|error| {
                let what = format!("line {}: not written by this command: {error}", number + 1);
                failed(io::Error::new(io::ErrorKind::InvalidData, what))
            })?;
            known.insert(key, figures);
        }
        // Not before it is clear that this is no other file.
        file.set_len(whole as u64).map_err(failed)?;
        Ok(Self { path: path.into(), file: Mutex::new(file), known })
    }

    /// The figures of an execution in a scheme: known ones, or those that `measure` finds.
    pub(super) fn figures(
        &self,
        workload: &Workload,
        execution: &str,
        (scheme, sync_every): (&Scheme, Option<NonZeroU64>),
        measure: impl FnOnce() -> Result<Option<Figures>, ComparisonError>,
    ) -> Result<Option<Figures>, ComparisonError> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let key = Key {
            format: FORMAT,
            version,
            execution: execution.into(),
            scheme: scheme.to_string(),
            parameters: format!("{} {}", scheme.family().name, scheme.settings()),
            sync_every,
        };
        if let Some(known) = self.known.get(&key) {
            let renamed = |figures: Figures| Figures {
                program: workload.name.clone(),
                cut: workload.cut,
                ..figures
            };
            return Ok(known.clone().map(renamed));
        }
        let line = Line { key, figures: measure()? };
        let mut text = serde_json::to_vec(&line).unwrap_or_default();
        text.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |error| ComparisonError::Journal { path: self.path.clone(), error };
        file.write_all(&text).map_err(failed)?;
        Ok(line.figures)
    }
}

impl Workload {
    /// A digest of everything that figures depend on: the rows in order, the code under them, and the trap vectors.
    pub(super) fn digest(&self) -> String {
        let mut digest = Sha256::new();
        digest.update(format!("{:?} {:?}\n", self.code.xlen(), self.tvec));
        for row in self.rows.distinct() {
            digest.update(format!("{row:?}"));
            for pc in self.addresses_of(row) {
                digest.update(format!(" {:?}", self.code.insn(pc).ok()));
            }
        }
        self.rows.order().iter().for_each(|place| digest.update(place.to_le_bytes()));
        digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::comparison::{
        Comparison, ComparisonError, Options, Suite, SuiteProgram, Workload, chosen,
    };
    use hartrace_decoder::Image;
    use hartrace_etrace::ingress::Retired;
    use hartrace_isa::{Isa, Xlen};
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    fn measure(
        programs: &[&str],
        schemes: &str,
        limit: u64,
        file: &Path,
    ) -> Result<Comparison, ComparisonError> {
        let mut suite = Suite::corner_cases();
        suite.programs.retain(|program| programs.contains(&&program.name[..]));
        let schemes = chosen(&[schemes.into()], &[])?;
        let options = Options { limit, ..Options::default() };
        let mut comparison = Comparison::new(schemes, options).resume(Some(file))?;
        let open = |program: &SuiteProgram| program.workload(None, limit);
        comparison.measure::<_, ComparisonError>(&suite.programs, open, || ())?;
        Ok(comparison)
    }

    #[test]
    fn a_sweep_goes_on_where_it_was_stopped() {
        let path = std::env::temp_dir().join(format!("hartrace-journal-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        let bits = |comparison: &Comparison| -> Vec<(String, u64)> {
            comparison.figures.iter().map(|one| (one.scheme.clone(), one.bits)).collect()
        };
        let first = measure(&["sort"], "BASE,E-Trace+ie", 20_000, &path).unwrap();
        let lines = || fs::read_to_string(&path).unwrap().lines().count();
        assert_eq!(lines(), 2);
        // It was stopped while it wrote.
        let mut text = fs::read_to_string(&path).unwrap();
        // What is known is not measured again.
        let wrong = text.replacen(&format!("\"bits\":{}", bits(&first)[0].1), "\"bits\":7", 1);
        assert_ne!(wrong, text);
        fs::write(&path, wrong + "{\"version\":\"0.1").unwrap();
        let second = measure(&["sort", "linux"], "BASE,E-Trace+ie", 20_000, &path).unwrap();
        assert_eq!(bits(&second)[..2], [("BASE".into(), 7), bits(&first)[1].clone()]);
        // A scheme that is not for a program is known, too.
        assert_eq!((second.figures.len(), lines()), (3, 4));
        // Another execution of the same program is measured.
        let other = measure(&["sort"], "BASE", 10_000, &path).unwrap();
        assert!(bits(&other)[0].1 > 7 && lines() == 5);

        // Figures of another format, of other parameters and of another version are kept, and not used.
        let known = fs::read_to_string(&path).unwrap();
        let line = known.lines().next().unwrap();
        for (from, to) in [
            ("\"format\":2,", ""),
            ("\"format\":2,", "\"format\":1,"),
            ("\"parameters\":\"", "\"parameters\":\"other "),
            ("\"version\":\"", "\"version\":\"other "),
        ] {
            let older = line.replacen(from, to, 1) + "\n";
            assert_ne!(older.trim_end(), line);
            fs::write(&path, &older).unwrap();
            let again = measure(&["sort"], "BASE", 20_000, &path).unwrap();
            assert_eq!(bits(&again)[0], bits(&first)[0], "{older}");
            assert!(lines() == 2 && fs::read_to_string(&path).unwrap().starts_with(&older));
        }

        text = "not a journal\n".into();
        fs::write(&path, &text).unwrap();
        let error = measure(&["sort"], "BASE", 100, &path).unwrap_err().to_string();
        assert!(error.contains("line 1: not written by this command"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn executions_differ_in_order_rows_code_and_vectors() {
        let digest = |last: [u8; 2], order: &[u64], vectors: Option<u64>| {
            let mut image = Image::new(Isa::new(Xlen::Rv64));
            image.add(0x1000, &[[1, 0], [1, 0], last].concat());
            let mut workload = Workload::new("any", &image);
            order.iter().for_each(|pc| workload.push(&Retired::plain(*pc)));
            workload.tvec = vectors.map(|base| vec![(3, base)]);
            workload.digest()
        };
        let (nop, ret) = ([1, 0], [0x82, 0x80]);
        let different = [
            digest(nop, &[0x1000, 0x1002, 0x1004], None),
            digest(nop, &[0x1000, 0x1002, 0x1004, 0x1004], None),
            digest(nop, &[0x1000, 0x1002], None),
            digest(nop, &[0x1002, 0x1000, 0x1004], None),
            digest(nop, &[0x1000, 0x1002, 0x1004], Some(0)),
            digest(nop, &[0x1000, 0x1002, 0x1004], Some(4)),
            digest(ret, &[0x1000, 0x1002, 0x1004], None),
        ];
        assert_eq!(BTreeSet::from(different.clone()).len(), different.len());
        assert_eq!(digest(ret, &[0x1000, 0x1002, 0x1004], None), different[6]);
    }
}
