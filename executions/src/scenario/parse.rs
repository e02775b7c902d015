//! Splits a file into sections.

use super::code::Code;
use super::line::Line;
use super::setup::Setup;
use super::{LineError, Scenario, Source, steps};
use std::collections::BTreeMap;

/// The sections a file may have.
const SECTIONS: [&str; 5] = ["code", "steps", "stream", "packets", "trace"];

/// Lines by section; `params:` and `options:` are sections of one line.
type Sections<'a> = BTreeMap<&'a str, Vec<Line<'a>>>;

pub(crate) fn parse(name: &str, text: &str) -> Result<Scenario, LineError> {
    let end = text.lines().count();
    if !text.starts_with("# ") {
        return Err(LineError::new(1, "a scenario starts with a comment that explains it"));
    }
    let (mut sections, head) = split(text)?;
    let mut one = |name| sections.remove(name).and_then(|lines| lines.first().copied());
    let setup = Setup::parse(one("params:"), one("options:"))?;
    let mut all = |name| sections.remove(name);
    let code = Code::parse(&all("code").unwrap_or_default(), setup.isa)?;
    let source = match (all("steps"), all("stream")) {
        (Some(lines), None) => Source::Steps(steps::parse(&lines, &setup, &code)?),
        (None, Some(lines)) => Source::Stream(lines.iter().map(payload).collect::<Result<_, _>>()?),
        _ => return Err(LineError::new(end, "expected either section steps or section stream")),
    };
    let mut texts = |name| {
        let lines = all(name).unwrap_or_default();
        lines.iter().map(|line| line.text.to_owned()).collect()
    };
    Ok(Scenario {
        name: name.to_owned(),
        head: head.to_owned(),
        setup,
        code,
        source,
        packets: texts("packets"),
        trace: texts("trace"),
    })
}

/// The sections, and the text before packets and trace.
fn split(text: &str) -> Result<(Sections<'_>, &str), LineError> {
    let mut sections = Sections::new();
    let mut current = None;
    let mut head = None;
    let mut offset = 0;
    for (i, raw) in text.split_inclusive('\n').enumerate() {
        let start = offset;
        offset += raw.len();
        let mut line = Line { number: i + 1, text: raw.trim() };
        if let Some(name) = line.text.strip_prefix("--- ") {
            if !SECTIONS.contains(&name) {
                return Err(line.error(format!("unknown section `{name}`")));
            }
            if sections.insert(name, Vec::new()).is_some() {
                return Err(line.error(format!("a second section `{name}`")));
            }
            match (matches!(name, "packets" | "trace"), head) {
                (true, None) => head = Some(&text[..start]),
                (false, Some(_)) => return Err(line.error("packets and trace come last")),
                _ => {}
            }
            current = Some(name);
            continue;
        }
        if head.is_none() {
            line.text = line.text.split('#').next().unwrap_or_default().trim();
        }
        if line.text.is_empty() {
            continue;
        }
        match current {
            Some(name) => sections.entry(name).or_default().push(line),
            None => header(&mut sections, line)?,
        }
    }
    Ok((sections, head.unwrap_or(text)))
}

/// `params: …` and `options: …`.
fn header<'a>(sections: &mut Sections<'a>, line: Line<'a>) -> Result<(), LineError> {
    let Some(key) = ["params:", "options:"].into_iter().find(|key| line.text.starts_with(key))
    else {
        return Err(line.error("expected a comment, `params:`, `options:` or a section"));
    };
    let rest = Line { text: &line.text[key.len()..], ..line };
    match sections.insert(key, vec![rest]) {
        Some(_) => Err(line.error("given twice")),
        None => Ok(()),
    }
}

/// `hex 73 00`
fn payload(line: &Line<'_>) -> Result<Vec<u8>, LineError> {
    let mut words = line.text.split_whitespace();
    if words.next() != Some("hex") {
        return Err(line.error("expected `hex` and bytes"));
    }
    words
        .map(|word| {
            u8::from_str_radix(word, 16).map_err(|_| line.error(format!("`{word}` is not a byte")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse("x", text).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_located() {
        assert_eq!(error("--- code\n"), "1: a scenario starts with a comment that explains it");
        assert_eq!(
            error("# x\nparam: 1\n"),
            "2: expected a comment, `params:`, `options:` or a section"
        );
        assert_eq!(error("# x\n--- cod\n"), "2: unknown section `cod`");
        assert_eq!(error("# x\nparams: width=1\n"), "2: unknown parameter `width`");
        assert_eq!(error("# x\noptions: fast\n"), "2: unknown option `fast`");
        assert_eq!(error("# x\n--- code\n"), "2: expected either section steps or section stream");
        assert_eq!(error("# x\n--- stream\nhex 1 zz\n"), "3: `zz` is not a byte");
        let code = "# x\nparams: iaddress_width_p=64\n--- code\n1000: 0000006f  j 1000\n";
        assert_eq!(error(&code.replace("j 1000", "j 1004")), "4: the target is 1000, not 1004");
        assert_eq!(error(&format!("{code}--- steps\n1004\n")), "6: no code at 1004");
        assert_eq!(error(&format!("{code}--- steps\n1000 fast\n")), "6: unknown word `fast`");
        assert_eq!(
            error(&format!("{code}1004: 0001  nop\n--- steps\n1000\n1004\n")),
            "8: 1000 is followed by 1000, not by 1004"
        );
    }
}
