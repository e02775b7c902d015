//! The whole connector.

use crate::adapter::{HOLD, Interface};
use crate::config::{Building, Config, ConfigError};
use crate::itype::ItypeOut;
use crate::port::side_by_side;
use crate::{direct, itype, serialised};
use hartrace_encoder_hdl::files;
use hartrace_rtl::{Component, Direction, Expr, Module};

/// The module `cva6_te_connector`: its input is the neutral port of a hart, its output blocks for
/// `te_core`.
pub fn connector(config: &Config) -> Result<Component, ConfigError> {
    config.check()?;
    let builder = match config.building {
        Building::Direct => direct::build(config),
        Building::Serialised => serialised::build(config),
    };
    let m = Module::new(
        "cva6_te_connector",
        "Between the commit stage of a hart and its trace encoder: instructions come in, blocks go out.",
    )
    .clocked();
    let n = config.n();
    let kind =
        m.input("kind_i", n * itype::KIND, "0 plain, 1 branch, 2 jal, 3 jalr, 4 trap return");
    let taken = m.input("taken_i", n, "of a branch");
    let rd = m.input("rd_i", 5 * n, "where a jump puts its return address");
    let rs1 = m.input("rs1_i", 5 * n, "where an indirect jump has its target");
    let detector = itype::build(config);
    let (itypes, ends): (Vec<Expr>, Vec<Expr>) = (0..n)
        .map(|i| {
            let found = ItypeOut::of(&m.inst(
                &format!("i_itype_{i}"),
                &detector,
                &[
                    ("kind_i", &kind.slice(i * itype::KIND, itype::KIND)),
                    ("taken_i", &taken.bit(i)),
                    ("rd_i", &rd.slice(i * 5, 5)),
                    ("rs1_i", &rs1.slice(i * 5, 5)),
                ],
            ));
            (found.itype, found.ends)
        })
        .unzip();
    let mut inputs = Vec::new();
    let mut outputs = Vec::new();
    for port in builder.ports() {
        let name = port.name.as_str();
        match (port.direction, name) {
            (_, "clk_i" | "rst_ni") => {}
            (_, "itype_i") => inputs.push((name, side_by_side(&itypes))),
            (_, "ends_i") => inputs.push((name, side_by_side(&ends))),
            (_, "pc_i" | "cause_i" | "tval_i" | "trap_pc_i") => {
                inputs.push((name, narrowed(&m, config, name, &port.doc, port.width)));
            }
            (Direction::Input, _) => inputs.push((name, m.input(name, port.width, &port.doc))),
            (Direction::Output, _) => outputs.push((name, m.output(name, port.width, &port.doc))),
        }
    }
    let ports: Vec<(&str, &Expr)> = inputs.iter().map(|(name, expr)| (*name, expr)).collect();
    let blocks = m.inst("i_block_builder", &builder, &ports);
    for (name, output) in &outputs {
        m.assign(output, &blocks[name]);
    }
    Ok(m.finish())
}

/// An input with as many bits as the hart has for each address, and of each those that the encoder has: `width` together.
fn narrowed(m: &Module, config: &Config, name: &str, doc: &str, width: u32) -> Expr {
    let (from, to) = (u32::from(config.xlen), config.address());
    let lanes = width / to;
    let input = m.input(name, lanes * from, doc);
    if from == to {
        return input;
    }
    let lane = |i: u32| {
        m.unused(&input.slice(i * from + to, from - to));
        input.slice(i * from, to)
    };
    side_by_side(&(0..lanes).map(lane).collect::<Vec<_>>())
}

/// Names and texts of the SystemVerilog files of a connector, in the order that tools require.
pub fn sources(config: &Config) -> Result<Vec<(String, String)>, ConfigError> {
    Ok(files(&connector(config)?))
}

/// Names and texts of files.
type Files = Vec<(String, String)>;

/// Files of the connector between a core and an encoder, and those of its adapter with their list,
/// [`Interface::list`], with what makes a CVA6 wait if the encoder stalls it; its clock gate is among the files of the
/// connector. The adapter is part of a design only together with the core. The names of the connector's modules, and of
/// those that make a core wait, start with `prefix`.
///
/// # Errors
///
/// If there is no connector for this encoder.
pub fn package(
    encoder: &hartrace_encoder_hdl::Config,
    prefix: &str,
    interface: Interface,
) -> Result<(Files, Files), ConfigError> {
    let ports = interface.commit_ports(encoder.lanes);
    let config = Config::for_encoder(encoder).with_commit_ports(ports);
    let mut modules = files(&connector(&config)?.prefixed(prefix));
    let mut sources = interface.adapter(&config);
    if encoder.may_stall() && interface != Interface::Rvfi {
        let (gates, others): (Files, Files) =
            hold(prefix).into_iter().partition(|(name, _)| name.ends_with("te_clock_gate.sv"));
        modules.extend(gates);
        sources.extend(others);
    }
    let list = sources.iter().map(|(name, _)| format!("{name}\n")).collect();
    let mut adapter = vec![(interface.list().to_owned(), list)];
    adapter.extend(sources);
    Ok((modules, adapter))
}

/// [`HOLD`] with a prefix before the names of its modules.
fn hold(prefix: &str) -> Files {
    let modules = HOLD.map(|(name, _)| name.trim_end_matches(".sv"));
    let prefixed = |text: &str| {
        let named = |text: String, module: &str| text.replace(module, &format!("{prefix}{module}"));
        modules.into_iter().fold(text.to_owned(), named)
    };
    HOLD.map(|(name, text)| (format!("{prefix}{name}"), prefixed(text))).into()
}
