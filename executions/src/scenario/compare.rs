//! Compares text line by line.

/// A line without redundant spaces.
pub(crate) fn normal(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Folds repetitions: consecutive equal lines into one line with `x` and their number, and groups of
/// up to four lines that repeat at least three times into `repeat` … `end`.
pub(crate) fn fold(lines: &[String]) -> Vec<String> {
    let mut folded = Vec::new();
    let mut rest = lines;
    while let Some(first) = rest.first() {
        let repeats = |period: usize| {
            let group = rest.get(..period);
            rest.chunks_exact(period).take_while(|chunk| Some(*chunk) == group).count()
        };
        let used = match repeats(1) {
            1 => match (2..=4.min(rest.len())).find(|period| repeats(*period) >= 3) {
                Some(period) => {
                    folded.push(format!("repeat {}", repeats(period)));
                    folded.extend(rest.iter().take(period).map(|line| format!("  {line}")));
                    folded.push("end".to_owned());
                    period * repeats(period)
                }
                None => {
                    folded.push(first.clone());
                    1
                }
            },
            times => {
                folded.push(format!("{first} x{times}"));
                times
            }
        };
        rest = rest.get(used..).unwrap_or_default();
    }
    folded
}

/// Compares two lists of lines; if they differ, returns both between fences, with `>` at the first
/// line that differs.
pub(crate) fn same(what: &str, expected: &[String], got: &[String]) -> Result<(), String> {
    let clean = |lines: &[String]| lines.iter().map(|l| normal(l)).collect::<Vec<_>>();
    let (expected, got) = (clean(expected), clean(got));
    if expected == got {
        return Ok(());
    }
    let agree = expected.iter().zip(&got).take_while(|(e, g)| e == g).count();
    let mut text = String::new();
    for (side, lines) in [("expected", &expected), ("got", &got)] {
        text += &format!("--- {what}, {side}\n");
        for (i, line) in lines.iter().enumerate() {
            text += &format!("{} {line}\n", if i == agree { '>' } else { ' ' });
        }
        if agree == lines.len() {
            text += "> (ends here)\n";
        }
    }
    Err(text + "---")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn space_does_not_matter() {
        assert_eq!(same("packets", &lines("a  b\nc"), &lines("a b\nc ")), Ok(()));
    }

    #[test]
    fn first_difference_is_marked() {
        let report = same("trace", &lines("a\nb\nc"), &lines("a\nx")).unwrap_err();
        assert_eq!(report, "--- trace, expected\n  a\n> b\n  c\n--- trace, got\n  a\n> x\n---");
        let report = same("trace", &lines("a"), &lines("a\nx")).unwrap_err();
        assert!(report.contains("  a\n> (ends here)\n"), "{report}");
    }

    #[test]
    fn repeated_lines_fold() {
        assert_eq!(fold(&lines("a\na\nb\na")), ["a x2", "b", "a"]);
        assert_eq!(fold(&lines("a\nb\na\nb\na\nb\na")), ["repeat 3", "  a", "  b", "end", "a"]);
        assert_eq!(fold(&lines("a\nb\na\nb")), ["a", "b", "a", "b"]);
    }
}
