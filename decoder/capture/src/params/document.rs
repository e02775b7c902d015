//! TOML and JSON as the same kind of tree, with the place of every key.

use super::error::{DocumentError, Problem};
use crate::limits::DOCUMENT_BYTES;
use std::rc::Rc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) value: Value,
    document: Rc<Document>,
    /// Where the key is in the text, if that is known.
    offset: Option<usize>,
}

/// A file. Its lines are counted only for an error: a file may have many keys.
#[derive(Debug, PartialEq)]
struct Document {
    name: String,
    text: String,
}

impl Document {
    /// `file:line:column`, or `file` where that is not known.
    fn place(&self, offset: Option<usize>) -> String {
        let name = &self.name;
        let Some(offset) = offset else { return name.clone() };
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line = before.split('\n').count();
        let tail = before.rsplit('\n').next().unwrap_or_default();
        let column = tail.chars().count().saturating_add(1);
        format!("{name}:{line}:{column}")
    }
}

/// A value in a parameter file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Number(u64),
    Flag(bool),
    Text(String),
    Table(Vec<Entry>),
    /// A list of tables.
    Tables(Vec<Vec<Entry>>),
    /// Something that no key accepts: another list, a negative or broken number, a date.
    Other,
}

impl Entry {
    /// Returns the error for a value of the wrong kind.
    pub(crate) fn expected(&self, what: &str) -> DocumentError {
        let found = match &self.value {
            Value::Number(n) => n.to_string(),
            Value::Flag(flag) => flag.to_string(),
            Value::Text(text) => format!("\"{text}\""),
            Value::Table(_) => "a table".into(),
            Value::Tables(_) => "a list of tables".into(),
            Value::Other => "something else".into(),
        };
        self.wrong(Problem::Value { key: self.key.clone(), expected: what.into(), found })
    }

    /// Returns the error for a problem at this entry.
    pub(crate) fn wrong(&self, problem: Problem) -> DocumentError {
        DocumentError { place: self.document.place(self.offset), problem }
    }

    /// A number of at most `max`.
    pub(crate) fn number(&self, max: u64) -> Result<u64, DocumentError> {
        match self.value {
            Value::Number(n) if n <= max => Ok(n),
            _ => Err(self.expected(&format!("a number from 0 to {max}"))),
        }
    }

    /// A number of at most 255.
    pub(crate) fn byte(&self) -> Result<u8, DocumentError> {
        self.number(u8::MAX.into()).map(|n| n as u8)
    }

    /// A flag, which may be written as a number.
    pub(crate) fn flag(&self) -> Result<bool, DocumentError> {
        match self.value {
            Value::Flag(flag) => Ok(flag),
            Value::Number(n @ (0 | 1)) => Ok(n == 1),
            _ => Err(self.expected("true or false")),
        }
    }

    /// Text.
    pub(crate) fn text(&self) -> Result<&str, DocumentError> {
        match &self.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.expected("a string")),
        }
    }

    /// A number, or text with `0x` and a hexadecimal one: numbers of TOML have only 63 bits.
    pub(crate) fn address(&self) -> Result<u64, DocumentError> {
        let hex = |text: &str| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
        match &self.value {
            Value::Number(n) => Some(*n),
            Value::Text(text) => hex(text),
            _ => None,
        }
        .ok_or_else(|| self.expected("a number, or a string such as \"0x80000000\""))
    }

    /// The tables of a list.
    pub(crate) fn tables(&self) -> Result<&[Vec<Entry>], DocumentError> {
        match &self.value {
            Value::Tables(tables) => Ok(tables),
            _ => Err(self.expected("a list of tables")),
        }
    }

    /// The entries of a table.
    pub(crate) fn table(&self) -> Result<&[Entry], DocumentError> {
        match &self.value {
            Value::Table(entries) => Ok(entries),
            _ => Err(self.expected("a table")),
        }
    }
}

/// Reads a file: JSON if it starts with a brace, which no TOML file does.
pub(crate) fn parse(text: &str, file: &str) -> Result<Vec<Entry>, DocumentError> {
    let mut document = Document { name: file.to_owned(), text: text.to_owned() };
    if text.len() as u64 > DOCUMENT_BYTES {
        return Err(DocumentError { place: document.name, problem: Problem::TooLong });
    }
    if text.trim_start().starts_with('{') {
        let json: serde_json::Map<_, _> = serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            let what = message.split(" at line").next().unwrap_or_default();
            DocumentError {
                place: format!("{file}:{}:{}", error.line(), error.column()),
                problem: Problem::NotJson(what.into()),
            }
        })?;
        document.text.clear();
        return Ok(of_json(json, &Rc::new(document)));
    }
    let toml = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        DocumentError {
            place: document.place(Some(at)),
            problem: Problem::NotToml(error.message().replace('\n', ", ")),
        }
    })?;
    Ok(of_toml(toml.get_ref(), &Rc::new(document)))
}

