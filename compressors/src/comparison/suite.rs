//! Suites: programs that are measured together.

use super::{ComparisonError, Workload};
use hartrace_capture::limits::{self, STREAM_BYTES};
use hartrace_executions::executed::bundled::PROGRAMS;
use hartrace_executions::executed::{Executor, Program};
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};

/// The suites that come with this crate.
const SHIPPED: [(&str, &str); 3] = [
    ("applications", include_str!("../../suites/applications.toml")),
    ("embench", include_str!("../../suites/embench.toml")),
    ("mibench", include_str!("../../suites/mibench.toml")),
];

/// The name of the suite of the bundled programs.
const CORNER_CASES: &str = "corner-cases";

/// How a compressed file starts.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Programs that are measured together.
///
/// ```
/// use hartrace_compressors::comparison::Suite;
///
/// let suite = Suite::parse(
///     r#"
///     name = "mine"
///     mean = true
///     [[program]]
///     name = "sort"
///     elf = "sort.elf"
///     arguments = ["--numbers", "1000"]
///     limit = 10_000_000
///     "#,
///     "mine.toml",
/// )?;
/// assert_eq!(suite.programs[0].name, "sort");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// Whether a mean of its programs says anything. Corner cases have none.
    pub mean: bool,
    /// Its programs, in order.
    #[serde(rename = "program")]
    pub programs: Vec<SuiteProgram>,
}

/// A program of a suite.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct SuiteProgram {
    /// Its name in tables.
    pub name: String,
    /// Its file, which may be compressed with zstd. Like all files, it is relative to the file of the suite, or to the current
    /// folder for a suite that comes with this crate.
    pub elf: PathBuf,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// What it reads from standard input.
    pub input: Option<PathBuf>,
    /// Files that it opens, by these names.
    #[serde(default)]
    pub files: Vec<PathBuf>,
    /// A log of its execution, as for `hartrace encode`, to read instead of executing it.
    pub trace: Option<PathBuf>,
    /// The largest number of instructions.
    pub limit: Option<u64>,
    /// The exit status that means success, if it is not 0.
    #[serde(default)]
    pub exit: i32,
    /// The programs of the literature that do the same.
    pub like: Option<String>,
    /// Its weight in the mean by weights, such as the millions of instructions that the literature gives.
    pub weight: Option<u32>,
    /// The folder that names of files are relative to.
    #[serde(skip)]
    folder: PathBuf,
    /// The program itself, if it is bundled.
    #[serde(skip)]
    bundled: Option<&'static [u8]>,
    /// What executes it.
    #[serde(skip)]
    executor: Executor,
}

impl Suite {
    /// Finds a suite by its name, or reads the file of that name.
    ///
    /// # Errors
    ///
    /// If there is none, or if it is not a suite.
    pub fn open(name: &str) -> Result<Self, ComparisonError> {
        if name == CORNER_CASES {
            return Ok(Self::corner_cases());
        }
        if let Some((name, text)) = SHIPPED.iter().find(|(shipped, _)| *shipped == name) {
            return Self::parse(text, name);
        }
        let path = Path::new(name);
        let text = limits::read_document(path).map_err(|error| {
            let known = SHIPPED.map(|(name, _)| name).join(", ");
            let what = format!("no suite of that name ({known}, {CORNER_CASES}), no file: {error}");
            ComparisonError::Suite { suite: name.into(), what }
        })?;
        let mut suite = Self::parse(&String::from_utf8_lossy(&text), name)?;
        if let Some(folder) = path.parent() {
            suite.programs.iter_mut().for_each(|program| program.folder = folder.into());
        }
        Ok(suite)
    }

    /// Selects what executes the programs.
    #[must_use]
    pub fn executed_by(mut self, executor: Executor) -> Self {
        self.programs.iter_mut().for_each(|program| program.executor = executor);
        self
    }

