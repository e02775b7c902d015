//! Text with marked places where it may be broken.

/// The longest line that is not broken.
pub(super) const COLUMNS: usize = 100;

#[derive(Debug)]
pub(super) enum Doc {
    Text(String),
    /// A space, or a new line if the group does not fit.
    Line,
    /// Nothing, or a new line if the group does not fit.
    Soft,
    Sequence(Vec<Doc>),
    /// Broken at its own lines only if it does not fit.
    Group(Box<Doc>),
    /// New lines in it are indented further.
    Indent(Box<Doc>),
}

pub(super) fn text(text: impl Into<String>) -> Doc {
    Doc::Text(text.into())
}

pub(super) fn sequence(docs: impl IntoIterator<Item = Doc>) -> Doc {
    Doc::Sequence(docs.into_iter().collect())
}

pub(super) fn group(docs: impl IntoIterator<Item = Doc>) -> Doc {
    Doc::Group(Box::new(sequence(docs)))
}

pub(super) fn indent(doc: Doc) -> Doc {
    Doc::Indent(Box::new(doc))
}

/// `open`, parts separated by commas, `close`.
pub(super) fn list(open: &str, parts: Vec<Doc>, close: &str) -> Doc {
    let mut inner = vec![Doc::Soft];
    for (i, part) in parts.into_iter().enumerate() {
        if i > 0 {
            inner.extend([text(","), Doc::Line]);
        }
        inner.push(part);
    }
    group([text(open), indent(sequence(inner)), Doc::Soft, text(close)])
}

impl Doc {
    /// Renders the text, starting in a line that has `margin` spaces before it.
    pub(super) fn render(&self, margin: usize) -> String {
        let mut out = Printer { text: String::new(), column: margin };
        out.print(self, margin, false);
        out.text
    }

    fn flat_width(&self) -> usize {
        match self {
            Doc::Text(text) => text.len(),
            Doc::Line => 1,
            Doc::Soft => 0,
            Doc::Sequence(docs) => docs.iter().map(Doc::flat_width).sum(),
            Doc::Group(doc) | Doc::Indent(doc) => doc.flat_width(),
        }
    }
}

struct Printer {
    text: String,
    column: usize,
}

impl Printer {
    fn print(&mut self, doc: &Doc, margin: usize, broken: bool) {
        match doc {
            Doc::Text(text) => self.put(text),
            Doc::Line | Doc::Soft if broken => {
                self.text.push('\n');
                self.text.push_str(&" ".repeat(margin));
                self.column = margin;
            }
            Doc::Line => self.put(" "),
            Doc::Soft => {}
            Doc::Sequence(docs) => docs.iter().for_each(|doc| self.print(doc, margin, broken)),
            // The extra column is for the character that always follows: a semicolon, a comma,
            // a parenthesis.
            Doc::Group(doc) => {
                self.print(doc, margin, self.column + doc.flat_width() + 1 > COLUMNS);
            }
            Doc::Indent(doc) => self.print(doc, margin + 4, broken),
        }
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += text.len();
    }
}
