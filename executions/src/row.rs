use hartrace_etrace::ingress::Retired;

/// One block and its position in the file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// Line of the file, counted from 1; trace files have none.
    pub line: Option<u64>,
    /// The encoding of the instruction, if the log contains it.
    pub word: Option<u32>,
    /// What the hart would have reported.
    pub retired: Retired,
}

impl Row {
    pub(crate) const fn at(line: u64, retired: Retired) -> Self {
        Self { line: Some(line), word: None, retired }
    }
}

/// What a log does not contain, and was guessed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Guesses {
    /// Traps without a cause, reported with cause 0. Most of them are visible only as a jump in the
    /// addresses.
    pub traps: u64,
    /// The line of the first of them: that of the instruction before the jump.
    pub first: Option<u64>,
    /// Whether the last instruction is a branch, whose outcome is unknown: it is reported as not
    /// taken.
    pub open_end: bool,
}

impl Guesses {
    /// What a reader should know of guessed traps, if there are any.
    pub fn traps_in_words(&self) -> Option<String> {
        let (count, s) = (self.traps, if self.traps == 1 { "" } else { "s" });
        let first = match (self.first, count) {
            (Some(line), 1) => format!(", after line {line}"),
            (Some(line), _) => format!(", the first after line {line}"),
            (None, _) => String::new(),
        };
        let why = "the log jumps there, and names no trap; a line may be missing";
        (count > 0).then(|| format!("guessed {count} trap{s} without a cause{first}: {why}"))
    }
}
