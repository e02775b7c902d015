//! One line per packet, for people or as JSON.
//!
//! JSON keys are stable: `packet`, `frame` (byte offset), `offset` (of the payload, byte.bit),
//! `source`, `timestamp`, `index` (null where the framing has none), `raw` (payload bytes), then
//! either `format`, `name`, `fields` and `address` (of the hart, where it follows from the field and
//! the payloads before) or `error` or `skipped` (kind of trace), and with `explain`
//! `row`, `line`, `iaddr` (null where the reason was inferred from a capture), `reason`, `why`.

use crate::packets::{Packet, Reader, Unread};
use hartrace_capture::programs::address;
use hartrace_etrace::{FieldName, Layout, Mode, Payload, Shown};
use hartrace_isa::Xlen;
use serde::{Serialize, Serializer};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Why a packet was sent, and for which row of the encoder's input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Because {
    /// The reason in one word, such as `before-trap`.
    pub reason: String,
    /// The reason in one clause.
    pub why: &'static str,
    /// Number of the row, 0 for the first; unknown if the reason was inferred from a capture.
    pub row: Option<u64>,
    /// Line of the input, if it has lines, and address; not known for packets before and after all
    /// rows.
    pub place: Option<(Option<u64>, u64)>,
}

/// A packet and its content.
#[derive(Clone, Debug)]
pub struct Listed<'a> {
    packet: Packet<'a>,
    content: Result<Payload, Unread>,
    /// The address that it reports.
    resolved: Option<u64>,
    layout: Layout,
    because: Option<Because>,
}

impl<'a> Listed<'a> {
    /// Reads `packet`.
    pub fn new(packet: Packet<'a>, reader: &mut Reader) -> Self {
        let content = reader.read(&packet);
        let (resolved, layout) = (reader.resolved(), *reader.layout());
        Self { packet, content, resolved, layout, because: None }
    }

    /// Adds the reason why it was sent.
    pub fn because(self, because: Because) -> Self {
        Self { because: Some(because), ..self }
    }

    /// Whether the packet has no error. Trace of another kind is not an error.
    pub fn is_sound(&self) -> bool {
        matches!(self.content, Ok(_) | Err(Unread::Kind(_)))
    }

    /// `offset  raw  format name field=value ...`, with the source if `with_source`.
    pub fn line(&self, with_source: bool, xlen: Xlen) -> String {
        let mut line = format!("{:>9}  ", self.packet.at.to_string());
        let header = self.packet.header();
        if with_source {
            let source = header.source.map_or("-".into(), |id| id.to_string());
            let _ = write!(line, "{source:>5}  ");
        }
        let _ = write!(line, "{:<16}  {}", self.raw(), self.text(Some(xlen)));
        for (name, value) in [
            ("timestamp", header.timestamp.filter(|t| *t != 0)),
            ("index", header.index.map(u64::from)),
        ] {
            if let Some(value) = value {
                let _ = write!(line, "  {name}={value}");
            }
        }
        if let Some(because) = &self.because {
            line.push_str("  ; ");
            if let Some((number, iaddr)) = because.place {
                if let Some(number) = number {
                    let _ = write!(line, "line {number} ");
                } else if let Some(row) = because.row {
                    let _ = write!(line, "row {row} ");
                }
                let _ = write!(line, "{}: ", address(iaddr, xlen));
            }
            let likely = if because.row.is_none() { "likely " } else { "" };
            let _ = write!(line, "{likely}{}", because.why);
        }
        line
    }

    /// Format, name and fields, or the error, as text: everything but the place of the packet.
    pub fn content(&self) -> String {
        self.text(None)
    }

    /// The content; with `xlen`, the address of the hart follows the field that it results from.
    fn text(&self, xlen: Option<Xlen>) -> String {
        match &self.content {
            Ok(payload) => {
                let format = payload.format();
                let mut text = format!("{:<3} {:<7}", format.code(), format.name());
                fields(payload, &self.layout, &mut |name, value| {
                    let _ = write!(text, " {}={value}", name.as_str());
                    if let (FieldName::Address, Some(pc), Some(xlen)) = (name, self.resolved, xlen)
                    {
                        let _ = write!(text, " ({})", address(pc, xlen));
                    }
                });
                text
            }
            Err(unread) => match describe(unread) {
                Flaw::Error(what) => format!("error: {what}"),
                Flaw::Skipped(what) => format!("{what} trace, not listed"),
            },
        }
    }

