//! `hartrace hdl`.

use crate::place::{Place, stderr};

#[test]
fn files_for_tools_and_decoders() {
    let place = Place::new("hdl");
    let said = place.clean("hdl --config full --lanes 1 -o rtl");
    assert!(said.contains("the top module is te_core"), "{said}");
    let read = |name: &str| std::fs::read_to_string(place.dir.join("rtl").join(name)).unwrap();
    let list = read("te_core.f");
    for file in list.lines() {
        assert!(read(file).contains(&format!("module {}", file.trim_end_matches(".sv"))), "{file}");
        assert!(read("Bender.yml").contains(file) && read("te_core.core").contains(file));
    }
    assert!(read("config.toml").contains("lanes = 1"));
    // A decoder can be told with it, and the encoder can be made again.
    place.write("empty.te", b"");
    place.clean("stats empty.te --params rtl/params.toml --xlen 64");
    place.clean("hdl --config rtl/config.toml -o again");
    let again = std::fs::read_to_string(place.dir.join("again/te_core.sv")).unwrap();
    assert_eq!(again, read("te_core.sv"));
}

/// The payloads of rv_tracer: the decoder is told.
#[test]
fn the_dialect_is_in_the_parameters() {
    let place = Place::new("hdl-dialect");
    place.clean("hdl --config rv_tracer -o rtl");
    let params = std::fs::read_to_string(place.dir.join("rtl/params.toml")).unwrap();
    assert!(params.contains("unit = \"rv-tracer\""), "{params}");
    let line = "--params rtl/params.toml --xlen 64";
    place.clean(&format!("encode run.csv {line} -o trace"));
    let dump = place.clean(&format!("dump trace {line}"));
    assert!(dump.contains("ioptions=delta_address"), "{dump}");
    let pcs = place.clean(&format!("decode trace {line} --image code@0x80000000 --emit pcs"));
    assert_eq!(pcs, crate::PCS);
}

#[test]
fn wrong_parameters_write_nothing() {
    let place = Place::new("hdl-errors");
    place.write("wrong.toml", b"lanse = 2\n");
    for (line, what, status) in [
        ("hdl --lanes 9 -o out", "lanes = 9 is not in 1..=4", 2),
        ("hdl --xlen 16 -o out", "etrace.iaddress_width_p = 16 is not in 24..=64", 2),
        ("hdl --config huge -o out", "no configuration `huge`", 2),
        ("hdl --config wrong.toml -o out", "lanse", 3),
    ] {
        let output = place.run(line);
        assert_eq!(output.status.code(), Some(status), "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains(what), "{line}: {}", stderr(&output));
        assert!(!place.dir.join("out").exists(), "{line}");
    }
}
