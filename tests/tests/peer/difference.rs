//! The numbered differences, and how often each was observed.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

macro_rules! differences {
    ($($number:literal $name:ident $what:literal)*) => {
        /// An entry of `docs/peer-differences.md`.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum P {
            $(#[doc = $what] $name = $number,)*
        }

        impl P {
            /// Every difference, in order.
            pub(crate) const ALL: &[(Self, &str)] = &[$((Self::$name, $what),)*];
        }
    };
}

differences! {
    1 NoSubformat "format 0 is written without its subformat field"
    2 OnlyCache "format 0 without a subformat field is always read as a branch count"
    3 ImplicitException "trap packets without a handler address do not exist"
    4 Modes "modes that are refused"
    5 EcauseWidth "default width of ecause"
    6 EncapTimestamp "encapsulation: frames without the configured timestamp"
    7 EncapZero "encapsulation: a payload of zeros becomes a null packet"
    8 SmiHartIndex "Siemens messages are written without the hart index"
    9 Esp32Padding "ESP32-C6: padding takes three bytes"
    10 PendingBranch "a branch before an interrupt stays pending"
    11 TrapFirst "a trap packet at the start of a trace"
    12 AbsoluteJump "jalr rd, imm(x0) is taken for relative"
    13 BranchToItself "a branch to itself ends the walk"
    14 AddressWidth "reported addresses are not cut to iaddress_width_p"
    15 OddTarget "sequentially inferred targets keep bit 0"
    16 LookBack "sequential inference looks back across a synchronisation"
    17 InferredTarget "a reported address is passed where an inferred jump leads to it"
    18 ContextForgets "a context packet hides that the last address was in doubt"
    19 SyncPrivilege "a synchronisation stops at a visit of another privilege"
    20 EpcWithoutCode "traps at addresses without code"
    21 NoEnd "a walk that never ends"
    22 StaleReturns "synchronisations do not empty the return stack"
    23 DepthTooEarly "irdepth ends a return that is followed by reported branches"
    24 NotifyDepth "irdepth is not compared where notify is set"
    25 KeptReturns "returns that are reported or sequentially inferred do not pop"
    26 CallCounter "the call counter holds one call more"
    27 DepthInDoubt "the irdepth of an address in doubt is forgotten"
    28 MapAfterDoubt "a full branch map after an address in doubt"
    29 SyncUnretired "generator: synchronises at an instruction that traps"
    30 TrapLast "generator: a trap at the end is an instruction"
    31 TrapTwice "generator: traps at the target of a jump are reported twice"
    32 SequentialSync "generator: sequential inference across a synchronisation"
    33 DoubtfulVisit "generator: a synchronisation that fits an earlier visit too"
}

impl fmt::Display for P {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P{}", *self as u8)
    }
}

/// A difference and the predicate that recognises it.
pub(crate) type Test<S> = (P, fn(&S) -> bool);

/// The result of one comparison.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    /// Equal.
    Equal,
    /// Different for a known reason.
    Known(P),
    /// Different; the text shows how.
    Unknown(String),
}

/// The verdicts of one kind of comparison.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    /// What is compared.
    pub(crate) name: &'static str,
    /// Comparisons that were equal.
    pub(crate) equal: u64,
    /// Known differences.
    pub(crate) known: BTreeMap<P, u64>,
    /// Others: the case and how it differs.
    pub(crate) unknown: Vec<(u64, String)>,
}

impl Tally {
    /// Nothing compared yet.
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, equal: 0, known: BTreeMap::new(), unknown: Vec::new() }
    }

    /// Adds the verdict on case `seed`.
    pub(crate) fn add(&mut self, seed: u64, verdict: Verdict) {
        match verdict {
            Verdict::Equal => self.equal += 1,
            Verdict::Known(p) => *self.known.entry(p).or_default() += 1,
            Verdict::Unknown(text) => self.unknown.push((seed, text)),
        }
    }

    /// Adds another part of the same comparison.
    pub(crate) fn merge(&mut self, other: Self) {
        self.equal += other.equal;
        for (p, count) in other.known {
            *self.known.entry(p).or_default() += count;
        }
        self.unknown.extend(other.unknown);
    }

    fn cases(&self) -> u64 {
        self.equal + self.known.values().sum::<u64>() + self.unknown.len() as u64
    }

    /// Fails if a difference has no explanation.
    pub(crate) fn check(&self) {
        let mut unknown: Vec<_> = self.unknown.iter().collect();
        unknown.sort();
        if let Some((seed, text)) = unknown.first() {
            let seeds: Vec<u64> = unknown.iter().map(|(seed, _)| *seed).take(20).collect();
            panic!("{}: unexplained in cases {seeds:?}; case {seed}:\n{text}", self.name);
        }
    }
}

/// A table of all tallies: a line for equal cases and one for each difference.
pub(crate) fn table(tallies: &[&Tally]) -> String {
    let mut text = format!("{:<6}", "");
    let mut line = |head: String, cells: Vec<u64>, tail: &str| {
        let _ = write!(text, "\n{head:<6}");
        for cell in cells {
            let cell = if cell == 0 { "-".to_owned() } else { cell.to_string() };
            let _ = write!(text, "{cell:>10}");
        }
        let _ = write!(text, "  {tail}");
    };
    line("cases".to_owned(), tallies.iter().map(|t| t.cases()).collect(), "");
    line("equal".to_owned(), tallies.iter().map(|t| t.equal).collect(), "");
    for (p, what) in P::ALL {
        let cells = tallies.iter().map(|t| t.known.get(p).copied().unwrap_or(0)).collect();
        line(p.to_string(), cells, what);
    }
    let names: String = tallies.iter().map(|t| format!("{:>10}", t.name)).collect();
    text.replacen('\n', &format!("{names}\n"), 1)
}
