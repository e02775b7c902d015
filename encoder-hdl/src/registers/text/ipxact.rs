//! A description in IP-XACT (IEEE 1685-2009).

use super::{enumerator, plain, reset};
use crate::registers::table::{Field, Kind, Register};
use crate::registers::text::Placed;
use hartrace_rtl::{Component, Direction};
use std::fmt::Write;

/// A bus of AMBA at ports of a module.
struct Bus {
    name: &'static str,
    /// Name of its definition, and its version.
    definition: [&'static str; 2],
    manager: bool,
    /// Signals of the definition, and the ports that they are.
    signals: &'static [(&'static str, &'static str)],
}

const BUSES: [Bus; 3] = [
    Bus {
        name: "registers",
        definition: ["APB4", "r0p0_0"],
        manager: false,
        signals: &[
            ("PCLK", "clk_i"),
            ("PRESETn", "rst_ni"),
            ("PSELx", "psel_i"),
            ("PENABLE", "penable_i"),
            ("PWRITE", "pwrite_i"),
            ("PADDR", "paddr_i"),
            ("PWDATA", "pwdata_i"),
            ("PSTRB", "pstrb_i"),
            ("PREADY", "pready_o"),
            ("PRDATA", "prdata_o"),
            ("PSLVERR", "pslverr_o"),
        ],
    },
    Bus {
        name: "memory",
        definition: ["AXI4", "r0p0_0"],
        manager: true,
        signals: &[
            ("ACLK", "clk_i"),
            ("ARESETn", "rst_ni"),
            ("AWVALID", "awvalid_o"),
            ("AWREADY", "awready_i"),
            ("AWADDR", "awaddr_o"),
            ("AWLEN", "awlen_o"),
            ("AWSIZE", "awsize_o"),
            ("AWBURST", "awburst_o"),
            ("WVALID", "wvalid_o"),
            ("WREADY", "wready_i"),
            ("WDATA", "wdata_o"),
            ("WSTRB", "wstrb_o"),
            ("WLAST", "wlast_o"),
            ("BVALID", "bvalid_i"),
            ("BREADY", "bready_o"),
            ("BRESP", "bresp_i"),
        ],
    },
    Bus {
        name: "trace",
        definition: ["AXI4Stream", "r0p0_1"],
        manager: true,
        signals: &[
            ("ACLK", "clk_i"),
            ("ARESETn", "rst_ni"),
            ("TVALID", "tvalid_o"),
            ("TREADY", "tready_i"),
            ("TDATA", "tdata_o"),
            ("TKEEP", "tkeep_o"),
            ("TLAST", "tlast_o"),
        ],
    },
];

/// A module with its buses, its registers, its ports and the files that it consists of.
///
/// Buses refer to Arm's definitions. Ports of the trace on ATB have no bus: there is no definition of
/// ATBv1.1 to refer to.
#[must_use]
pub fn ipxact(of: &Component, version: &str, pages: &[Placed<'_>], files: &[String]) -> String {
    let mut out = Xml::default();
    out.text.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let schema = "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009";
    let attributes = format!(
        " xmlns:spirit=\"{schema}\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xsi:schemaLocation=\"{schema} {schema}/index.xsd\""
    );
    out.open_with("component", &attributes);
    out.leaf("vendor", "hartrace.org");
    out.leaf("library", "trace");
    out.leaf("name", of.name());
    out.leaf("version", version);
    buses(&mut out, of);
    out.open("memoryMaps");
    out.open("memoryMap");
    out.leaf("name", "registers");
    for page in pages {
        out.open("addressBlock");
        out.leaf("name", &page.name);
        out.leaf("description", &page.title);
        out.leaf("baseAddress", &format!("{:#x}", page.address));
        out.leaf("range", "0x1000");
        out.leaf("width", "32");
        out.leaf("usage", "register");
        page.table.registers.iter().for_each(|of| register(&mut out, of));
        out.close("addressBlock");
    }
    out.leaf("addressUnitBits", "8");
    out.close("memoryMap");
    out.close("memoryMaps");
    ports(&mut out, of);
    out.open("fileSets");
    out.open("fileSet");
    out.leaf("name", "rtl");
    for file in files {
        out.open("file");
        out.leaf("name", file);
        out.leaf("fileType", "systemVerilogSource");
        out.close("file");
    }
    out.close("fileSet");
    out.close("fileSets");
    out.close("component");
    out.text
}

fn buses(out: &mut Xml, of: &Component) {
    let has = |port: &str| of.ports().iter().any(|other| other.name == port);
    out.open("busInterfaces");
    for bus in BUSES.iter().filter(|bus| bus.signals.iter().all(|(_, port)| has(port))) {
        let [definition, version] = bus.definition;
        out.open("busInterface");
        out.leaf("name", bus.name);
        for (kind, name) in
            [("busType", definition.to_owned()), ("abstractionType", format!("{definition}_rtl"))]
        {
            out.empty(
                kind,
                &format!(
                    " spirit:vendor=\"amba.com\" spirit:library=\"AMBA4\" spirit:name=\"{name}\" \
                     spirit:version=\"{version}\""
                ),
            );
        }
        if bus.manager {
            out.empty("master", "");
        } else {
            out.open("slave");
            out.empty("memoryMapRef", " spirit:memoryMapRef=\"registers\"");
            out.close("slave");
        }
        out.open("portMaps");
        for (signal, port) in bus.signals {
            out.open("portMap");
            for (kind, name) in [("logicalPort", signal), ("physicalPort", port)] {
                out.open(kind);
                out.leaf("name", name);
                out.close(kind);
            }
            out.close("portMap");
        }
        out.close("portMaps");
        out.close("busInterface");
    }
    out.close("busInterfaces");
}

fn register(out: &mut Xml, of: &Register) {
    out.open("register");
    out.leaf("name", &of.name());
    out.leaf("description", &plain(of.doc));
    out.leaf("addressOffset", &format!("{:#x}", of.offset));
    out.leaf("size", "32");
    let resets = of.fields.iter().filter_map(|field| Some((field, reset(field)?)));
    let (value, mask) = resets.fold((0, 0), |(value, mask), (field, reset)| {
        (value | reset << field.lsb, mask | field.mask())
    });
    if mask != 0 {
        out.open("reset");
        out.leaf("value", &format!("{value:#x}"));
        out.leaf("mask", &format!("{mask:#x}"));
        out.close("reset");
    }
    of.fields.iter().for_each(|of| field(out, of));
    out.close("register");
}

fn field(out: &mut Xml, of: &Field) {
    let (access, write, volatile) = behaviour(of);
    out.open("field");
    out.leaf("name", of.name);
    out.leaf("description", &plain(of.doc));
    out.leaf("bitOffset", &of.lsb.to_string());
    out.leaf("bitWidth", &of.width.to_string());
    out.leaf("volatile", if volatile { "true" } else { "false" });
    out.leaf("access", access);
    if !of.values.is_empty() {
        out.open("enumeratedValues");
        for (value, what, doc) in &of.values {
            out.open("enumeratedValue");
            out.leaf("name", &enumerator(what));
            out.leaf("description", doc);
            out.leaf("value", &value.to_string());
            out.close("enumeratedValue");
        }
        out.close("enumeratedValues");
    }
    if let Some(write) = write {
        out.leaf("modifiedWriteValue", write);
    }
    out.close("field");
}

/// Access, what a write does besides storing, and whether hardware changes it.
fn behaviour(of: &Field) -> (&'static str, Option<&'static str>, bool) {
    match of.kind {
        Kind::Fixed(_) => ("read-only", None, false),
        Kind::Status { .. } | Kind::Copy { .. } | Kind::Empty => ("read-only", None, true),
        Kind::Stored { .. } | Kind::Switch => ("read-write", None, false),
        Kind::Active | Kind::Enable(_) | Kind::Triggered { .. } | Kind::Pointer { .. } => {
            ("read-write", None, true)
        }
        Kind::Pulse => ("write-only", None, false),
        Kind::Sticky { .. } | Kind::Mark { .. } => ("read-write", Some("oneToClear"), true),
    }
}

fn ports(out: &mut Xml, of: &Component) {
    out.open("model");
    out.open("ports");
    for port in of.ports() {
        out.open("port");
        out.leaf("name", &port.name);
        if !port.doc.is_empty() {
            out.leaf("description", &plain(&port.doc));
        }
        out.open("wire");
        out.leaf("direction", if port.direction == Direction::Input { "in" } else { "out" });
        if port.width > 1 {
            out.open("vector");
            out.leaf("left", &(port.width - 1).to_string());
            out.leaf("right", "0");
            out.close("vector");
        }
        out.close("wire");
        out.close("port");
    }
    out.close("ports");
    out.close("model");
}

/// Indented elements of the namespace.
#[derive(Default)]
struct Xml {
    text: String,
    depth: usize,
}

impl Xml {
    fn line(&mut self, line: &str) {
        // Writing to a string never fails.
        let _ = writeln!(self.text, "{:1$}{line}", "", 2 * self.depth);
    }

    fn open(&mut self, name: &str) {
        self.open_with(name, "");
    }

    fn open_with(&mut self, name: &str, attributes: &str) {
        self.line(&format!("<spirit:{name}{attributes}>"));
        self.depth += 1;
    }

    fn close(&mut self, name: &str) {
        self.depth -= 1;
        self.line(&format!("</spirit:{name}>"));
    }

    fn empty(&mut self, name: &str, attributes: &str) {
        self.line(&format!("<spirit:{name}{attributes}/>"));
    }

    fn leaf(&mut self, name: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        self.line(&format!("<spirit:{name}>{text}</spirit:{name}>"));
    }
}