    /// The bundled programs, of which each is a corner case.
    pub fn corner_cases() -> Self {
        let program = |(name, elf): &(&'static str, &'static [u8])| SuiteProgram {
            name: (*name).into(),
            elf: PathBuf::new(),
            arguments: Vec::new(),
            input: None,
            files: Vec::new(),
            trace: None,
            limit: None,
            exit: 0,
            like: None,
            weight: None,
            folder: PathBuf::new(),
            bundled: Some(elf),
            executor: Executor::Hart,
        };
        let programs = PROGRAMS.iter().map(program).collect();
        Self { name: CORNER_CASES.into(), mean: false, programs }
    }

    /// Reads a suite. `file` is its name, for messages.
    ///
    /// # Errors
    ///
    /// If the text is not a suite.
    pub fn parse(text: &str, file: &str) -> Result<Self, ComparisonError> {
        let wrong = |what: String| ComparisonError::Suite { suite: file.into(), what };
        let suite: Self = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        for (index, program) in suite.programs.iter().enumerate() {
            if suite.programs.iter().take(index).any(|other| other.name == program.name) {
                return Err(wrong(format!("two programs have the name {}", program.name)));
            }
        }
        if suite.programs.is_empty() {
            return Err(wrong("it has no [[program]]".into()));
        }
        Ok(suite)
    }
}

impl SuiteProgram {
    /// Reads the program.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not a program that can be executed.
    pub fn program(&self) -> Result<Program, ComparisonError> {
        let elf = match self.bundled {
            Some(elf) => elf.to_vec(),
            None => self.read(&self.elf)?,
        };
        let program = Program::new(self.name.clone(), elf)?.executed_by(self.executor);
        let program = program.arguments(&self.arguments)?.succeeds_with(self.exit);
        let input = self.input.as_ref().map_or(Ok(Vec::new()), |path| self.read(path))?;
        let files = self.files.iter();
        let files = files.map(|path| Ok((path.to_string_lossy().into_owned(), self.read(path)?)));
        Ok(program.reads(input, files.collect::<Result<_, ComparisonError>>()?)?)
    }

    /// Reads a file, which may be compressed.
    fn read(&self, path: &Path) -> Result<Vec<u8>, ComparisonError> {
        let path = self.folder.join(path);
        let unreadable = |error: io::Error| ComparisonError::Read { path: path.clone(), error };
        let bytes = limits::read_file(&path).map_err(unreadable)?;
        if !bytes.starts_with(&ZSTD) {
            return Ok(bytes);
        }
        let plain = zstd::Decoder::new(&bytes[..]).map_err(unreadable)?;
        limits::read_up_to(plain, STREAM_BYTES).map_err(unreadable)
    }

    /// The largest number of instructions: `limit`, otherwise its own limit, otherwise `default`.
    pub fn limit(&self, limit: Option<u64>, default: u64) -> u64 {
        limit.or(self.limit).unwrap_or(default)
    }

