//! The walker for E-Trace as a whole.

use super::intake;
use super::output::outputs;
use super::walk;
use super::{Config, ConfigError, fifo, predictor, returns, search, table};
use crate::etrace::{decoder_with_vectors, record};
use crate::wires::{any, instance};
use hartrace_rtl::{Component, Expr, Module};

/// The module `etrace_walker`: records of `etrace_decoder` in, blocks out.
///
/// # Errors
///
/// If there is no walker with these parameters.
pub fn walker(config: &Config) -> Result<Component, ConfigError> {
    config.check()?;
    let slots = config.decoder.unroll.div_ceil(2);
    let layout = &config.table;
    let address = config.address_bits();
    let m = Module::new(
        "etrace_walker",
        "Follows the program: records of the decoder and a table of blocks give the blocks that were executed.",
    )
    .clocked();
    let mut records: Vec<(String, Expr)> = Vec::new();
    for (name, width) in intake::taken(config) {
        let port = format!("{name}_i");
        let value = m.input(&port, slots * width, "see etrace_decoder");
        records.push((port, value));
    }
    let write = m.input("write_i", 1, "write a word of the table; only while nothing is traced");
    let write_index = m.input("write_index_i", layout.index_bits, "its number");
    let write_word = m.input("write_word_i", layout.width(), "the word");
    let base = m.input("base_i", address, "the address that the table counts from");
    let final_i = m.input("final_i", layout.index_bits, "number of the last entry of the table");
    let results: Vec<(&str, Expr)> = outputs(address)
        .into_iter()
        .map(|output| (output.name, m.output(output.name, output.width, output.doc)))
        .collect();

    m.section("Records, one after the other.");
    let taken = m.wire("taken", 1);
    let rows = instance(&m, "i_intake", &intake::unit(config), &records);
    let ports =
        [("valid_i", &rows["valid_o"]), ("record_i", &rows["record_o"]), ("take_i", &taken)];
    let width = intake::stored(config).width();
    let fifo = m.inst("i_fifo", &fifo::unit(slots, width, config.rows), &ports);

    m.section("The table, and the block of an address.");
    let (walk_read, walk_index) = (m.wire("walk_read", 1), m.wire("walk_index", layout.index_bits));
    let (search_read, search_index) =
        (m.wire("search_read", 1), m.wire("search_index", layout.index_bits));
    let ports = [
        ("write_i", &write),
        ("write_index_i", &write_index),
        ("write_word_i", &write_word),
        ("walk_read_i", &walk_read),
        ("walk_index_i", &walk_index),
        ("search_read_i", &search_read),
        ("search_index_i", &search_index),
    ];
    let words = m.inst("i_table", &table::unit(layout), &ports);
    let done = m.wire("done", 1);
    let ports = [
        ("valid_i", &fifo["valid_o"]),
        ("record_i", &fifo["record_o"]),
        ("after_loss_i", &fifo["after_loss_o"]),
        ("take_o", &taken),
        ("base_i", &base),
        ("changes_i", &write),
        ("final_i", &final_i),
        ("read_o", &search_read),
        ("index_o", &search_index),
        ("word_i", &words["search_word_o"]),
        ("take_i", &done),
    ];
    let found = m.inst("i_search", &search::unit(config), &ports);

    m.section("The walk.");
    let unit = walk::unit(config);
    let walking = m.wire("walking", 1);
    let mut ports: Vec<(String, Expr)> = vec![
        ("record_i".into(), found["record_o"].clone()),
        ("valid_i".into(), found["valid_o"].clone()),
        ("after_loss_i".into(), found["after_loss_o"].clone()),
        ("take_o".into(), done),
        ("walking_o".into(), walking.clone()),
        ("word_i".into(), words["walk_word_o"].clone()),
        ("read_o".into(), walk_read),
        ("index_o".into(), walk_index),
        ("base_i".into(), base),
    ];
    for (name, ..) in search::results(config) {
        ports.push((format!("found_{name}_i"), found[&format!("{name}_o")].clone()));
    }
    if config.returns() > 0 {
        let push = m.wire("push", 1);
        let pop = m.wire("pop", 1);
        let after = m.wire("after_call", layout.index_bits);
        let clear = m.wire("clear_returns", 1);
        let stack = m.inst(
            "i_returns",
            &returns::unit(config.returns(), layout.index_bits),
            &[("push_i", &push), ("block_i", &after), ("pop_i", &pop), ("clear_i", &clear)],
        );
        ports.extend([
            ("push_o".into(), push),
            ("pop_o".into(), pop),
            ("after_call_o".into(), after),
            ("clear_returns_o".into(), clear),
            ("return_i".into(), stack["top_o"].clone()),
            ("depth_i".into(), stack["depth_o"].clone()),
        ]);
    }
    if config.decoder.params.bpred_size_p > 0 {
        let bits = config.decoder.params.bpred_size_p.into();
        let branch = m.wire("predicted_branch", bits);
        let update = m.wire("update_prediction", 1);
        let outcome = m.wire("predicted_outcome", 1);
        let clear = m.wire("clear_predictions", 1);
        let table = m.inst(
            "i_predictor",
            &predictor::unit(bits),
            &[
                ("index_i", &branch),
                ("update_i", &update),
                ("taken_i", &outcome),
                ("clear_i", &clear),
            ],
        );
        ports.extend([
            ("branch_o".into(), branch),
            ("update_o".into(), update),
            ("outcome_o".into(), outcome),
            ("clear_predictions_o".into(), clear),
            ("predicted_i".into(), table["predicted_o"].clone()),
        ]);
    }
    for (name, output) in &results {
        match *name {
            "lost_o" => m.assign(output, &fifo["lost_o"]),
            "busy_o" => m.assign(
                output,
                any([
                    walking.clone(),
                    found["valid_o"].clone(),
                    fifo["busy_o"].clone(),
                    rows["valid_o"].any(),
                ]),
            ),
            name => ports.push((name.into(), output.clone())),
        }
    }
    instance(&m, "i_walk", &unit, &ports);
    Ok(m.finish())
}

