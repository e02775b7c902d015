use super::block::Block;
use super::low_first;
use crate::registers::params::{DecoderParams, ParamsError};
use crate::registers::tables;
use hartrace_rtl::{Component, Expr, Module, concat, zero};

/// The module `decoder_registers`: registers of a trace decoder, on APB.
///
/// Inputs are those of the table. Outputs are `enable_o`, `clear_o`, which is set while everything is reset, and what
/// software writes: `source_o`, `trace_id_o`, and for a walker `base_o`, `final_o`, `vectors_o`, and
/// `table_we_o table_index_o table_word_o`, which write a word of the table.
///
/// # Errors
///
/// If a parameter is out of its range.
pub fn decoder_registers(params: &DecoderParams) -> Result<Component, ParamsError> {
    let table = tables::decoder(params)?;
    let m = Module::new(
        "decoder_registers",
        "Registers of a trace decoder, on APB4 without wait states.",
    )
    .clocked();
    let block = Block::new(&m, &table);
    let output = |name: &str, value: Expr, doc: &str| {
        let port = m.output(&format!("{name}_o"), value.width(), doc);
        m.assign(&port, value);
    };
    m.section("What the decoder is told.");
    output("enable", block.usage.enabled.clone(), "decode");
    output("clear", block.usage.held.clone(), "everything is reset");
    let kept = |register: &str, field: &str, bits| {
        block.kept(register, field).unwrap_or_else(|| zero(bits))
    };
    let whole = |name: &str, bits| kept(name, name, bits);
    if params.source_bits > 0 {
        output("source", whole("hartraceDeSource", params.source_bits), "srcID");
    }
    if params.frames {
        output("trace_id", whole("hartraceDeTraceId", 7), "trace ID");
    }
    if let Some(walker) = &params.walker {
        let address = |stem: &str, number: &str| {
            let half = |half: &str| {
                let field = format!("hartraceDe{stem}{half}");
                block.kept(&format!("{field}{number}"), &field)
            };
            let low = half("Low").unwrap_or_else(|| zero(1));
            half("High").map_or(low.clone(), |high| concat(&[&high, &low]))
        };
        output("base", address("Base", ""), "the address that the table counts from");
        output("final", whole("hartraceDeFinal", walker.index_bits), "its last entry");
        let words: Vec<Expr> = (0..walker.word_bits.div_ceil(32))
            .map(|i| kept(&format!("hartraceDeTableWord{i}"), "hartraceDeTableWord", 1))
            .collect();
        let (write, index) = block.pointer("table_index");
        output("table_we", write, "write a word of the table");
        output("table_index", index, "its number");
        output("table_word", low_first(&words), "the word");
        if walker.vectors > 0 {
            let vectors: Vec<Expr> =
                (0..walker.vectors).map(|i| address("Vector", &i.to_string())).collect();
            output("vectors", low_first(&vectors), "trap vectors, that of privilege 0 lowest");
        }
    }
    block.finish();
    Ok(m.finish())
}