    /// The payload in hexadecimal, first byte first.
    pub fn raw(&self) -> String {
        self.packet.bytes().iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    /// The parsed payload, if it could be read.
    pub fn payload(&self) -> Option<&Payload> {
        self.content.as_ref().ok()
    }

    /// Source id, where the framing has one.
    pub fn source(&self) -> Option<u16> {
        self.packet.header().source
    }

    /// Running number.
    pub fn number(&self) -> u64 {
        self.packet.number
    }

    /// The JSON form.
    pub fn json(&self, xlen: Xlen) -> impl Serialize + use<> {
        let header = self.packet.header();
        let payload = self.content.as_ref().ok();
        let (error, skipped) = match self.content.as_ref().map_err(describe) {
            Ok(_) => (None, None),
            Err(Flaw::Error(what)) => (Some(what), None),
            Err(Flaw::Skipped(what)) => (None, Some(what)),
        };
        let format = payload.map(Payload::format);
        Json {
            packet: self.packet.number,
            frame: self.packet.frame,
            offset: self.packet.at.to_string(),
            source: header.source,
            timestamp: header.timestamp,
            index: header.index,
            raw: self.raw(),
            format: format.map(|f| f.code()),
            name: format.map(|f| f.name()),
            fields: payload.map(|p| {
                let mut list = Vec::new();
                fields(p, &self.layout, &mut |name, value| list.push((name.as_str(), value)));
                Fields(list)
            }),
            address: self.resolved.map(|pc| address(pc, xlen)),
            error,
            skipped,
            because: self.because.as_ref().map(|because| JsonBecause {
                row: because.row,
                line: because.place.and_then(|(line, _)| line),
                iaddr: because.place.map(|(_, iaddr)| address(iaddr, xlen)),
                reason: because.reason.clone(),
                why: because.why,
            }),
        }
    }
}

/// Writes packets, one per line.
#[derive(Copy, Clone, Debug)]
pub struct Dump {
    /// JSON objects instead of text.
    pub json: bool,
    /// Text has a column for the source; JSON always contains it.
    pub with_source: bool,
    /// Width of addresses in reasons.
    pub xlen: Xlen,
}

impl Dump {
    /// Writes one packet.
    pub fn write(&self, out: &mut dyn Write, listed: &Listed<'_>) -> io::Result<()> {
        if self.json {
            serde_json::to_writer(&mut *out, &listed.json(self.xlen))?;
            writeln!(out)
        } else {
            writeln!(out, "{}", listed.line(self.with_source, self.xlen))
        }
    }
}

/// Shows the fields that a payload has under these parameters.
fn fields(payload: &Payload, layout: &Layout, show: &mut dyn FnMut(FieldName, Shown)) {
    let present = layout.fields(payload.format());
    payload.show(&mut |name, value| {
        if present.iter().any(|field| field.name == name) {
            show(name, value);
        }
    });
}

/// Why there are no fields to list.
enum Flaw {
    Error(String),
    /// The kind of trace, which is not instruction trace.
    Skipped(String),
}

fn describe(unread: &Unread) -> Flaw {
    match unread {
        Unread::Frame(error) => Flaw::Error(format!("frame: {error}")),
        Unread::Payload(error) => Flaw::Error(error.to_string()),
        Unread::Kind(kind) => Flaw::Skipped(kind.to_string()),
    }
}

#[derive(Serialize)]
struct Json {
    packet: u64,
    frame: u64,
    offset: String,
    source: Option<u16>,
    timestamp: Option<u64>,
    index: Option<u16>,
    raw: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<Fields>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<String>,
    #[serde(flatten)]
    because: Option<JsonBecause>,
}

#[derive(Serialize)]
struct JsonBecause {
    row: Option<u64>,
    line: Option<u64>,
    iaddr: Option<String>,
    reason: String,
    why: &'static str,
}

/// Fields in transmission order. Numbers are numbers, addresses are strings.
struct Fields(Vec<(&'static str, Shown)>);

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, Field(value))))
    }
}

struct Field<'a>(&'a Shown);

