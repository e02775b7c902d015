//! The hardware: cores, the modules attached to each, and the common modules.

use crate::soc::SocError;
use crate::{Core, hart_ports};
use hartrace_cva6_connector::{Building, Config as Connector, Interface, connector};
use hartrace_encoder_hdl::top::{Encapsulation, Sink, Standard, TimeSource, TopConfig, top};
use hartrace_encoder_hdl::{Config, Overflow};
use hartrace_hdl_tools::verilate::{Design, Model, Options};
use hartrace_isa::Xlen;
use hartrace_rtl::{Component, Direction};
use std::fmt::Write;

/// The name of the top module.
const TOP: &str = "cva6_traced";

/// The largest number of instructions that the core commits in one cycle. It can be configured for one, but
/// does not work then.
const COMMIT_PORTS: u8 = 2;

/// The configuration of everything around the cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocConfig {
    /// The encoders; the sink is a stream.
    pub top: TopConfig,
    /// How connectors build blocks.
    pub building: Building,
}

impl SocConfig {
    /// Creates a configuration with an encoder for each hart, and a 64-bit stream with packets of the
    /// standard encapsulation. Packets have a srcID if there are several harts.
    #[must_use]
    pub fn new(encoder: Config, harts: u32) -> Self {
        let src_id_bits = if harts > 1 { 8 } else { 0 };
        let top = TopConfig {
            harts,
            encapsulation: Encapsulation::Standard(Standard { src_id_bits, ..Standard::default() }),
            sink: Sink::AxiStream { word_bytes: 8 },
            encoder,
            ..TopConfig::default()
        };
        Self { top, building: Building::default() }
    }

    /// Adds a clock to each encoder, if bytes are given. Synchronisations carry its time, of 40 bits; frames carry `bytes`
    /// bytes of it.
    #[must_use]
    pub fn with_time(mut self, bytes: impl Into<Option<u8>>) -> Self {
        let Some(bytes) = bytes.into() else { return self };
        self.top.time = TimeSource::Internal;
        let etrace = &mut self.top.encoder.etrace;
        (etrace.notime_p, etrace.time_width_p) = (false, 40);
        if let Encapsulation::Standard(standard) = &mut self.top.encapsulation {
            standard.timestamp_bytes = bytes;
        }
        self
    }

    /// Makes connectors build blocks one instruction after the other, if so.
    #[must_use]
    pub fn serialised(mut self, is_so: bool) -> Self {
        if is_so {
            self.building = Building::Serialised;
        }
        self
    }

    /// Makes harts wait for their encoders when there is no room, if so.
    #[must_use]
    pub fn waiting(mut self, is_so: bool) -> Self {
        if is_so {
            self.top.encoder.overflow = Overflow::Stall;
        }
        self
    }

    /// Returns the configuration of the connector of each hart.
    #[must_use]
    pub fn connector(&self) -> Connector {
        let connector = Connector::for_encoder(&self.top.encoder);
        Connector { building: self.building, ..connector }.with_commit_ports(COMMIT_PORTS)
    }

    /// Returns whether a hart waits for its encoder when there is no room.
    #[must_use]
    pub fn stalls(&self) -> bool {
        self.top.encoder.overflow == Overflow::Stall
    }

    /// Returns the width of the cores, which is that of addresses.
    #[must_use]
    pub fn xlen(&self) -> Xlen {
        if self.top.encoder.etrace.iaddress_width_p == 32 { Xlen::Rv32 } else { Xlen::Rv64 }
    }

    fn check(&self, interface: Interface) -> Result<(), SocError> {
        let encoder = &self.top.encoder;
        let width = encoder.etrace.iaddress_width_p;
        // Current cores exist in both widths; elaboration compares.
        if width != 64 && (width, interface) != (32, Interface::Probes) {
            return Err(SocError::Fit { name: "iaddress_width_p", value: width.into(), needs: 64 });
        }
        if encoder.lanes > COMMIT_PORTS {
            let (value, needs) = (encoder.lanes.into(), COMMIT_PORTS.into());
            return Err(SocError::Fit { name: "lanes", value, needs });
        }
        Ok(())
    }
}

/// A model of cores with connectors and encoders.
#[derive(Debug)]
pub struct Soc {
    pub(crate) model: Model,
    pub(crate) config: SocConfig,
}

impl Soc {
    /// Builds the model.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range or does not fit the core, or a tool fails.
    pub fn build(core: &Core, config: &SocConfig, options: &Options) -> Result<Self, SocError> {
        config.check(core.interface())?;
        let (encoder, connector) = (top(&config.top)?, connector(&config.connector())?);
        let text = around(config, &encoder, &connector);
        let adapter = |design: Design, (name, text): (String, String)| {
            design.text(name.trim_end_matches(".sv"), &text)
        };
        let files = core.interface().adapter(&config.connector());
        let design = files.into_iter().fold(core.design(TOP)?, adapter);
        let design = design.component(&connector).component(&encoder).text(TOP, &text);
        Ok(Self { model: Model::build(design, options)?, config: config.clone() })
    }

    /// Returns whether it was built before, and only had to be loaded.
    #[must_use]
    pub fn cached(&self) -> bool {
        self.model.cached()
    }

    /// Returns its configuration.
    #[must_use]
    pub fn config(&self) -> &SocConfig {
        &self.config
    }
}

/// Ports and contents of the top module, collected as they are needed.
#[derive(Default)]
struct Around {
    ports: Vec<String>,
    body: String,
}

impl Around {
    fn port(&mut self, direction: &str, range: &str, name: &str) {
        self.ports.push(format!("  {direction} logic {range} {name}"));
    }

