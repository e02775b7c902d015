//! Names of C++ and Rust functions as their sources have them.

use super::tables;
use crate::limits::NAME_BYTES;
use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};
use std::fmt::{self, Write};

/// How deep names of C++ may nest: what compilers write is far below, and the parser recurses.
const DEPTH: u32 = 96;

/// Returns the name in the source of the function that the linker knows as `linkage`; `None` if that is not a name of C++
/// or Rust, or one that cannot be read or stands for too much text.
pub(super) fn demangle(linkage: &str) -> Option<String> {
    if !linkage.starts_with("_Z") && !linkage.starts_with("_R") || linkage.len() > NAME_BYTES {
        return None;
    }
    let mut text = Limited { text: String::new() };
    match rustc_demangle::try_demangle(linkage) {
        // Names of C++ look like old ones of Rust, which end with a hash.
        Ok(name) if linkage.starts_with("_R") || has_hash(linkage) => {
            write!(text, "{name:#}").ok()?;
        }
        _ => {
            let options = ParseOptions::default().recursion_limit(DEPTH);
            let name = Symbol::new_with_options(linkage, &options).ok()?;
            let options = DemangleOptions::default().recursion_limit(DEPTH);
            name.structured_demangle(&mut text, &options).ok()?;
        }
    }
    Some(tables::cut(text.text.as_bytes()).into_owned()).filter(|name| !name.is_empty())
}

/// Whether a name ends as those of Rust before its own scheme do: `17h`, 16 hexadecimal digits, `E`, and perhaps a suffix.
fn has_hash(linkage: &str) -> bool {
    let name = linkage.split_once('.').map_or(linkage, |(name, _)| name);
    name.strip_suffix('E').is_some_and(|name| {
        name.rsplit_once("17h").is_some_and(|(_, hash)| {
            hash.len() == 16 && hash.bytes().all(|digit| digit.is_ascii_hexdigit())
        })
    })
}

/// Text that may not become long: a few letters of a name may stand for megabytes.
struct Limited {
    text: String,
}

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len().saturating_add(text.len()) > NAME_BYTES {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_the_source_has_them() {
        for (linkage, name) in [
            ("_Z3addii", "add(int, int)"),
            ("_ZN5shape6Square4areaEv", "shape::Square::area()"),
            (
                "_ZNSt6vectorIiSaIiEE9push_backERKi",
                "std::vector<int, std::allocator<int> >::push_back(int const&)",
            ),
            ("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"),
            (
                "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE.llvm.17",
                "core::fmt::Write::write_fmt",
            ),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"),
        ] {
            assert_eq!(demangle(linkage).as_deref(), Some(name), "{linkage}");
        }
        let clone = demangle("_Z3addii.constprop.0").unwrap();
        assert!(clone.starts_with("add(int, int)") && clone.contains("constprop"), "{clone}");
    }

    #[test]
    fn other_names_stay() {
        for name in ["main", "_start", "_Z", "_ZN", "_R", "_Zzzz", "", "_ZN3fooE\u{1b}[31m"] {
            assert_eq!(demangle(name), None, "{name}");
        }
    }

    /// Each substitution doubles what the one before stands for.
    #[test]
    fn short_names_do_not_become_long() {
        let mut name = String::from("_Z1fIiE");
        let mut last = String::from("S_");
        for number in 0..40 {
            name = format!("_Z1f{}", nested(number));
            last = name.clone();
            if let Some(text) = demangle(&name) {
                assert!(text.len() <= NAME_BYTES + 4, "{}", text.len());
            }
        }
        assert!(demangle(&last).is_none() || last.len() < NAME_BYTES);
        let deep = format!("_Z1f{}i", "P".repeat(NAME_BYTES - 5));
        assert!(demangle(&deep).is_none());
        assert!(demangle(&format!("_Z{}", "N".repeat(NAME_BYTES))).is_none());
        assert_eq!(name, last);
    }

    /// Whatever a file says, its names neither end the program nor take long.
    #[test]
    fn damaged_names() {
        let seeds = [
            "_ZNSt8_Rb_treeINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt4pairIKS5_S5_EE14_M_lower_boundEv",
            "_ZZN3fooEvENKUlTyT_E_clIiEEDaS_",
            "_ZN1AC2ERKS_DpT_PFivE",
            "_RNvXs_NtC3foo3barINtNtC5alloc3vec3VechENtB4_5Trait3baz",
            "_RINvNtC3std3mem8align_ofdFKCRL0_hEuE",
            "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE.llvm.17",
        ];
        let mut random = 1u64;
        let mut next = |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) as usize % below
        };
        let letters = b"_ZNRISTtEKPDpLv0123456789abcdefBCFMX.$";
        let mut read = 0;
        for _ in 0..60_000 {
            let mut name = seeds[next(seeds.len())].as_bytes().to_vec();
            for _ in 0..1 + next(6) {
                let at = 2 + next(name.len() - 2);
                match next(3) {
                    0 => name[at] = letters[next(letters.len())],
                    1 => name.insert(at, letters[next(letters.len())]),
                    _ => {
                        let piece = name[at..(at + next(20)).min(name.len())].to_vec();
                        name.splice(at..at, piece);
                    }
                }
            }
            let name = String::from_utf8(name).unwrap();
            if let Some(text) = demangle(&name) {
                assert!(text.len() <= NAME_BYTES + 4, "{name}");
                read += 1;
            }
        }
        assert!(read > 1000, "{read}");
    }

    /// `pair<T, T>` of `pair<T, T>` and so on, `depth` times.
    fn nested(depth: usize) -> String {
        let mut text = String::from("4pairIiiE");
        for number in 0..depth {
            let before = match number {
                0 => "S0_".to_owned(),
                _ => format!("S{}_", radix(number)),
            };
            text += &format!("4pairI{before}{before}E");
        }
        text
    }

    fn radix(number: usize) -> String {
        let digit = |digit: usize| char::from_digit(digit as u32, 36).unwrap().to_ascii_uppercase();
        match number {
            0..36 => digit(number).to_string(),
            _ => format!("{}{}", digit(number / 36), digit(number % 36)),
        }
    }
}