fn of_json(
    json: serde_json::Map<String, serde_json::Value>,
    document: &Rc<Document>,
) -> Vec<Entry> {
    let value = |value| match value {
        serde_json::Value::Bool(flag) => Value::Flag(flag),
        serde_json::Value::Number(n) => n.as_u64().map_or(Value::Other, Value::Number),
        serde_json::Value::String(text) => Value::Text(text),
        serde_json::Value::Object(inner) => Value::Table(of_json(inner, document)),
        serde_json::Value::Array(items) => {
            let table = |item| match item {
                serde_json::Value::Object(inner) => Some(of_json(inner, document)),
                _ => None,
            };
            items.into_iter().map(table).collect::<Option<_>>().map_or(Value::Other, Value::Tables)
        }
        _ => Value::Other,
    };
    let entry = |(key, v)| Entry { key, value: value(v), document: document.clone(), offset: None };
    json.into_iter().map(entry).collect()
}

fn of_toml(toml: &DeTable<'_>, document: &Rc<Document>) -> Vec<Entry> {
    let value = |value: &DeValue<'_>| match value {
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Integer(n) => {
            u64::from_str_radix(n.as_str(), n.radix()).map_or(Value::Other, Value::Number)
        }
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Table(inner) => Value::Table(of_toml(inner, document)),
        DeValue::Array(items) => {
            let table = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
                DeValue::Table(inner) => Some(of_toml(inner, document)),
                _ => None,
            };
            items.iter().map(table).collect::<Option<_>>().map_or(Value::Other, Value::Tables)
        }
        _ => Value::Other,
    };
    toml.iter()
        .map(|(key, v)| Entry {
            key: key.get_ref().to_string(),
            value: value(v.get_ref()),
            document: document.clone(),
            offset: Some(key.span().start),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_and_json_read_alike() {
        let toml = parse("a = 1\nb = true\n[c]\nd = \"x\"\n", "t").unwrap();
        let json = parse(r#"{"a": 1, "b": true, "c": {"d": "x"}}"#, "j").unwrap();
        let keys =
            |entries: &[Entry]| -> Vec<_> { entries.iter().map(|e| e.key.clone()).collect() };
        assert_eq!(keys(&toml), keys(&json));
        assert_eq!(toml[0].value, Value::Number(1));
        let place = |entry: &Entry| entry.wrong(Problem::NoFile).place;
        assert_eq!(place(&toml[1]), "t:2:1");
        assert_eq!(place(&toml[2].table().unwrap()[0]), "t:4:1");
        assert_eq!(json[2].table().unwrap()[0].text().unwrap(), "x");
    }

    #[test]
    fn lists_of_tables() {
        let toml = parse("[[a]]\nb = 1\n[[a]]\nb = \"0x8000000000000000\"\n", "t").unwrap();
        let json = parse(r#"{"a": [{"b": 1}, {"b": "0x8000000000000000"}]}"#, "j").unwrap();
        for entries in [toml, json] {
            let tables = entries[0].tables().unwrap();
            let values = tables.iter().map(|table| table[0].address().unwrap());
            assert_eq!(values.collect::<Vec<_>>(), [1, 1 << 63]);
        }
        assert!(parse("a = [1, {}]", "t").unwrap()[0].tables().is_err());
        assert!(parse("a = \"80\"", "t").unwrap()[0].address().is_err());
    }

    #[test]
    fn syntax_errors_say_where() {
        let error = parse("a = 1\nb = = 2\n", "t").unwrap_err();
        assert!(error.to_string().contains("t:2:5"), "{error}");
        assert!(error.problem.is_unreadable());
        let error = parse("{\n\"a\": }", "j").unwrap_err();
        assert!(error.to_string().contains("j:2:6: not JSON"), "{error}");
    }

    #[test]
    fn kinds_are_checked() {
        let entries = parse("a = -1\nb = 300\nc = 2\nd = [1]\n", "t").unwrap();
        for entry in &entries {
            assert!(entry.flag().is_err(), "{}", entry.key);
        }
        assert_eq!(entries[1].number(300).unwrap(), 300);
        let error = entries[1].byte().unwrap_err().to_string();
        assert_eq!(error, "t:2:1: b must be a number from 0 to 255, not 300");
    }
}
