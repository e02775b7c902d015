//! Designs in files.

use crate::designs::counter;
use hartrace_hdl_tools::verilate::{Design, Model, ModelPort, Options};
use hartrace_rtl::Bits;
use libtest_mimic::Failed;
use std::fs;

pub(crate) fn ports_and_includes(options: &Options) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("delay.sv");
    let header = folder.path().join("width.svh");
    fs::write(&header, "`define EXTRA 1\n")?;
    fs::write(
        &source,
        "`include \"width.svh\"\n\
         module delay #(parameter int unsigned Width = 4) (\n\
           input  logic             clk, input logic rst,\n\
           input  logic [Width-1:0] new__data,\n\
           output logic [0:Width+`EXTRA-1] old_data\n\
         );\n\
           always_ff @(posedge clk) old_data <= rst ? '1 : {`EXTRA'd0, new__data};\n\
           always @(posedge clk) if (new__data == '1) begin\n\
             $display(\"all ones\");\n\
             $finish;\n\
           end\n\
         endmodule\n",
    )?;
    let design = Design::files("delay", [&source])
        .argument("-GWidth=70")
        .argument(&format!("+incdir+{}", folder.path().display()))
        .argument("-Wno-LITENDIAN")
        .clock("clk")
        .reset("rst", true);
    let model = Model::build(&design, options)?;
    let ports = |ports: &[ModelPort]| {
        ports.iter().map(|port| (port.name.clone(), port.width)).collect::<Vec<_>>()
    };
    assert_eq!(ports(model.inputs()), [("rst".into(), 1), ("new__data".into(), 70)]);
    assert_eq!(ports(model.outputs()), [("old_data".into(), 71)]);

    let mut sim = model.start(0)?;
    let (new, old) = (sim.input("new__data")?, sim.output("old_data")?);
    sim.reset()?;
    assert_eq!(sim.get_bits(old), Bits::ones(71));
    sim.set_wide(new, &[0x1234, 0x2a]);
    sim.clock()?;
    assert_eq!(sim.get_wide(old), [0x1234, 0x2a]);
    assert!(!sim.finished());
    sim.set_bits(new, &Bits::ones(70));
    sim.clock()?;
    assert!(sim.finished());
    assert_eq!(sim.printed(), "all ones\n");

    // A change of an included file is noticed, too.
    assert!(Model::build(&design, options)?.cached());
    fs::write(&header, "`define EXTRA 2\n")?;
    let model = Model::build(&design, options)?;
    assert!(!model.cached());
    assert_eq!(ports(model.outputs()), [("old_data".into(), 72)]);
    assert_eq!(model.start(0)?.output("old_data")?.width(), 72);
    Ok(())
}

/// A module in a file, with one in a text and one that is generated. No file output is written.
pub(crate) fn texts_and_components(options: &Options) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("both.sv");
    let written = folder.path().join("written.txt");
    fs::write(
        &source,
        format!(
            "module both (input logic clk_i, input logic rst_ni, output logic [7:0] sum_o, output logic open_o);\n\
               import numbers::Extra;\n\
               logic [7:0] count;\n\
               int file;\n\
               counter i_counter (.clk_i, .rst_ni, .enable_i(1'b1), .count_o(count), .next_o());\n\
               assign sum_o = count + Extra;\n\
               initial file = $fopen(\"{}\", \"w\");\n\
               assign open_o = file != 0;\n\
               always @(posedge clk_i) $fwrite(file, \"%d\", count);\n\
             endmodule\n",
            written.display()
        ),
    )?;
    let no_files: [&str; 0] = [];
    let design = Design::files("both", no_files)
        .text("numbers", "package numbers;\n  localparam logic [7:0] Extra = 8'd100;\nendpackage\n")
        .component(&counter(8))
        .component(&counter(8))
        .file(&source)
        .clock("clk_i")
        .reset("rst_ni", false);
    let mut sim = Model::build(&design, options)?.start(0)?;
    let (sum, open) = (sim.output("sum_o")?, sim.output("open_o")?);
    sim.reset()?;
    sim.clock()?;
    sim.clock()?;
    assert_eq!((sim.get(sum), sim.get(open)), (102, 0));
    assert!(!written.exists());
    assert!(Model::build(&design, options)?.cached());
    Ok(())
}

pub(crate) fn tool_errors(options: &Options) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("typo.sv");
    let build = |text: &str| -> Result<String, Failed> {
        fs::write(&source, text)?;
        match Model::build(Design::files("typo", [&source]), options) {
            Ok(_) => Err("it was built".into()),
            Err(error) => Ok(error.to_string()),
        }
    };
    let error = build("module typo (output logic a);\n  asign a = 1;\nendmodule\n")?;
    assert!(error.starts_with("verilator failed on typo:\n%Error: "), "{error}");
    assert!(error.contains("typo.sv:2"), "{error}");
    let error = build("module typo (output logic [1:0] a);\n  assign a = 3'd0;\nendmodule\n")?;
    assert!(error.contains("%Warning-WIDTH"), "{error}");
    let error = build("module typo (output logic a [2]);\n  assign a = '{0, 1};\nendmodule\n")?;
    assert!(error.contains("unpacked array"), "{error}");
    let error = build("module typo (inout wire a);\nendmodule\n")?;
    assert!(error.contains("bidirectional"), "{error}");
    Ok(())
}
