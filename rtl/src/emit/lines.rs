//! Lines with indentation.

use super::doc::Doc;

#[derive(Debug, Default)]
pub(super) struct Lines {
    text: String,
    depth: usize,
    /// Where the body of the module begins.
    start: usize,
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

    /// Writes a line without indentation.
    pub(super) fn directive(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub(super) fn comment(&mut self, text: &str) {
        for line in text.lines() {
            self.line(format!("// {line}").trim_end());
        }
    }

    /// Writes a blank line, unless there is one, the body has just begun, or a comment precedes.
    pub(super) fn blank(&mut self) {
        let body = self.text[self.start..].trim_end_matches('\n');
        let last = body.rsplit('\n').next().unwrap_or_default();
        let comment = last.trim_start().starts_with("//");
        if !body.is_empty() && !comment && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Writes the body of the module, without blank lines at its ends.
    pub(super) fn body(&mut self, body: impl FnOnce(&mut Self)) {
        self.start = self.text.len();
        self.indented(body);
        if self.text.ends_with("\n\n") {
            self.text.pop();
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