    /// Executes the program, or reads the log of its execution, within its [limit](Self::limit).
    ///
    /// # Errors
    ///
    /// As of [`program`](Self::program), if it fails, and if the log cannot be read.
    pub fn workload(&self, limit: Option<u64>, default: u64) -> Result<Workload, ComparisonError> {
        let (program, limit) = (self.program()?, self.limit(limit, default));
        let Some(trace) = &self.trace else { return Ok(Workload::execute(&program, limit)?) };
        let options =
            hartrace_executions::Options { xlen: Some(program.xlen()), ..Default::default() };
        let mut rows = hartrace_executions::open(&self.folder.join(trace), &options)?;
        Ok(Workload::read(&self.name, program.image(), &mut rows, limit)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_suites_are_right() {
        for (name, _) in SHIPPED {
            let suite = Suite::open(name).unwrap();
            assert_eq!((&suite.name[..], suite.mean), (name, true));
            assert!(suite.programs.iter().all(|program| program.elf.is_relative()));
            // A program that the source has measured has its weight, and no other.
            assert!(suite.programs.iter().all(|program| match name {
                "applications" => program.weight.is_none(),
                _ => program.weight.is_some() == program.like.is_some(),
            }));
        }
        let corner_cases = Suite::open(CORNER_CASES).unwrap();
        assert!(!corner_cases.mean && corner_cases.programs.len() == PROGRAMS.len());
        assert!(corner_cases.programs[0].workload(Some(1000), 1).unwrap().rows() > 0);
    }

    #[test]
    fn mistakes_are_named() {
        let message = |text: &str| Suite::parse(text, "s.toml").unwrap_err().to_string();
        let program = "[[program]]\nname = \"a\"\nelf = \"a.elf\"\n";
        let head = "name = \"s\"\nmean = true\n";
        assert!(message(&format!("{head}{program}{program}")).contains("two programs"));
        assert!(message(&format!("{head}program = []")).contains("no [[program]]"));
        let unknown = message(&format!("{head}{program}argument = []"));
        assert!(unknown.contains("s.toml") && unknown.contains("argument"), "{unknown}");
        let missing = Suite::open("no/such.toml").unwrap_err().to_string();
        assert!(missing.contains("applications") && missing.contains("no/such.toml"), "{missing}");
    }

    /// A program in a file, compressed or not, relative to the suite.
    #[test]
    fn programs_of_files() {
        let folder = std::env::temp_dir().join(format!("hartrace-suite-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (_, elf) = PROGRAMS.iter().find(|(name, _)| *name == "linux").unwrap();
        std::fs::write(folder.join("a.elf"), elf).unwrap();
        std::fs::write(folder.join("b.elf.zst"), zstd::encode_all(*elf, 1).unwrap()).unwrap();
        let program =
            |name: &str, elf: &str| format!("[[program]]\nname = \"{name}\"\nelf = \"{elf}\"\n");
        let programs = program("a", "a.elf") + &program("b", "b.elf.zst") + &program("c", "c.elf");
        let file = folder.join("s.toml");
        std::fs::write(&file, format!("name = \"s\"\nmean = true\n{programs}")).unwrap();
        let suite = Suite::open(file.to_str().unwrap()).unwrap();
        let rows = |index: usize| {
            suite.programs[index].workload(None, 5000).map(|workload| workload.rows())
        };
        assert_eq!(rows(0).unwrap(), rows(1).unwrap());
        let missing = rows(2).unwrap_err().to_string();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(missing.contains("c.elf"), "{missing}");
    }

    /// Recorded executions of two programs, each with its own code.
    #[test]
    fn traces_of_files() {
        let folder = std::env::temp_dir().join(format!("hartrace-traces-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut text = String::from("name = \"s\"\nmean = true\n");
        for name in ["calls", "interrupts-rv32"] {
            let (_, elf) = PROGRAMS.iter().find(|(other, _)| *other == name).unwrap();
            std::fs::write(folder.join(format!("{name}.elf")), elf).unwrap();
            let file = std::fs::File::create(folder.join(format!("{name}.htr"))).unwrap();
            let mut log = hartrace_executions::file::Writer::new(file).unwrap();
            let program = Program::new(name, elf.to_vec()).unwrap();
            let pushed = program.execute(5000, |rows| {
                rows.iter().for_each(|row| log.push(row).unwrap());
                Ok::<(), ComparisonError>(())
            });
            pushed.unwrap();
            log.finish().unwrap();
            let files = format!("elf = \"{name}.elf\"\ntrace = \"{name}.htr\"\n");
            text += &format!("[[program]]\nname = \"{name}\"\n{files}");
        }
        let file = folder.join("s.toml");
        std::fs::write(&file, &text).unwrap();
        let mut suite = Suite::open(file.to_str().unwrap()).unwrap();
        for program in &mut suite.programs {
            let read = program.workload(None, 5000).unwrap();
            let trace = program.trace.take();
            let executed = program.workload(None, 5000).unwrap();
            assert!(read.addresses().eq(executed.addresses()) && read.rows() > 50);
            assert!(program.workload(None, 500).unwrap().rows() < read.rows());
            program.trace = trace.map(|_| "no/such.htr".into());
            let missing = program.workload(None, 5000).unwrap_err().to_string();
            assert!(missing.contains("no/such.htr"), "{missing}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
