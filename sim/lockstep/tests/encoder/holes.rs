//! Every situation that a named configuration can get into occurs in its runs, but for named holes.

use hartrace_encoder_hdl::Config;
use hartrace_lockstep::{Coverage, Point};
use libtest_mimic::Failed;

/// Situations that no run reaches: the configuration (empty for any), the situation, and why.
pub(crate) const HOLES: [(&str, &str, &str); 1] = [(
    "",
    "0.0 count-full",
    "a count of 2^32 - 1 predicted branches takes more than an hour of simulation",
)];

/// Why no run of a configuration reaches a situation.
pub(crate) fn hole(name: &str, point: &Point) -> Option<&'static str> {
    let text = point.to_string();
    let is = |(config, point, _): &&(&str, &str, &str)| {
        (config.is_empty() || *config == name) && *point == text
    };
    HOLES.iter().find(is).map(|(.., why)| *why)
}

/// Fails if a situation that is no hole did not occur, or one that is a hole did.
pub(crate) fn check(name: &str, config: &Config, coverage: &Coverage) -> Result<(), Failed> {
    let all = Point::all(config);
    let mut wrong = Vec::new();
    for point in &all {
        match (coverage.count(point), hole(name, point)) {
            (0, None) => wrong.push(format!("{}: {point} did not occur", point.module())),
            (1.., Some(_)) => wrong.push(format!("{}: {point} is no hole", point.module())),
            _ => {}
        }
    }
    // The list of what is possible is complete.
    let unknown = coverage.iter().map(|(point, _)| point).filter(|point| !all.contains(point));
    wrong.extend(unknown.map(|point| format!("{}: {point} is not in the list", point.module())));
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("{name}:\n{}", wrong.join("\n")).into()),
    }
}
