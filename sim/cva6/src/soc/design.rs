//! The hardware: the model of a core, and one of everything that is attached to the cores.

use crate::Core;
use crate::soc::{SocError, interconnect};
use hartrace_cva6_connector::{Building, Config as Connector, Interface, connector};
use hartrace_encoder_hdl::top::{Encapsulation, Sink, Standard, TimeSource, TopConfig, top};
use hartrace_encoder_hdl::{Config, Overflow};
use hartrace_hdl_tools::verilate::{Design, Model, ModelPort, Options};
use hartrace_isa::Xlen;
use hartrace_rtl::{Component, Direction};
use std::fmt::Write;

/// The name of the top module of what is attached to the cores.
const TOP: &str = "cva6_attached";

/// The prefix of the outputs of a core for its connector.
const FOR_CONNECTOR: &str = "te_";

/// The largest number of instructions that the core commits in one cycle. It can be configured for one, but
/// does not work then.
const COMMIT_PORTS: u8 = 2;

/// The configuration of everything around the cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocConfig {
    /// The encoders; the sink is a stream, or memory for a core that traces itself.
    pub top: TopConfig,
    /// How connectors build blocks.
    pub building: Building,
    /// Whether harts wait for their encoders when those ask for it.
    pub waits: bool,
}

impl SocConfig {
    /// Creates a configuration with an encoder for each hart, and a 64-bit stream with packets of the
    /// standard encapsulation. Packets have a srcID if there are several harts.
    #[must_use]
    pub fn new(encoder: Config, harts: u32) -> Self {
        let src_id_bits = if harts > 1 { 8 } else { 0 };
        let waits = encoder.overflow == Overflow::Stall;
        let top = TopConfig {
            harts,
            encapsulation: Encapsulation::Standard(Standard { src_id_bits, ..Standard::default() }),
            sink: Sink::AxiStream { word_bytes: 8 },
            encoder,
            ..TopConfig::default()
        };
        Self { top, building: Building::default(), waits }
    }

    /// Creates a configuration in which one core has access to the registers of its encoder, and the sink writes into the memory of
    /// the core, for [`Soc::run_self_hosted`].
    #[must_use]
    pub fn self_hosted(encoder: Config) -> Self {
        let mut config = Self::new(encoder, 1);
        config.top.sink = Sink::MEMORY;
        config
    }

