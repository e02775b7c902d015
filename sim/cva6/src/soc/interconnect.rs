//! What is between a core that traces itself, the sink of its trace, memory and registers.

use crate::map;
use crate::soc::design::Around;
use hartrace_encoder_hdl::registers::{AxiBridge, axi_to_apb};
use hartrace_hdl_tools::verilate::{Design, ModelPort};
use hartrace_rtl::{Component, Direction};

const INTERCONNECT: &str = include_str!("../../rtl/cva6_interconnect.sv");

/// The channels of a core's port to memory, as the names of its ports start.
const CHANNELS: [&str; 5] = ["aw_", "w_", "b_", "ar_", "r_"];

/// The bridge that `cva6_interconnect.sv` names.
const BRIDGE: AxiBridge = AxiBridge { data_bytes: 8, id_width: 5, addr_width: 13 };

/// Adds the modules to a design that has PULP's crossbar.
pub(super) fn modules(design: Design) -> Design {
    let bridge = axi_to_apb(BRIDGE);
    design.component(&bridge).text("cva6_interconnect", INTERCONNECT)
}

/// Adds the instance. Ports of `te_top` that are not for harts are wires called `trace_*`. The core's port to memory is there twice: with
/// `hart0_` in front for the core, and as it is for memory.
pub(super) fn instance(m: &mut Around, encoder: &Component, [inputs, outputs]: [&[ModelPort]; 2]) {
    let common = ["clk_i", "rst_ni"];
    let mut wires: Vec<_> = common.map(|name| (name.to_owned(), name.to_owned())).into();
    for port in encoder.ports() {
        let name = port.name.as_str();
        if common.contains(&name) || name.starts_with("hart") {
            continue;
        }
        let other = if port.direction == Direction::Input { "o" } else { "i" };
        let end = format!("{}{other}", &name[..name.len() - 1]);
        wires.push((end, format!("trace_{name}")));
    }
    for (ports, core_side, memory_side, end) in
        [(outputs, "input ", "output", "i"), (inputs, "output", "input ", "o")]
    {
        let memory = |port: &&ModelPort| CHANNELS.iter().any(|c| port.name.starts_with(c));
        for port in ports.iter().filter(memory) {
            let name = port.name.as_str();
            let at_core = format!("hart0_{}{end}", &name[..name.len() - 1]);
            m.port(core_side, &format!("[{}:0]", port.width - 1), &at_core);
            // A crossbar adds a bit to IDs.
            let width = if name.contains("_id_") { port.width + 1 } else { port.width };
            m.port(memory_side, &format!("[{}:0]", width - 1), name);
            wires.extend([at_core, name.to_owned()].map(|name| (name.clone(), name)));
        }
    }
    let module = format!("cva6_interconnect #(.RegistersBase (64'h{:x}))", map::TRACE);
    m.instance(&module, "i_interconnect", &wires);
    m.port("output", "[0:0]", "register_written_o");
    m.assign(
        "register_written_o",
        "trace_psel_i & trace_penable_i & trace_pwrite_i & trace_pready_o",
    );
    for (port, range, from) in
        [("offset", "[12:0]", "trace_paddr_i"), ("word", "[31:0]", "trace_pwdata_i")]
    {
        let port = format!("register_{port}_o");
        m.port("output", range, &port);
        m.assign(&port, from);
    }
}
