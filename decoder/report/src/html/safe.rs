//! JSON inside of HTML.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};

/// Writes JSON that may stand in a `script` element: no text in it can end the element, whatever it contains.
pub(super) fn json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, Safe))?;
    Ok(())
}

struct Safe;

impl Formatter for Safe {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        for (index, piece) in fragment.split('<').enumerate() {
            if index > 0 {
                out.write_all(b"\\u003c")?;
            }
            out.write_all(piece.as_bytes())?;
        }
        Ok(())
    }
}

/// Text as HTML.
pub(super) fn text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_the_element() {
        for hostile in
            ["</script><script>alert(1)</script>", "<!--<script>", "a\"<\u{2028}\\<", "<"]
        {
            let mut out = Vec::new();
            json(&mut out, &[hostile]).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(!text.contains('<'), "{text}");
            assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), [hostile]);
        }
    }

    #[test]
    fn no_tags() {
        assert_eq!(text("<b a=\"&\">"), "&lt;b a=&quot;&amp;&quot;&gt;");
    }
}