    /// Returns whether the core traces itself.
    #[must_use]
    pub fn is_self_hosted(&self) -> bool {
        matches!(self.top.sink, Sink::Memory { .. })
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

    /// Makes harts wait for their encoders when there is no room, if so. An encoder with which this can be chosen is
    /// asked for it by [`Setting::stall`](hartrace_lockstep::Setting::stall).
    #[must_use]
    pub fn waiting(mut self, is_so: bool) -> Self {
        if is_so && !self.top.encoder.may_stall() {
            self.top.encoder.overflow = Overflow::Stall;
        }
        self.waits |= is_so;
        self
    }

    /// Returns the configuration of the connector of each hart.
    #[must_use]
    pub fn connector(&self) -> Connector {
        let connector = Connector::for_encoder(&self.top.encoder);
        Connector { building: self.building, holds: self.waits, ..connector }
            .with_commit_ports(COMMIT_PORTS)
    }

    /// Returns whether a hart can wait for its encoder when there is no room.
    #[must_use]
    pub fn stalls(&self) -> bool {
        self.waits
    }

    /// Returns the width of the cores, which addresses have or come near to.
    #[must_use]
    pub fn xlen(&self) -> Xlen {
        if self.top.encoder.etrace.iaddress_width_p <= 32 { Xlen::Rv32 } else { Xlen::Rv64 }
    }

    fn check(&self, interface: Interface) -> Result<(), SocError> {
        let encoder = &self.top.encoder;
        let width = encoder.etrace.iaddress_width_p;
        // Current cores exist in both widths; elaboration compares.
        if width <= 32 && (width, interface) != (32, Interface::Probes) {
            return Err(SocError::Fit { name: "iaddress_width_p", value: width.into(), needs: 64 });
        }
        if encoder.lanes > COMMIT_PORTS {
            let (value, needs) = (encoder.lanes.into(), COMMIT_PORTS.into());
            return Err(SocError::Fit { name: "lanes", value, needs });
        }
        if encoder.overflow == Overflow::Stall && !self.waits {
            return Err(SocError::Waits);
        }
        if self.is_self_hosted() && (self.top.sink != Sink::MEMORY || self.top.harts != 1) {
            return Err(SocError::SelfHosted("there is one hart, and words of 8 bytes"));
        }
        if self.is_self_hosted() && self.stalls() {
            return Err(SocError::SelfHosted("a core that waits for its encoder is not supported"));
        }
        Ok(())
    }
}

/// Cores with connectors and encoders.
#[derive(Debug)]
pub struct Soc {
    /// Of a core, whatever is attached.
    pub(crate) core: Model,
    /// Of the connectors, the encoders and what they share.
    pub(crate) attached: Model,
    pub(crate) config: SocConfig,
}

impl Soc {
    /// Builds the models.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range or does not fit the core, or a tool fails.
    pub fn build(core: &Core, config: &SocConfig, options: &Options) -> Result<Self, SocError> {
        config.check(core.interface())?;
        let (encoder, connector) = (top(&config.top)?, connector(&config.connector())?);
        let model = core.model_for(&config.connector(), options)?;
        let text = attached(config, &encoder, &connector, [model.inputs(), model.outputs()]);
        let no_files: [&str; 0] = [];
        let mut design = Design::files(TOP, no_files);
        if config.is_self_hosted() {
            design = interconnect::modules(core.crossbar(design)?);
        }
        let design = design.component(&connector).component(&encoder);
        let design = design.text(TOP, &text).clock("clk_i").reset("rst_ni", false);
        Ok(Self { core: model, attached: Model::build(design, options)?, config: config.clone() })
    }

    /// Returns whether what is attached was built before, and only had to be loaded.
    #[must_use]
    pub fn cached(&self) -> bool {
        self.attached.cached()
    }

    /// Returns its configuration.
    #[must_use]
    pub fn config(&self) -> &SocConfig {
        &self.config
    }
}

/// Ports and contents of the top module, collected as they are needed.
#[derive(Default)]
pub(super) struct Around {
    ports: Vec<String>,
    body: String,
}

impl Around {
    pub(super) fn port(&mut self, direction: &str, range: &str, name: &str) {
        self.ports.push(format!("  {direction} logic {range} {name}"));
    }

    /// Adds an instance; `wire` maps its ports to their connections.
    pub(super) fn instance(&mut self, module: &str, name: &str, wires: &[(String, String)]) {
        let wires: Vec<String> =
            wires.iter().map(|(port, wire)| format!("    .{port} ({wire})")).collect();
        let _ = writeln!(self.body, "  {module} {name} (\n{}\n  );\n", wires.join(",\n"));
    }

    /// Adds a wire.
    fn wire(&mut self, width: u32, name: &str) {
        let _ = writeln!(self.body, "  logic [{}:0] {name};", width - 1);
    }