impl Serialize for Field<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Shown::Number(n) => serializer.serialize_u64(*n),
            Shown::Modes(modes) => serializer
                .collect_seq(Mode::ALL.into_iter().filter(|mode| modes.get(*mode)).map(Mode::name)),
            shown => serializer.collect_str(shown),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::Packets;
    use crate::testing::setup;
    use hartrace_capture::params::Setup;

    /// Support, start, a branch map, an address, then a broken frame and an unknown payload.
    const CAPTURE: &[u8] = &[
        0x42, 0x1f, 0x04, 0x46, 0x73, 0x00, 0x00, 0x00, 0x00, 0x40, 0x43, 0x0d, 0xca, 0x00, 0x42,
        0x32, 0x04, 0x80, 0x41, 0x00,
    ];

    fn listed<'a>(framing: &str, bytes: &'a [u8]) -> (Setup, Vec<Listed<'a>>) {
        let setup = setup(framing);
        let mut reader = Reader::new(setup.layout, setup.options);
        let packets = Packets::new(bytes, setup.transport.stream());
        let list = packets.map(|packet| Listed::new(packet, &mut reader)).collect();
        (setup, list)
    }

    #[test]
    fn lines() {
        let (setup, list) = listed("", CAPTURE);
        let text: Vec<_> = list.iter().map(|l| l.line(false, setup.xlen)).collect();
        assert_eq!(
            text,
            [
                "      1.0  1f04              3.3 support ienable=1 encoder_mode=0 \
                 qual_status=no_change ioptions=full denable=0 dloss=0 doptions=0",
                "      4.0  730000000040      3.0 start   branch=1 privilege=3 context=0x0 \
                 address=0x80 (0x00000100)",
                "     11.0  0dca00            1   branch  branches=3 branch_map=TTN \
                 address=0x32 (0x00000064) notify=0 updiscon=0 irreport=0",
                "     15.0  3204              2   address address=0x10c (0x00000218) notify=0 updiscon=0 \
                 irreport=0",
                "     17.0                    error: frame: no frame starts with header 0x80",
                "     19.0  00                error: format 0 payload, but neither branch \
                 prediction nor the jump target cache is on",
            ]
        );
        assert_eq!(list.iter().filter(|l| l.is_sound()).count(), 4);
    }

    #[test]
    fn json() {
        let (setup, list) = listed("", CAPTURE);
        let because = Because {
            reason: "before-trap".into(),
            why: "a trap follows",
            row: Some(3),
            place: Some((Some(5), 0x8000_0000)),
        };
        let json = |l: &Listed<'_>| serde_json::to_string(&l.json(setup.xlen)).unwrap();
        assert_eq!(
            json(&list[0]),
            r#"{"packet":0,"frame":0,"offset":"1.0","source":null,"timestamp":null,"index":null,"raw":"1f04","format":"3.3","name":"support","fields":{"ienable":1,"encoder_mode":0,"qual_status":"no_change","ioptions":["full-address"],"denable":0,"dloss":0,"doptions":0}}"#
        );
        assert_eq!(
            json(&list[3].clone().because(because)),
            r#"{"packet":3,"frame":14,"offset":"15.0","source":null,"timestamp":null,"index":null,"raw":"3204","format":"2","name":"address","fields":{"address":"0x10c","notify":0,"updiscon":0,"irreport":0},"address":"0x00000218","row":3,"line":5,"iaddr":"0x80000000","reason":"before-trap","why":"a trap follows"}"#
        );
        assert_eq!(
            json(&list[4]),
            r#"{"packet":4,"frame":17,"offset":"17.0","source":null,"timestamp":null,"index":null,"raw":"","error":"frame: no frame starts with header 0x80"}"#
        );
    }

    #[test]
    fn reasons_sources_and_stamps() {
        let line = "kind = \"encap\"\nsrc-bits = 8\ntimestamp-bytes = 1\ntype-bits = 1";
        let (setup, list) = listed(line, &[0x82, 5, 0x2a, 0x3e, 0x08, 0x01, 6, 0x01]);
        let because = Because {
            reason: "enabled".into(),
            why: "tracing enabled",
            row: Some(0),
            place: Some((Some(2), 0x1000)),
        };
        assert_eq!(
            list[0].clone().because(because).line(true, setup.xlen),
            "      3.1      5  1f04              3.3 support ienable=1 encoder_mode=0 \
                 qual_status=no_change ioptions=full denable=0 dloss=0 doptions=0  \
                 timestamp=42  ; line 2 0x00001000: tracing enabled"
        );
        let data = list[1].line(true, setup.xlen);
        assert!(data.ends_with("  data trace, not listed"), "{data}");
        assert!(list[1].is_sound());
    }
}