/// The module `etrace_follower`: a decoder with a walker behind it. Bytes in, blocks out.
///
/// # Errors
///
/// If there is no decoder or no walker with these parameters.
pub fn follower(config: &Config) -> Result<Component, ConfigError> {
    let walker = walker(config)?;
    let decoder = decoder_with_vectors(&config.decoder)?;
    let m =
        Module::new("etrace_follower", "Encapsulated E-Trace in, executed blocks out.").clocked();
    let inputs = |of: &Component| -> Vec<(String, u32, String)> {
        let ports =
            of.ports().iter().filter(|port| !["clk_i", "rst_ni"].contains(&port.name.as_str()));
        let inputs = ports.filter(|port| port.direction == hartrace_rtl::Direction::Input);
        inputs.map(|port| (port.name.clone(), port.width, port.doc.clone())).collect()
    };
    let bytes: Vec<(String, Expr)> = inputs(&decoder)
        .into_iter()
        .map(|(name, width, doc)| (name.clone(), m.input(&name, width, &doc)))
        .collect();
    let records = instance(&m, "i_decoder", &decoder, &bytes);
    let taken = intake::taken(config);
    let mut ports = Vec::new();
    for field in record(&config.decoder)? {
        let value = &records[&format!("{}_o", field.name)];
        match taken.iter().any(|(name, _)| *name == field.name) {
            true => ports.push((format!("{}_i", field.name), value.clone())),
            false => m.unused(value),
        }
    }
    for (name, width, doc) in inputs(&walker) {
        if !ports.iter().any(|(other, _)| *other == name) {
            ports.push((name.clone(), m.input(&name, width, &doc)));
        }
    }
    for output in outputs(config.address_bits()) {
        ports.push((output.name.into(), m.output(output.name, output.width, output.doc)));
    }
    instance(&m, "i_walker", &walker, &ports);
    Ok(m.finish())
}
