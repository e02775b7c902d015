//! Modules as SystemVerilog.

mod body;
mod doc;
mod expr;
mod lines;
mod stmt;

use crate::Expr;
use crate::component::{Component, Content, Direction, Port};
use lines::Lines;
use std::collections::BTreeMap;

impl Component {
    /// The text of the module.
    #[must_use]
    pub fn emit(&self) -> String {
        module(self)
    }

    /// Names and texts of all modules of the hierarchy, each once, with instantiated modules before
    /// those that instantiate them.
    ///
    /// # Panics
    ///
    /// If two different modules have the same name.
    #[must_use]
    #[track_caller]
    pub fn files(&self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        let mut texts = BTreeMap::new();
        self.collect(&mut files, &mut texts);
        files
    }

    #[track_caller]
    fn collect(&self, files: &mut Vec<(String, String)>, texts: &mut BTreeMap<String, String>) {
        for child in self.children() {
            child.collect(files, texts);
        }
        let text = self.emit();
        match texts.insert(self.name().to_owned(), text.clone()) {
            None => files.push((self.name().to_owned(), text)),
            Some(other) => {
                assert!(other == text, "two different modules are called {}", self.name());
            }
        }
    }
}

/// The text of a module.
fn module(component: &Component) -> String {
    let content = component.content();
    let mut out = Lines::default();
    out.comment(&content.doc);
    ports(&mut out, content);
    out.body(|out| body::body(out, component));
    out.line("endmodule");
    out.into_text()
}

/// The text of an expression, in one line.
pub(crate) fn text_of(e: &Expr) -> String {
    let mut out = Lines::default();
    out.doc(expr::expr(e));
    out.into_text().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn vector(width: u32) -> String {
    if width == 1 { "logic".to_owned() } else { format!("logic [{}:0]", width - 1) }
}

fn ports(out: &mut Lines, content: &Content) {
    let types = content.ports.iter().map(|port| vector(port.width).len()).max().unwrap_or(0);
    let line = |port: &Port, end: &str| {
        let direction = match port.direction {
            Direction::Input => "input ",
            Direction::Output => "output",
        };
        format!("{direction} {:types$} {}{end}", vector(port.width), port.name)
    };
    let last = content.ports.len().saturating_sub(1);
    out.line(&format!("module {} (", content.name));
    out.indented(|out| {
        out.indented(|out| {
            for (i, port) in content.ports.iter().enumerate() {
                let line = line(port, if i == last { "" } else { "," });
                let beside = format!("{line}  // {}", port.doc);
                if port.doc.is_empty() {
                    out.line(&line);
                } else if port.doc.contains('\n') || beside.len() + 4 > doc::COLUMNS {
                    out.comment(&port.doc);
                    out.line(&line);
                } else {
                    out.line(&beside);
                }
            }
        });
    });
    out.line(");");
}
