use hartrace_etrace::ingress::Retired;

/// One block and its position in the file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// Line of the file, counted from 1; trace files have none.
    pub line: Option<u64>,
    /// What the hart would have reported.
    pub retired: Retired,
}

impl Row {
    pub(crate) const fn at(line: u64, retired: Retired) -> Self {
        Self { line: Some(line), retired }
    }
}

/// What a log does not contain, and was guessed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Guesses {
    /// Traps without a cause, reported with cause 0. Most of them are visible only as a jump in the
    /// addresses.
    pub traps: u64,
    /// Whether the last instruction is a branch, whose outcome is unknown: it is reported as not
    /// taken.
    pub open_end: bool,
}
