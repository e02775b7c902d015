//! The module with structures for its buses within one that has the ports of the top module again.

use hartrace_encoder_hdl::top::{Sink, TopConfig, struct_wrapper, top};
use hartrace_rtl::Direction;
use libtest_mimic::Failed;

/// The name of the outer module.
pub(crate) const FLAT: &str = "te_flat";

/// Structures of AXI as an SoC might have them: with more fields than needed, and wider addresses.
const AXI_TYPES: &str = "
  typedef struct packed {
    logic [3:0] id;
    logic [63:0] addr;
    logic [7:0] len;
    logic [2:0] size;
    logic [1:0] burst;
    logic lock;
    logic [3:0] cache;
    logic [2:0] prot;
    logic [3:0] qos;
    logic [3:0] region;
    logic [5:0] atop;
    logic [1:0] user;
  } ax_t;
  typedef struct packed {logic [{data}-1:0] data; logic [{data}/8-1:0] strb; logic last; logic [1:0] user;} w_t;
  typedef struct packed {logic [3:0] id; logic [1:0] resp; logic [1:0] user;} b_t;
  typedef struct packed {logic [3:0] id; logic [{data}-1:0] data; logic [1:0] resp; logic last;} r_t;
  typedef struct packed {
    ax_t aw;
    logic aw_valid;
    w_t w;
    logic w_valid;
    logic b_ready;
    ax_t ar;
    logic ar_valid;
    logic r_ready;
  } axi_req_t;
  typedef struct packed {
    logic aw_ready;
    logic ar_ready;
    logic w_ready;
    logic b_valid;
    b_t b;
    logic r_valid;
    r_t r;
  } axi_rsp_t;
";

/// The registers: a request starts with the setup of APB, and is ready in the cycle of its access.
const REGISTERS: &str = "
  typedef struct packed {
    logic [31:0] addr;
    logic write;
    logic [31:0] wdata;
    logic [3:0] wstrb;
    logic valid;
  } reg_req_t;
  typedef struct packed {logic [31:0] rdata; logic error; logic ready;} reg_rsp_t;

  reg_req_t reg_req;
  reg_rsp_t reg_rsp;

  assign reg_req = '{
    addr: 32'(paddr_i), write: pwrite_i, wdata: pwdata_i, wstrb: pstrb_i, valid: psel_i
  };
  assign pready_o  = reg_rsp.ready;
  assign prdata_o  = reg_rsp.rdata;
  assign pslverr_o = reg_rsp.error & penable_i;
";

const MEMORY: &str = "
  axi_req_t axi_req;
  axi_rsp_t axi_rsp;
  always_comb begin
    axi_rsp          = '0;
    axi_rsp.aw_ready = awready_i;
    axi_rsp.w_ready  = wready_i;
    axi_rsp.b_valid  = bvalid_i;
    axi_rsp.b.resp   = bresp_i;
  end
  assign awvalid_o = axi_req.aw_valid;
  assign awaddr_o  = axi_req.aw.addr[$bits(awaddr_o)-1:0];
  assign awlen_o   = axi_req.aw.len;
  assign awsize_o  = axi_req.aw.size;
  assign awburst_o = axi_req.aw.burst;
  assign wvalid_o  = axi_req.w_valid;
  assign wdata_o   = axi_req.w.data;
  assign wstrb_o   = axi_req.w.strb;
  assign wlast_o   = axi_req.w.last;
  assign bready_o  = axi_req.b_ready;
  logic unused_fields;
  assign unused_fields = ^axi_req;
";

/// The texts of the wrapper and of the outer module, by name.
pub(crate) fn flat(config: &TopConfig) -> Result<[(String, String); 2], Failed> {
    let component = top(config)?;
    let (file, wrapper) = struct_wrapper(config)?;
    let name = file.trim_end_matches(".sv").to_owned();
    let memory = match config.sink {
        Sink::Memory { word_bytes, .. } => Some(word_bytes),
        _ => None,
    };
    let (mut ports, mut connections) = (Vec::new(), Vec::new());
    for port in component.ports() {
        let direction = if port.direction == Direction::Input { "input " } else { "output" };
        ports.push(format!("  {direction} logic [{}:0] {}", port.width - 1, port.name));
        let inside = ["p", "aw", "w", "b"].iter().any(|start| port.name.starts_with(start));
        if !inside {
            connections.push(format!("    .{0} ({0})", port.name));
        }
    }
    connections.extend([".reg_req_i (reg_req)", ".reg_rsp_o (reg_rsp)"].map(str::to_owned));
    let mut parameters = vec![".reg_req_t (reg_req_t)", ".reg_rsp_t (reg_rsp_t)"];
    let mut body = REGISTERS.to_owned();
    if let Some(bytes) = memory {
        connections.extend([".axi_req_o (axi_req)", ".axi_rsp_i (axi_rsp)"].map(str::to_owned));
        parameters.extend([".axi_req_t (axi_req_t)", ".axi_rsp_t (axi_rsp_t)"]);
        body += &AXI_TYPES.replace("{data}", &(8 * bytes).to_string());
        body += MEMORY;
    }
    let text = format!(
        "module {FLAT} (\n{}\n);\n{body}\n  {name} #(\n    {}\n  ) i_structs (\n{}\n  );\nendmodule\n",
        ports.join(",\n"),
        parameters.join(",\n    "),
        connections.join(",\n"),
    );
    Ok([(name, wrapper), (FLAT.to_owned(), text)])
}
