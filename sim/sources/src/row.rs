use hartrace_ingress::Retired;

/// One block, and where it was read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// Line of the file, from 1; trace files have none.
    pub line: Option<u64>,
    /// What the hart would have reported.
    pub retired: Retired,
}

impl Row {
    pub(crate) const fn at(line: u64, retired: Retired) -> Self {
        Self { line: Some(line), retired }
    }
}

/// What a log does not say, and was made up.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Guesses {
    /// Traps without a cause, most of which only a jump in the addresses tells of: reported with
    /// cause 0.
    pub traps: u64,
    /// The last instruction is a branch, whose outcome nothing tells: reported as not taken.
    pub open_end: bool,
}