    pub(super) fn assign(&mut self, to: &str, from: &str) {
        let _ = writeln!(self.body, "  assign {to} = {from};");
    }
}

/// Creates the top module of what is attached. Cores have a separate reset, so that tracing can be switched on before
/// the first instruction, and the last instruction is known. The outputs of a core that are for its connector are inputs
/// here: `te_valid_o` of the first core is `hart0_te_valid_i`. If the core traces itself, the interconnect is within.
fn attached(
    config: &SocConfig,
    encoder: &Component,
    connector: &Component,
    [inputs, outputs]: [&[ModelPort]; 2],
) -> String {
    let mut m = Around::default();
    for name in ["clk_i", "rst_ni"] {
        m.port("input ", "", name);
    }
    let common = ["clk_i", "rst_ni"];
    let mut wires: Vec<_> = common.map(|name| (name.to_owned(), name.to_owned())).into();
    let of_hart = |name: &str| {
        let (hart, rest) = name.strip_prefix("hart")?.split_once('_')?;
        Some((hart.parse::<u32>().ok()?, rest.to_owned()))
    };
    for port in encoder.ports() {
        let name = port.name.as_str();
        if common.contains(&name) {
            continue;
        }
        let input = port.direction == Direction::Input;
        let wire = match of_hart(name) {
            None if config.is_self_hosted() => {
                let wire = format!("trace_{name}");
                m.wire(port.width, &wire);
                wire
            }
            None => {
                let direction = if input { "input " } else { "output" };
                m.port(direction, &format!("[{}:0]", port.width - 1), name);
                name.to_owned()
            }
            Some((hart, rest)) if input => {
                let told = match rest.as_str() {
                    "drained_i" => "empty_o".to_owned(),
                    // All levels may be traced.
                    "allow_i" => {
                        wires.push((name.to_owned(), "'1".to_owned()));
                        continue;
                    }
                    _ => format!("{}o", rest.trim_end_matches('i')),
                };
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
        self::hart(&mut m, config, hart, connector, outputs);
    }
    if config.is_self_hosted() {
        interconnect::instance(&mut m, encoder, [inputs, outputs]);
    }
    m.instance("te_top", "i_te_top", &wires);
    m.port("output", "[15:0]", "fifo_level_o");
    m.assign("fifo_level_o", "16'(i_te_top.i_fifo.usage_o)");
    let ports = m.ports.join(",\n");
    format!("module {TOP} (\n{ports}\n);\n{}endmodule\n", m.body)
}

/// Adds the connector of a hart; what it exchanges with the core is ports of the top module.
fn hart(m: &mut Around, config: &SocConfig, hart: u32, connector: &Component, core: &[ModelPort]) {
    for name in ["stall", "lost", "trace"] {
        if name != "stall" || config.top.encoder.may_stall() {
            m.wire(1, &format!("encoder{hart}_{name}_o"));
        }
    }
    let mut ends = Vec::new();
    for port in connector.ports() {
        let name = port.name.as_str();
        let wire = match name {
            "clk_i" | "rst_ni" => name.to_owned(),
            "stall_i" if config.stalls() => format!("encoder{hart}_stall_o"),
            "enable_i" => format!("encoder{hart}_trace_o"),
            "allow_i" => "'1".to_owned(),
            // Debug mode is the only kind of halt, the adapter loses nothing, and blocks end when tracing does.
            "stall_i" | "halted_i" | "lost_i" | "flush_i" => "'0".to_owned(),
            _ if port.direction == Direction::Input => {
                // Of a narrow core, the lower part.
                format!("hart{hart}_{FOR_CONNECTOR}{name}[{}:0]", port.width - 1)
            }
            _ => {
                let wire = format!("blocks{hart}_{name}");
                m.wire(port.width, &wire);
                wire
            }
        };
        ends.push((name.to_owned(), wire));
    }
    for port in core {
        // All of them, also those that this connector does not need.
        if let Some(name) =
            port.name.strip_suffix('o').filter(|_| port.name.starts_with(FOR_CONNECTOR))
        {
            let name = format!("hart{hart}_{name}i");
            m.port("input ", &format!("[{}:0]", port.width - 1), &name);
        }
    }
    if config.stalls() {
        m.port("output", "[0:0]", &format!("hart{hart}_hold_o"));
        m.assign(&format!("hart{hart}_hold_o"), &format!("blocks{hart}_stall_o"));
    }
    m.instance("cva6_te_connector", &format!("i_connector{hart}"), &ends);
    for (name, range, from) in [
        ("itype", connector_range(connector, "itype_o"), format!("blocks{hart}_itype_o")),
        ("iretire", connector_range(connector, "iretire_o"), format!("blocks{hart}_iretire_o")),
        ("missed", "[0:0]".into(), format!("blocks{hart}_lost_o")),
        (
            "held",
            "[0:0]".into(),
            if config.stalls() { format!("encoder{hart}_stall_o") } else { "'0".into() },
        ),
        ("lost", "[0:0]".into(), format!("encoder{hart}_lost_o")),
        ("traces", "[0:0]".into(), format!("encoder{hart}_trace_o")),
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
