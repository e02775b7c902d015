//! The harness of a design for place and route.
//!
//! Every input comes from a flip-flop and every output goes to one. All paths are therefore from
//! register to register, and three pins are enough. Inputs form one long shift register; outputs
//! are added, modulo two, to another. Thus none of them is optimised away, and no logic between the
//! flip-flops of the harness is deeper than a LUT.

use crate::FpgaError;
use crate::netlist::Port;
use std::fmt::Write as _;

/// Name of the harness.
pub(crate) const HARNESS: &str = "hartrace_harness";
/// Name of the instance of the design in it.
pub(crate) const INSTANCE: &str = "dut";

/// The clock of the modules in this workspace.
const CLOCK: &str = "clk_i";

/// The text of the harness.
pub(crate) fn harness(top: &str, ports: &[Port]) -> Result<String, FpgaError> {
    let problem = |problem: String| FpgaError::Ports { top: top.to_owned(), problem };
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let mut connections = Vec::new();
    let mut declarations = String::new();
    for port in ports {
        let Port { name, width, .. } = port;
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(problem(format!("port {name} is not a plain identifier")));
        }
        // Writing to a string never fails.
        let mut declare = |kind: &str, name: &str| {
            let _ = writeln!(declarations, "  {kind} [{}:0] {name};", width.saturating_sub(1));
        };
        match port.direction.as_str() {
            "input" if name == CLOCK => connections.push(format!(".{name}(clk)")),
            "input" => {
                let register = format!("in_{name}");
                declare("reg", &register);
                connections.push(format!(".{name}({register})"));
                inputs.push(register);
            }
            "output" => {
                let wire = format!("wire_{name}");
                declare("wire", &wire);
                declare("reg", &format!("out_{name}"));
                declare("reg", &format!("sum_{name}"));
                connections.push(format!(".{name}({wire})"));
                outputs.push(name.as_str());
            }
            direction => return Err(problem(format!("port {name} is {direction}"))),
        }
    }
    if outputs.is_empty() {
        return Err(problem("there is no output".to_owned()));
    }
    let all = |prefix: &str| {
        let names: Vec<String> = outputs.iter().map(|name| format!("{prefix}_{name}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let (wires, outs, sums) = (all("wire"), all("out"), all("sum"));
    let shift = match inputs.is_empty() {
        true => String::new(),
        // The top bit is shifted out.
        false => format!("    {{{0}}} <= {{{0}, shift_in}};\n", inputs.join(", ")),
    };
    let last = outputs[0];
    Ok(format!(
        "module {HARNESS} (input clk, input shift_in, output shift_out);\n\
         {declarations}  \
         {top} {INSTANCE} ({});\n  \
         always @(posedge clk) begin\n\
         {shift}    \
         {outs} <= {wires};\n    \
         {sums} <= ({sums} << 1) ^ {outs};\n  \
         end\n  \
         assign shift_out = sum_{last}[{}];\n\
         endmodule\n",
        connections.join(", "),
        ports.iter().find(|port| port.name == last).map_or(0, |port| port.width.saturating_sub(1)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(direction: &str, name: &str, width: usize) -> Port {
        Port { name: name.to_owned(), direction: direction.to_owned(), width }
    }

    #[test]
    fn every_bit_is_connected() {
        let ports = [
            port("input", "clk_i", 1),
            port("input", "a_i", 3),
            port("output", "x_o", 2),
            port("input", "b_i", 1),
            port("output", "y_o", 1),
        ];
        assert_eq!(
            harness("adder", &ports).unwrap(),
            "\
module hartrace_harness (input clk, input shift_in, output shift_out);
  reg [2:0] in_a_i;
  wire [1:0] wire_x_o;
  reg [1:0] out_x_o;
  reg [1:0] sum_x_o;
  reg [0:0] in_b_i;
  wire [0:0] wire_y_o;
  reg [0:0] out_y_o;
  reg [0:0] sum_y_o;
  adder dut (.clk_i(clk), .a_i(in_a_i), .x_o(wire_x_o), .b_i(in_b_i), .y_o(wire_y_o));
  always @(posedge clk) begin
    {in_a_i, in_b_i} <= {in_a_i, in_b_i, shift_in};
    {out_x_o, out_y_o} <= {wire_x_o, wire_y_o};
    {sum_x_o, sum_y_o} <= ({sum_x_o, sum_y_o} << 1) ^ {out_x_o, out_y_o};
  end
  assign shift_out = sum_x_o[1];
endmodule
"
        );
    }

    #[test]
    fn designs_that_cannot_be_observed_are_refused() {
        let message = |ports: &[Port]| harness("m", ports).unwrap_err().to_string();
        assert!(message(&[port("input", "a", 1)]).contains("there is no output"));
        assert!(message(&[port("inout", "a", 1)]).contains("port a is inout"));
        assert!(message(&[port("output", "a b", 1)]).contains("not a plain identifier"));
    }
}
