//! Files of sections with keys and values.
//!
//! Both `=` and `:` separate a key from its value, whichever comes first outside parentheses
//! (register names may contain them: `X0(size:64)=1`). Comments start with `;` or `#`; lines may
//! end with a carriage return. A section may occur several times; keys keep their order.

use crate::snapshot::Error;
use crate::text::printable;

/// A file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ini {
    /// Its name in messages.
    pub name: String,
    /// Its sections, in order.
    pub sections: Vec<Section>,
}

/// A section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Its keys with their values, in order.
    pub entries: Vec<(String, String)>,
}

impl Section {
    /// The value of a key; the last one if there are several.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries.iter().rev().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }
}

impl Ini {
    /// Reads a file; `name` is for messages.
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        let mut ini = Self { name: name.to_owned(), sections: Vec::new() };
        for (line, number) in text.lines().zip(1..) {
            let line = line.trim().trim_start_matches('\u{feff}');
            let syntax = || Error::Syntax { file: name.to_owned(), line: number };
            if line.is_empty() || line.starts_with([';', '#']) {
                continue;
            }
            if let Some(section) = line.strip_prefix('[') {
                let name = printable(section.strip_suffix(']').ok_or_else(syntax)?.trim());
                ini.sections.push(Section { name: name.into(), entries: Vec::new() });
                continue;
            }
            let at = separator(line).ok_or_else(syntax)?;
            let (key, value) = line.split_at_checked(at).ok_or_else(syntax)?;
            let value = value.trim_start_matches(['=', ':']).trim();
            let section = ini.sections.last_mut().ok_or_else(syntax)?;
            let [key, value] = [key.trim(), value].map(|text| printable(text).into_owned());
            section.entries.push((key, value));
        }
        Ok(ini)
    }

    /// The sections with a name.
    pub fn named<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Section> {
        self.sections.iter().filter(move |section| section.name == name)
    }

    /// The value of a key in any section with a name.
    pub fn get(&self, section: &str, key: &str) -> Option<&str> {
        self.named(section).filter_map(|section| section.get(key)).last()
    }

    /// The same; an error if there is none.
    pub fn need(&self, section: &str, key: &str) -> Result<&str, Error> {
        self.get(section, key).ok_or_else(|| self.missing(format!("key {key:?} in [{section}]")))
    }

    pub(crate) fn missing(&self, what: String) -> Error {
        Error::Missing { file: self.name.clone(), what }
    }

    /// Parses a number, hexadecimal with 0x, otherwise decimal.
    pub(crate) fn number(&self, key: &str, value: &str) -> Result<u64, Error> {
        number(value).ok_or_else(|| Error::Value {
            file: self.name.clone(),
            key: key.to_owned(),
            value: value.to_owned(),
            expected: "a number of up to 64 bits, as 12 or 0x1f",
        })
    }
}

/// The position of the separator.
fn separator(line: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, char) in line.char_indices() {
        match char {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            '=' => return Some(at),
            ':' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// Parses a number, hexadecimal with 0x, otherwise decimal.
pub fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_separators_comments_and_line_ends() {
        let text =
            "; comment\r\n[buffer]\r\nformat: coresight\r\n# more\n[regs]\nX0(size:64)=0x1F\nY=2";
        let ini = Ini::parse("a.ini", text).unwrap();
        assert_eq!(ini.get("buffer", "format"), Some("coresight"));
        assert_eq!(ini.get("regs", "X0(size:64)"), Some("0x1F"));
        assert_eq!(ini.get("regs", "Y"), Some("2"));
        assert_eq!(ini.get("regs", "Z"), None);
        assert_eq!(number("0x1F"), Some(31));
        assert_eq!(number("1F"), None);
    }

    #[test]
    fn errors_name_the_line() {
        let error = Ini::parse("a.ini", "[x]\n\nnothing").unwrap_err();
        assert_eq!(error.to_string(), "a.ini:3: expected [section], key=value or a comment");
        assert!(Ini::parse("a.ini", "key=value").is_err());
        assert!(Ini::parse("a.ini", "[x").is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[\\[\\]a=:;#()\n\r 0é]{0,60}") {
            let _ = Ini::parse("any", &text);
        }
    }
}