    /// Adds an instance; `wire` maps its ports to their connections.
    fn instance(&mut self, module: &str, name: &str, wires: &[(String, String)]) {
        let wires: Vec<String> =
            wires.iter().map(|(port, wire)| format!("    .{port} ({wire})")).collect();
        let _ = writeln!(self.body, "  {module} {name} (\n{}\n  );\n", wires.join(",\n"));
    }

    /// Adds a wire.
    fn wire(&mut self, width: u32, name: &str) {
        let _ = writeln!(self.body, "  logic [{}:0] {name};", width - 1);
    }

    fn assign(&mut self, to: &str, from: &str) {
        let _ = writeln!(self.body, "  assign {to} = {from};");
    }
}

/// Creates the top module. Cores have a separate reset, so that tracing can be switched on before the first
/// instruction, and the last instruction is known.
fn around(config: &SocConfig, encoder: &Component, connector: &Component) -> String {
    let mut m = Around::default();
    for name in ["clk_i", "rst_ni", "te_rst_ni", "flush_i"] {
        m.port("input ", "", name);
    }
    let mut wires = vec![("clk_i".to_owned(), "clk_i".to_owned())];
    wires.push(("rst_ni".to_owned(), "te_rst_ni".to_owned()));
    let of_hart = |name: &str| {
        let (hart, rest) = name.strip_prefix("hart")?.split_once('_')?;
        Some((hart.parse::<u32>().ok()?, rest.to_owned()))
    };
    for port in encoder.ports() {
        let name = port.name.as_str();
        if ["clk_i", "rst_ni"].contains(&name) {
            continue;
        }
        let input = port.direction == Direction::Input;
        let wire = match of_hart(name) {
            None => {
                let direction = if input { "input " } else { "output" };
                m.port(direction, &format!("[{}:0]", port.width - 1), name);
                name.to_owned()
            }
            Some((hart, rest)) if input => {
                let told = format!("{}o", rest.trim_end_matches('i'));
                match connector.ports().iter().any(|port| port.name == told) {
                    true => format!("blocks{hart}_{told}"),
                    // Context, triggers and similar signals, which this core does not have.
                    false => "'0".to_owned(),
                }
            }
            Some((hart, rest)) => format!("encoder{hart}_{rest}"),
        };
        wires.push((name.to_owned(), wire));
    }
    for hart in 0..config.top.harts {
        self::hart(&mut m, config, hart, connector);
    }
    m.instance("te_top", "i_te_top", &wires);
    m.port("output", "[15:0]", "fifo_level_o");
    m.assign("fifo_level_o", "16'(i_te_top.i_fifo.usage_o)");
    let ports = m.ports.join(",\n");
    format!("module {TOP} (\n{ports}\n);\n{}endmodule\n", m.body)
}

/// Adds a core with its connector; the ports of both become ports of the top module.
fn hart(m: &mut Around, config: &SocConfig, hart: u32, connector: &Component) {
    let refused = if config.stalls() { "stall" } else { "lost" };
    m.wire(1, &format!("encoder{hart}_{refused}_o"));
    let hold = if config.stalls() { format!("blocks{hart}_stall_o") } else { "1'b0".to_owned() };
    let mut wires = Vec::new();
    for port in hart_ports() {
        let wire = match port.name {
            "clk_i" | "rst_ni" => port.name.to_owned(),
            "hold_i" => hold.clone(),
            name => {
                let outside = format!("hart{hart}_{name}");
                m.port(if port.input { "input " } else { "output" }, port.range, &outside);
                outside
            }
        };
        wires.push((port.name.to_owned(), wire));
    }
    let mut ends = Vec::new();
    for port in connector.ports() {
        let name = port.name.as_str();
        let adapter = format!("i_hart{hart}.i_cva6.i_te_adapter");
        let wire = match name {
            "clk_i" | "flush_i" => name.to_owned(),
            "rst_ni" => "te_rst_ni".to_owned(),
            "stall_i" if config.stalls() => format!("encoder{hart}_stall_o"),
            // Debug mode is the only kind of halt.
            "stall_i" | "halted_i" => "'0".to_owned(),
            _ if port.direction == Direction::Input => {
                format!("{adapter}.{}o", name.trim_end_matches('i'))
            }
            _ => {
                let wire = format!("blocks{hart}_{name}");
                m.wire(port.width, &wire);
                wire
            }
        };
        ends.push((name.to_owned(), wire));
    }
    m.instance("cva6_hart", &format!("i_hart{hart}"), &wires);
    m.instance("cva6_te_connector", &format!("i_connector{hart}"), &ends);
    for (name, range, from) in [
        ("itype", connector_range(connector, "itype_o"), format!("blocks{hart}_itype_o")),
        ("iretire", connector_range(connector, "iretire_o"), format!("blocks{hart}_iretire_o")),
        ("pending", "[0:0]".into(), format!("~blocks{hart}_empty_o")),
        ("missed", "[0:0]".into(), format!("blocks{hart}_lost_o")),
        ("refused", "[0:0]".into(), format!("encoder{hart}_{refused}_o")),
        ("queue_level", "[15:0]".into(), format!("16'(i_te_top.i_hart{hart}.i_core.room_taken_q)")),
    ] {
        let port = format!("hart{hart}_{name}_o");
        m.port("output", &range, &port);
        m.assign(&port, &from);
    }
}

fn connector_range(connector: &Component, name: &str) -> String {
    let width = connector.ports().iter().find(|port| port.name == name).map_or(1, |p| p.width);
    format!("[{}:0]", width - 1)
}
