//! Text from files, fit to be printed.
//!
//! A symbol, a file name or a command in a capture may hold anything: line ends that make up rows of a table, codes that move
//! the cursor of a terminal, marks that turn the order of letters around. Names are escaped here when they are read, so
//! that no writer has to think of it, and a name is the same text in every format.
//!
//! Everything else stays: letters of all scripts, spaces, and the brackets of C++ and Rust. So does a backslash, since names of
//! files from other systems have many.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// Whether a character does something else than being shown: controls, ends of lines and paragraphs, and marks that change
/// the direction of text.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text with every [hidden](is_hidden) character escaped: `\n`, `\t`, `\r`, `\x1b`, `\u{202e}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.contains(is_hidden) { Cow::Owned(escaped(text, is_hidden)) } else { text.into() }
}

/// The same of bytes that should be UTF-8; others become `\xff`.
pub fn printable_bytes(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return printable(text);
    }
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out.push_str(&printable(chunk.valid()));
        for byte in chunk.invalid() {
            // Writing to memory does not fail.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.into()
}

/// The name of a file, for messages and tables.
pub fn shown(path: &Path) -> String {
    printable_bytes(path.as_os_str().as_encoded_bytes()).into_owned()
}

/// A message, of which some may be quoted from a file. Its lines stay, but only the first one starts at the margin, where
/// messages of a program start.
pub fn message(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return text.into();
    }
    let lines: Vec<_> = text.trim_end().split('\n').map(printable).collect();
    lines.join("\n  ").into()
}

/// Escapes the characters that a format needs for itself, such as separators.
pub fn escaped(text: &str, is_special: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // Writing to memory does not fail.
        let _ = match c {
            '\n' | '\r' | '\t' if is_special(c) => write!(out, "{}", c.escape_default()),
            _ if !is_special(c) => out.write_char(c),
            _ if c.is_ascii() => write!(out, "\\x{:02x}", u32::from(c)),
            _ => write!(out, "{}", c.escape_unicode()),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped() {
        for (text, expected) in [
            ("a\nb\r\t\0", r"a\nb\r\t\x00"),
            ("\x1b[31mred\x7f", r"\x1b[31mred\x7f"),
            ("\u{85}\u{9b}2J", r"\u{85}\u{9b}2J"),
            ("x\u{202e}fdp.c\u{2066}\u{200f}\u{61c}", r"x\u{202e}fdp.c\u{2066}\u{200f}\u{61c}"),
            ("\u{2028}\u{2029}", r"\u{2028}\u{2029}"),
        ] {
            assert_eq!(printable(text), expected);
            assert_eq!(printable_bytes(text.as_bytes()), expected);
        }
        assert_eq!(printable_bytes(b"a\xff\n\xc3("), r"a\xff\n\xc3(");
        assert_eq!(shown(Path::new("a\nb")), r"a\nb");
    }

    #[test]
    fn names_stay_as_they_are() {
        for name in [
            "main",
            "std::map<int, a b>::operator()(char const*) const",
            "<alloc::vec::Vec<T> as Drop>::drop",
            r"C:\src\main.c",
            "größe_λ_関数_שלום",
        ] {
            assert!(matches!(printable(name), Cow::Borrowed(same) if same == name));
            assert!(matches!(message(name), Cow::Borrowed(same) if same == name));
        }
    }

    #[test]
    fn lines_of_messages_are_indented() {
        assert_eq!(message("a\nerror: b\x1b[2K\n\n"), "a\n  error: b\\x1b[2K");
    }
}
