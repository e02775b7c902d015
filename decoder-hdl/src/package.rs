//! Everything that is delivered with a decoder: lists of files for tools, a manual, records and registers for C.

use crate::{Decoder, DecoderError, top, walker};
use hartrace_encoder_hdl::top::{Page, header_of, manual_of};
use hartrace_rtl::{Component, Direction, lists};
use std::fmt::Write;

/// Returns names and texts of all files: modules, lists of them for tools, the configuration, a manual of ports and
/// records, and the fields of records for C. The configuration of a decoder of E-Trace is that of its encoder.
///
/// # Errors
///
/// If there is no decoder with these parameters.
pub fn package(decoder: &Decoder) -> Result<Vec<(String, String)>, DecoderError> {
    let module = decoder.component()?;
    let mut files = modules(decoder, &module)?;
    files.push(("manual.md".into(), manual(decoder, &module, &module)?));
    Ok(files)
}

/// The same for a decoder with everything behind it, with a manual of its registers and a header for C.
///
/// # Errors
///
/// If there is no decoder with these parameters.
pub fn package_top(config: &top::Config) -> Result<Vec<(String, String)>, DecoderError> {
    let decoder = &config.decoder;
    let module = top::top(config)?;
    let mut files = modules(decoder, &module)?;
    let mut text = manual(decoder, &decoder.component()?, &module)?;
    text.push_str(
        "\n## Registers\n\nThey are described in `registers.md`. `hartraceAnKind` counts packets by kind:\n\n\
         | register | packets |\n| --- | --- |\n",
    );
    for (number, kind) in top::kinds(decoder).iter().enumerate() {
        // Writing to a string never fails.
        let _ = writeln!(text, "| {number} | {kind} |");
    }
    files.push(("manual.md".into(), text));
    let (names, pages): (Vec<String>, Vec<Page>) =
        config.pages()?.into_iter().map(|(name, page)| (name.to_owned(), page)).unzip();
    files.push(("registers.md".into(), manual_of(&pages)));
    let word = config.analysis.blocks.then_some(config.memory.word_bytes);
    files.push(("hartrace_registers.h".into(), header_of(&pages, &names, word)));
    Ok(files)
}

/// Modules, lists of them, the configuration, and the fields of records for C.
fn modules(decoder: &Decoder, module: &Component) -> Result<Vec<(String, String)>, DecoderError> {
    let mut files: Vec<(String, String)> =
        module.files().into_iter().map(|(name, text)| (format!("{name}.sv"), text)).collect();
    let names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
    files.extend(lists(module.name(), &names));
    if let Decoder::Etmv4(config)
    | Decoder::Etmv4Follower(walker::etmv4::Config { decoder: config, .. }) = decoder
    {
        files.push(("config.toml".into(), config.to_toml()?));
    }
    if let Some((records, _)) = decoder.records()? {
        files.push(("hartrace_records.h".into(), header(records, &decoder.component()?)));
    }
    Ok(files)
}

/// The fields of records: name, width and meaning.
fn fields(top: &Component, records: u32) -> impl Iterator<Item = (&str, u32, &str)> {
    let outputs = top.ports().iter().filter(|port| port.direction == Direction::Output);
    outputs.map(move |port| (port.name.trim_end_matches("_o"), port.width / records, &port.doc[..]))
}

/// Ports and records, in Markdown: those of a module that contains the decoder, or is it.
fn manual(decoder: &Decoder, of: &Component, top: &Component) -> Result<String, DecoderError> {
    let unroll = decoder.unroll();
    let mut out = format!("# {}\n\n", top.name());
    // Writing to a string never fails.
    let _ = writeln!(
        out,
        "It takes up to {unroll} bytes in every cycle, whatever they are, and never waits.\n\n## Configuration\n\n\
         | | |\n| --- | --- |"
    );
    for (name, value) in decoder.parameters() {
        let _ = writeln!(out, "| {name} | {value} |");
    }
    out.push_str("\n## Inputs\n\n| port | bits | |\n| --- | --- | --- |\n");
    for port in top.ports().iter().filter(|port| port.direction == Direction::Input) {
        let doc = match &port.name[..] {
            "clk_i" => "clock",
            "rst_ni" => "reset, active low",
            _ => &port.doc,
        };
        let _ = writeln!(out, "| `{}` | {} | {doc} |", port.name, port.width);
    }
    let _ = writeln!(
        out,
        "\nByte i is in bits 8i to 8i + 7 of `bytes_i` and counts if bit i of `valid_i` is set.\n"
    );
    match decoder.records()? {
        Some((records, latency)) => {
            let _ = writeln!(
                out,
                "## Records\n\nUp to {records} records leave it in a cycle, {latency} cycles after the last bytes of their \
                 packets. Each field is an output `FIELD_o`; that of record i starts at bit i times its width. Record 0 is \
                 the oldest.\n\n| field | bits | |\n| --- | --- | --- |"
            );
            for (name, width, doc) in fields(of, records) {
                let _ = writeln!(out, "| `{name}` | {width} | {doc} |");
            }
        }
        None => {
            out.push_str(
                "## Blocks\n\nAt most one block leaves it in a cycle. `hartrace image` writes the table of blocks, which is \
                 loaded before the first byte.\n\n| output | bits | |\n| --- | --- | --- |\n",
            );
            for (name, width, doc) in fields(of, 1) {
                let _ = writeln!(out, "| `{name}_o` | {width} | {doc} |");
            }
        }
    }
    let known = |name: &str| of.ports().iter().any(|port| port.name == name);
    let outputs = top.ports().iter().filter(|port| port.direction == Direction::Output);
    let others: Vec<_> = outputs.filter(|port| !known(&port.name)).collect();
    if !others.is_empty() {
        out.push_str("\n## Other outputs\n\n| port | bits | |\n| --- | --- | --- |\n");
    }
    for port in others {
        let _ = writeln!(out, "| `{}` | {} | {} |", port.name, port.width, port.doc);
    }
    Ok(out)
}

/// The fields of records as constants: the width of each, and its lowest bit if they follow one another, the first
/// one lowest.
fn header(records: u32, top: &Component) -> String {
    let mut out = format!(
        "/* Records of {}. A record is its fields, one after the other, the first in the lowest bits. */\n\
         #ifndef HARTRACE_RECORDS_H\n#define HARTRACE_RECORDS_H\n\n#define HARTRACE_RECORDS_PER_CYCLE {records}u\n",
        top.name()
    );
    let mut at = 0;
    for (name, width, doc) in fields(top, records) {
        let name = name.to_uppercase();
        let _ = write!(
            out,
            "\n/* {doc} */\n#define HARTRACE_RECORD_{name}_LSB {at}u\n#define HARTRACE_RECORD_{name}_WIDTH {width}u\n"
        );
        at += width;
    }
    let _ = write!(out, "\n#define HARTRACE_RECORD_BITS {at}u\n\n#endif\n");
    out
}
