//! Nodes for a device tree.

use crate::top::config::{TopConfig, TopError};
use crate::top::pages::{PAGE, name, pages};
use std::fmt::Write;

const HEAD: &str = "\
/* Trace components for the device tree of a SoC, as the kernel's drivers for RISC-V trace look for them
 * (compatible \"riscv,trace-component\"): what each of them is, they read from its registers.
 *
 * Include it within the node of the bus that the registers are on, with
 *
 *   TE_TOP_AT     where they are there, in as many cells as that bus has for addresses, such as 0x0 0x18000000
 *   TE_TOP_UNIT   the same as part of a name, such as 18000000
 *   TE_TOP_CPUn   a reference to the node of the core that has hart n
 *
 * Made by hartrace; changes would be lost.
 */
";

/// Nodes for a device tree, to be included with the C preprocessor: one for each page of registers, connected as
/// trace flows from each encoder to the sink, if that has registers.
///
/// # Errors
///
/// If a parameter is out of its range, or two do not fit together.
pub fn devicetree(config: &TopConfig) -> Result<String, TopError> {
    let pages = pages(config)?;
    let harts = config.harts as usize;
    let prefix = config.module();
    let mut out = HEAD.to_owned();
    // Writing to a string never fails.
    let _ = writeln!(out, "{prefix}: trace-bus@TE_TOP_UNIT {{");
    let size = PAGE as usize * pages.len();
    let _ = writeln!(
        out,
        "\tcompatible = \"simple-bus\";\n\t#address-cells = <1>;\n\t#size-cells = <1>;\n\
         \tranges = <0x0 TE_TOP_AT {size:#x}>;"
    );
    for (number, page) in pages.iter().enumerate() {
        let name = name(config, number);
        let _ = writeln!(
            out,
            "\n\t/* {} */\n\t{prefix}_{name}: trace@{:x} {{\n\
             \t\tcompatible = \"hartrace,te-top\", \"riscv,trace-component\";\n\
             \t\treg = <{:#x} {PAGE:#x}>;",
            page.title, page.address, page.address
        );
        if number < harts {
            let _ = writeln!(out, "\t\tcpus = <&TE_TOP_CPU{number}>;");
        }
        let ends: Vec<(usize, String, String)> = (0..harts)
            .map(|hart| {
                (hart, format!("{prefix}_hart{hart}_out"), format!("{prefix}_sink_in{hart}"))
            })
            .collect();
        if pages.len() > harts {
            match ends.get(number) {
                Some((_, from, to)) => ports(&mut out, "out", &[(0, from, to)]),
                None => {
                    let ends: Vec<_> =
                        ends.iter().map(|(hart, from, to)| (*hart, to, from)).collect();
                    ports(&mut out, "in", &ends);
                }
            }
        }
        out.push_str("\t};\n");
    }
    out.push_str("};\n");
    Ok(out)
}

/// Ports in a direction, each with the name of its end and of the other end.
fn ports(out: &mut String, direction: &str, ends: &[(usize, &String, &String)]) {
    let _ = writeln!(out, "\n\t\t{direction}-ports {{");
    let numbered = ends.len() > 1;
    if numbered {
        out.push_str("\t\t\t#address-cells = <1>;\n\t\t\t#size-cells = <0>;\n");
    }
    for (number, name, other) in ends {
        let (at, reg) = match numbered {
            true => (format!("@{number:x}"), format!("\t\t\t\treg = <{number:#x}>;\n")),
            false => (String::new(), String::new()),
        };
        let _ = writeln!(
            out,
            "\t\t\tport{at} {{\n{reg}\t\t\t\t{name}: endpoint {{\n\
             \t\t\t\t\tremote-endpoint = <&{other}>;\n\t\t\t\t}};\n\t\t\t}};"
        );
    }
    out.push_str("\t\t};\n");
}
