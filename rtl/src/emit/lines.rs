//! Lines with indentation.

use super::doc::Doc;

#[derive(Debug, Default)]
pub(super) struct Lines {
    text: String,
    depth: usize,
}

impl Lines {
    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub(super) fn doc(&mut self, doc: Doc) {
        let text = doc.render(2 * self.depth);
        self.line(&text);
    }

    /// A line that no indentation applies to.
    pub(super) fn directive(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub(super) fn comment(&mut self, text: &str) {
        for line in text.lines() {
            self.line(format!("// {line}").trim_end());
        }
    }

    /// A blank line, unless there is one or a body has just begun.
    pub(super) fn blank(&mut self) {
        if !self.text.ends_with("\n\n") && !self.text.ends_with("(\n") && !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    pub(super) fn indented(&mut self, body: impl FnOnce(&mut Self)) {
        self.depth += 1;
        body(self);
        self.depth -= 1;
    }

    pub(super) fn nested(&mut self, open: &str, close: &str, body: impl FnOnce(&mut Self)) {
        self.line(open);
        self.indented(body);
        self.line(close);
    }
}
