//! The longest path of a module, in cells.
//!
//! `ltp` of yosys is not usable after mapping: it takes the flip-flops of the device for logic, and
//! assumes that every output of a carry cell depends on every input, which turns adders into loops.

use crate::netlist::Module;
use std::collections::BTreeMap;

/// Number of cells on the longest path that starts and ends at a port, a flip-flop, a block memory
/// or another module. Memories of LUTs are passed from address to data. None if there is a loop.
pub(crate) fn longest(module: &Module) -> Option<u64> {
    // Cells pin by pin: an output waits for the inputs that reach it.
    let mut drivers: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for cell in module.cells.values() {
        for (output, index, bit) in cell.pins("output") {
            let reaches = |&(input, position, _): &(&str, usize, u64)| {
                passes(&cell.kind, (input, position), (output, index))
            };
            let inputs: Vec<u64> = cell.pins("input").filter(reaches).map(|pin| pin.2).collect();
            if !inputs.is_empty() {
                drivers.insert(bit, inputs);
            }
        }
    }
    let mut readers: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut waiting: BTreeMap<u64, usize> = BTreeMap::new();
    for (&bit, inputs) in &drivers {
        let driven = inputs.iter().filter(|input| drivers.contains_key(input));
        for &input in driven.clone() {
            readers.entry(input).or_default().push(bit);
        }
        waiting.insert(bit, driven.count());
    }
    let mut ready: Vec<u64> =
        waiting.iter().filter(|(_, count)| **count == 0).map(|(bit, _)| *bit).collect();
    let mut levels: BTreeMap<u64, u64> = BTreeMap::new();
    while let Some(bit) = ready.pop() {
        let before = drivers[&bit].iter().filter_map(|input| levels.get(input)).max();
        levels.insert(bit, before.copied().unwrap_or(0) + 1);
        for reader in readers.get(&bit).into_iter().flatten() {
            if let Some(count) = waiting.get_mut(reader) {
                *count -= 1;
                if *count == 0 {
                    ready.push(*reader);
                }
            }
        }
    }
    (levels.len() == drivers.len()).then(|| levels.values().copied().max().unwrap_or(0))
}

/// Whether an input of a cell reaches an output without waiting for the clock.
fn passes(kind: &str, (input, position): (&str, usize), (output, index): (&str, usize)) -> bool {
    match kind {
        "CARRY4" => matches!(input, "CI" | "CYINIT") || position <= index,
        "INV" => true,
        _ if kind.starts_with("LUT") || kind.starts_with("MUXF") => true,
        // Memories: the address reaches the data of the same letter; write data and enables do not
        // pass.
        _ if kind.starts_with("RAM") && !kind.starts_with("RAMB") => match output {
            "SPO" | "O" => input == "A" || is_address_bit(input, "A"),
            "DPO" => input == "DPRA" || is_address_bit(input, "DPRA"),
            _ => input
                .strip_prefix("ADDR")
                .is_some_and(|letter| output.strip_prefix("DO") == Some(letter)),
        },
        _ => false,
    }
}

/// `A3` and similar: memories of one bit may have an address in single bits.
fn is_address_bit(port: &str, name: &str) -> bool {
    port.strip_prefix(name)
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn module(cells: Value) -> Module {
        serde_json::from_value(json!({ "cells": cells })).unwrap()
    }

    fn lut(inputs: &[u64], output: u64) -> Value {
        let inputs: Vec<Value> = inputs.iter().map(|bit| json!([bit])).collect();
        let mut connections = json!({ "O": [output] });
        let mut directions = json!({ "O": "output" });
        for (i, input) in inputs.into_iter().enumerate() {
            connections[format!("I{i}")] = input;
            directions[format!("I{i}")] = json!("input");
        }
        json!({ "type": "LUT2", "port_directions": directions, "connections": connections })
    }

    fn flip_flop(input: u64, output: u64) -> Value {
        json!({
            "type": "FDRE",
            "port_directions": { "D": "input", "Q": "output" },
            "connections": { "D": [input], "Q": [output] },
        })
    }

    #[test]
    fn paths_end_at_flip_flops() {
        assert_eq!(longest(&module(json!({}))), Some(0));
        let chain = json!({
            "a": lut(&[2, 3], 4), "b": lut(&[4, 2], 5), "q": flip_flop(5, 6), "c": lut(&[6, 2], 7),
        });
        assert_eq!(longest(&module(chain)), Some(2));
        let counter = json!({ "a": lut(&[2, 3], 4), "q": flip_flop(4, 2) });
        assert_eq!(longest(&module(counter)), Some(1));
    }

    #[test]
    fn loops_have_no_longest_path() {
        let cells = json!({ "a": lut(&[2, 5], 4), "b": lut(&[4, 3], 5) });
        assert_eq!(longest(&module(cells)), None);
    }

    #[test]
    fn a_sum_does_not_wait_for_higher_bits() {
        // Bit 0 of the sum leads, through a LUT, to bit 3 of the same carry cell.
        let carry = json!({
            "type": "CARRY4",
            "port_directions": { "S": "input", "DI": "input", "CI": "input", "O": "output" },
            "connections": { "S": [2, 3, 4, 9], "DI": ["0", "0", "0", "0"], "CI": ["0"], "O": [5, 6, 7, 8] },
        });
        let cells = json!({ "c": carry, "a": lut(&[5, 2], 9) });
        assert_eq!(longest(&module(cells)), Some(3));
    }

    #[test]
    fn memories_pass_addresses_only() {
        let ram = "RAM32M16";
        assert!(passes(ram, ("ADDRA", 0), ("DOA", 1)));
        assert!(!passes(ram, ("ADDRH", 0), ("DOA", 1)));
        assert!(!passes(ram, ("DIA", 0), ("DOA", 0)));
        assert!(passes("RAM128X1S", ("A", 3), ("O", 0)));
        assert!(passes("RAM32X1D", ("DPRA3", 0), ("DPO", 0)));
        assert!(!passes("RAM32X1D", ("A3", 0), ("DPO", 0)));
        assert!(!passes("RAMB36E2", ("ADDRARDADDR", 0), ("DOUTADOUT", 0)));
    }
}
