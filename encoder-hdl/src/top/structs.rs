//! The top module with structures for its buses.

use crate::top::config::{Sink, TopConfig, TopError};
use crate::top::top;
use crate::top::wiring::{APB, APB_ANSWER};
use hartrace_rtl::{Direction, Port};
use std::fmt::Write;

/// The body of the wrapper that is the same for all: the registers.
const REGISTERS: &str = "  if ($bits(reg_rsp_o.rdata) != 32) begin : gen_no_register_bus
    $error(\"registers have 32 bits\");
  end

  // A request lasts until it is ready. The first cycle of it is that in which APB sets up.
  logic access_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      access_q <= 1'b0;
    end else begin
      access_q <= reg_req_i.valid & ~(access_q & pready);
    end
  end

  always_comb begin
    reg_rsp_o       = '0;
    reg_rsp_o.rdata = prdata;
    reg_rsp_o.error = pslverr;
    reg_rsp_o.ready = access_q & pready;
  end
";

/// The body of the wrapper of a memory sink.
const MEMORY: &str = "
  if ($bits(axi_req_o.w.data) != {data}) begin : gen_no_data
    $error(\"the sink writes words of {data} bits\");
  end
  if ($bits(axi_req_o.aw.addr) < {addr}) begin : gen_no_address
    $error(\"the sink has addresses of {addr} bits\");
  end

  always_comb begin
    axi_req_o = '0;
    axi_req_o.aw.addr[{last}:0] = awaddr;
    axi_req_o.aw_valid = awvalid;
    axi_req_o.aw.len   = awlen;
    axi_req_o.aw.size  = awsize;
    axi_req_o.aw.burst = awburst;
    axi_req_o.aw.cache = AwCache;
    axi_req_o.aw.prot  = AwProt;
    axi_req_o.w_valid  = wvalid;
    axi_req_o.w.data   = wdata;
    axi_req_o.w.strb   = wstrb;
    axi_req_o.w.last   = wlast;
    axi_req_o.b_ready  = bready;
  end
";

/// Returns the name and the text of `te_top_structs`: [`top`] with structures for its buses, as the `typedef.svh` of PULP's `axi`
/// and `register_interface` make them. Their types are parameters, so that IDs, user signals and the width of addresses are
/// those of the SoC. What they lack or have in another width is an error of elaboration.
///
/// `reg_req_i`, `reg_rsp_o` are the registers; `axi_req_o`, `axi_rsp_i` the port to memory, if that is the sink. All other
/// ports are those of `te_top`.
///
/// # Errors
///
/// If a parameter is out of its range, or two do not fit together.
pub fn struct_wrapper(config: &TopConfig) -> Result<(String, String), TopError> {
    let component = top(config)?;
    let (top, memory) = (config.module(), matches!(config.sink, Sink::Memory { .. }));
    let mut parameters = vec!["type reg_req_t = logic", "type reg_rsp_t = logic"];
    let mut ends = vec![("input ", "reg_req_t", "reg_req_i"), ("output", "reg_rsp_t", "reg_rsp_o")];
    let (mut unused, mut body) = ("reg_req_i", REGISTERS.to_owned());
    if let Sink::Memory { address_width, word_bytes, .. } = config.sink {
        parameters.extend(["type axi_req_t = logic", "type axi_rsp_t = logic"]);
        parameters.extend(["logic [3:0] AwCache = 4'b0010", "logic [2:0] AwProt = 3'b000"]);
        ends.extend([("output", "axi_req_t", "axi_req_o"), ("input ", "axi_rsp_t", "axi_rsp_i")]);
        unused = "{reg_req_i, axi_rsp_i}";
        let (data, last) = (8 * word_bytes, address_width - 1);
        let values = [("{data}", data), ("{addr}", address_width), ("{last}", last)];
        let fill =
            |text: String, (name, value): &(&str, u32)| text.replace(name, &value.to_string());
        body += &values.iter().fold(MEMORY.to_owned(), fill);
    }

    let (mut ports, mut wires, mut connections) = (Vec::new(), String::new(), Vec::new());
    for port in component.ports() {
        let kind = match port.width {
            1 => "logic".to_owned(),
            width => format!("logic [{}:0]", width - 1),
        };
        let connection = match role(port, memory) {
            Role::Port => {
                let input = port.direction == Direction::Input;
                ports.push(format!(
                    "{} {kind:13} {}",
                    if input { "input " } else { "output" },
                    port.name
                ));
                port.name.clone()
            }
            Role::Field(field) => field,
            Role::Wire(name) => {
                let _ = writeln!(wires, "  {kind} {name};");
                name.to_owned()
            }
        };
        connections.push(format!(".{}({connection})", port.name));
    }
    ports
        .extend(ends.iter().map(|(direction, kind, name)| format!("{direction} {kind:13} {name}")));
    let parameters: Vec<String> =
        parameters.iter().map(|text| format!("parameter {text}")).collect();
    let text = format!(
        "// {top} with structures for its buses, as typedef.svh of PULP's axi and register_interface make them.\n\
         module {top}_structs #(\n    {}\n) (\n    {}\n);\n{wires}\n{body}\n\
         \x20 // Fields that it does not need.\n  logic unused_fields;\n  assign unused_fields = ^{unused};\n\n\
         \x20 {top} i_top (\n      {}\n  );\nendmodule\n",
        parameters.join(",\n    "),
        ports.join(",\n    "),
        connections.join(",\n      "),
    );
    Ok((format!("{top}_structs.sv"), text))
}

/// What a port of the top module is connected to.
enum Role<'a> {
    /// A port of the wrapper.
    Port,
    /// A field of a structure, or what stands for one.
    Field(String),
    /// A wire of this name, which goes into a structure.
    Wire(&'a str),
}

fn role(port: &Port, memory: bool) -> Role<'_> {
    let registers = APB.iter().chain(&APB_ANSWER).any(|name| *name == port.name);
    let channel = ["aw", "w", "b"].iter().any(|channel| port.name.starts_with(channel));
    if !(registers || memory && channel) {
        return Role::Port;
    }
    let signal = port.name.trim_end_matches("_i").trim_end_matches("_o");
    Role::Field(match signal {
        "psel" => "reg_req_i.valid".into(),
        "penable" => "access_q".into(),
        "pwrite" | "pwdata" => format!("reg_req_i.{}", &signal[1..]),
        "paddr" => format!("reg_req_i.addr[{}:0]", port.width - 1),
        "pstrb" => "reg_req_i.wstrb".into(),
        "awready" => "axi_rsp_i.aw_ready".into(),
        "wready" => "axi_rsp_i.w_ready".into(),
        "bvalid" => "axi_rsp_i.b_valid".into(),
        "bresp" => "axi_rsp_i.b.resp".into(),
        wire => return Role::Wire(wire),
    })
}
