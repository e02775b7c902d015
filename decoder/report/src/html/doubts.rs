//! Why a page may not show what was executed.

use crate::gaps::Gaps;
use crate::stats::Stats;

/// Out of so many bytes, one that cannot be followed is no longer a detail.
const SHARE: u64 = 10;

/// Bits that an instruction has without any trace: a trace that needs more explains nothing.
const LONGEST: f64 = 32.0;

/// Instructions for each gap, below which a trace hardly fits its program.
const BETWEEN: u64 = 32;

/// Whether most of a trace fits the program, in sentences; none if it does. `stats` are those of the capture, if packets were
/// counted.
pub fn doubts(gaps: &Gaps, instructions: u64, stats: Option<&Stats>) -> Vec<String> {
    if gaps.count() == 0 {
        return Vec::new();
    }
    let bytes = stats.map(|stats| stats.capture_bytes);
    let lost = bytes.map(|bytes| (gaps.lost_bytes(bytes), bytes));
    let bits = stats.and_then(|stats| stats.program.as_ref()?.bits_per_instruction);
    let absurd = bits.is_some_and(|bits| bits > LONGEST)
        || instructions < gaps.count().saturating_mul(BETWEEN);
    let much = lost.is_some_and(|(lost, all)| lost.saturating_mul(SHARE) >= all);
    if !absurd && !much {
        return Vec::new();
    }
    let of = lost.map_or_else(String::new, |(lost, all)| {
        let share = 100.0 * lost as f64 / all.max(1) as f64;
        format!(", {lost} of {all} bytes ({share:.0} %)")
    });
    let s = if gaps.count() == 1 { "" } else { "s" };
    vec![
        "The program does not seem to be the one that was traced, or the parameters are not those of the encoder, or \
         the capture is damaged."
            .to_owned(),
        format!(
            "{} gap{s}{of} could not be followed. What is shown between them may not have been executed.",
            gaps.count()
        ),
    ]
}
