//! `hartrace hdl`.

use crate::place::{Place, stderr, stdout};
use std::path::Path;

#[test]
fn files_for_tools_software_and_decoders() {
    let place = Place::new("hdl");
    let said = place.clean("hdl --config full --lanes 1 -o rtl");
    assert!(said.contains("the top module is te_top"), "{said}");
    let read = |name: &str| std::fs::read_to_string(place.dir.join("rtl").join(name)).unwrap();
    let list = read("te_top.f");
    for file in list.lines() {
        // All cells of a technology are in one file, which is the first.
        let module = if file == "te_cells.sv" { "fifo_" } else { file.trim_end_matches(".sv") };
        assert!(read(file).contains(&format!("module {module}")), "{file}");
        assert!(read("Bender.yml").contains(file) && read("te_top.core").contains(file));
    }
    let core = read("te_core.f");
    assert!(core.starts_with("te_cells.sv\n") && core.ends_with("te_core.sv\n"), "{core}");
    assert!(core.lines().all(|file| list.contains(file)));
    assert!(read("config.toml").contains("lanes = 1"));
    assert!(read("registers.md").contains("| 0x01000 | Trace RAM sink |"));
    assert!(read("hartrace_registers.h").contains("#define HARTRACE_SINK_PAGE 0x01000u"));
    // The parameters are enough for a decoder, and the configuration makes the same encoder again.
    place.clean("encode run.csv --params rtl/params.toml -o own.te");
    place.clean("stats own.te --params rtl/params.toml");
    place.clean("hdl --config rtl/config.toml -o again");
    for file in ["te_core.sv", "te_top.sv"] {
        let again = std::fs::read_to_string(place.dir.join("again").join(file)).unwrap();
        assert_eq!(again, read(file));
    }
}

/// A decoder of the trace that a configuration sends, and one of ETMv4 with parameters of its own.
#[test]
fn decoders() {
    let place = Place::new("hdl-decoders");
    let said = place.clean("hdl --decoder etrace --config full --unroll 3 -o etrace");
    assert!(said.contains("the top module is etrace_decoder"), "{said}");
    let read = |name: &str| std::fs::read_to_string(place.dir.join(name)).unwrap();
    for file in read("etrace/etrace_decoder.f").lines() {
        let module = format!("module {}", file.trim_end_matches(".sv"));
        assert!(read(&format!("etrace/{file}")).contains(&module), "{file}");
    }
    // Two records: a packet has at least two bytes.
    assert!(read("etrace/hartrace_records.h").contains("HARTRACE_RECORDS_PER_CYCLE 2u"));
    assert!(read("etrace/manual.md").contains("up to 3 bytes in every cycle"));
    let aligned = read("etrace/manual.md");
    place.clean("hdl --decoder etrace --config full --unroll 3 --find-sync -o any");
    assert_ne!(read("any/manual.md"), aligned);

    let said = place.clean("hdl --decoder etrace --config small --blocks 300 --analysis -o walker");
    assert!(read("walker/registers.md").contains("## "));
    assert!(read("walker/hartrace_registers.h").contains("#define HARTRACE_"));
    assert!(read("walker/td_top.f").contains("trace_analysis.sv"));
    assert!(said.contains("the top module is td_top"), "{said}");
    assert!(read("walker/manual.md").contains("| table of blocks | 512 words |"));
    assert!(read("walker/td_top.f").contains("walker_table.sv"));

    place.write("unit.toml", b"vmid_bytes = 0\ncontext_id_bytes = 0\nversion = \"5.0\"\n");
    place.clean("hdl --decoder etmv4 --unroll 2 -o etmv4");
    place.clean("hdl --decoder etmv4 --unroll 2 --config unit.toml -o small");
    assert!(read("etmv4/etmv4_decoder.sv").contains("vmid_o"));
    assert!(!read("small/etmv4_decoder.sv").contains("vmid_o"));
    // The configuration makes the same decoder again.
    place.clean("hdl --decoder etmv4 --unroll 2 --config small/config.toml -o again");
    assert_eq!(read("again/etmv4_decoder.sv"), read("small/etmv4_decoder.sv"));
}

/// The sink and the number of harts can be chosen, and the files reflect it.
#[test]
fn sinks_and_harts() {
    let place = Place::new("hdl-sinks");
    for (sink, port, page) in [
        ("axis", "tvalid_o", None),
        ("atb", "atvalid_o", Some("ATB bridge")),
        ("memory", "awvalid_o", Some("Trace RAM sink")),
        ("frames", "tvalid_o", None),
    ] {
        let said = place.clean(&format!("hdl --config micro --sink {sink} --harts 2 -o {sink}"));
        assert!(said.contains("--source 0"), "{said}");
        let read = |name: &str| std::fs::read_to_string(place.dir.join(sink).join(name)).unwrap();
        let top = read("te_top.sv");
        assert!(top.contains(port) && top.contains("hart1_itype_i"), "{sink}");
        assert!(read("te_top.f").contains("funnel_2x"), "{sink}");
        let manual = read("registers.md");
        assert_eq!(manual.contains("| 0x02000 |"), page.is_some(), "{sink}");
        assert!(page.is_none_or(|page| manual.contains(&format!("| 0x02000 | {page} |"))));
        let params = read("params.toml");
        assert!(params.contains("src-bits = 8") && !params.contains("source ="), "{params}");
        let options = format!("--params {sink}/params.toml --source 1");
        place.clean(&format!("encode run.csv {options} -o {sink}.te"));
        place.clean(&format!("stats {sink}.te {options}"));
    }
}

/// The payloads of rv_tracer: the parameters name the dialect.
#[test]
fn the_dialect_is_in_the_parameters() {
    let place = Place::new("hdl-dialect");
    place.clean("hdl --config small_bytes -o rtl");
    let params = std::fs::read_to_string(place.dir.join("rtl/params.toml")).unwrap();
    assert!(params.contains("unit = \"rv-tracer\""), "{params}");
    let line = "--params rtl/params.toml --xlen 64";
    place.clean(&format!("encode run.csv {line} -o trace"));
    let dump = place.clean(&format!("dump trace {line}"));
    assert!(dump.contains("ioptions=da"), "{dump}");
    let pcs = place.clean(&format!("decode trace {line} --image code@0x80000000 --emit pcs"));
    assert_eq!(pcs, crate::PCS);
}

#[test]
fn wrong_parameters_write_nothing() {
    let place = Place::new("hdl-errors");
    place.write("wrong.toml", b"[encoder]\nlanse = 2\n");
    place.write("raw.toml", b"encapsulation = \"reference\"\n");
    place.write("unit.toml", b"version = \"3.5\"\n");
    for (line, what, status) in [
        ("hdl --decoder etmv4 --config unit.toml -o out", "version `3.5`", 3),
        ("hdl --decoder etrace --config small_bytes -o out", "rv_tracer cannot be decoded", 2),
        ("hdl --decoder etrace --config raw.toml -o out", "only the standard encapsulation", 2),
        ("hdl --decoder etrace --unroll 9 -o out", "9 is not in 1..=8", 2),
        ("hdl --unroll 4 -o out", "--decoder", 2),
        ("sim loop --back-pressure 5", "the decoder never makes the encoder wait", 2),
        ("fpga report --decoder etmv4 --unroll 0-3 -o out", "from 1 to 8", 2),
        ("hdl --lanes 9 -o out", "lanes = 9 is not in 1..=4", 2),
        ("hdl --xlen 16 -o out", "etrace.iaddress_width_p = 16 is not in 24..=64", 2),
        ("hdl --config huge -o out", "no configuration `huge`", 2),
        ("hdl --config wrong.toml -o out", "lanse", 3),
        ("hdl --harts 17 -o out", "harts = 17 is not in 1..=16", 2),
        ("hdl --config raw.toml --harts 2 -o out", "harts = 2 from first_source = 0 needs", 2),
        ("hdl --sink usb -o out", "usb", 2),
    ] {
        let output = place.run(line);
        assert_eq!(output.status.code(), Some(status), "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains(what), "{line}: {}", stderr(&output));
        assert!(!place.dir.join("out").exists(), "{line}");
    }
}

/// The connector for a core, and software that starts and stops the encoder.
#[test]
fn with_a_core() {
    let place = Place::new("hdl-core");
    place.clean("hdl --config cva6 --core cva6 -o rtl");
    let read = |name: &str| std::fs::read_to_string(place.dir.join("rtl").join(name)).unwrap();
    let lists = [read("te_top.f"), read("cva6_te_adapter.f")];
    assert!(lists[0].contains("cva6_te_connector.sv\n") && !lists[0].contains("adapter"));
    assert!(lists[1].ends_with("cva6_te_adapter.sv\ncva6_te_bind.sv\n"));
    for file in lists.iter().flat_map(|list| list.lines()) {
        assert!(!read(file).is_empty(), "{file}");
    }
    assert!(read("Bender.yml").contains("cva6_te_connector.sv"));
    // A core with probes, of 32 bits: the adapter knows for what the connector was generated.
    place.clean("hdl --config micro --core cva6-rvfi -o rvfi");
    let read = |name: &str| std::fs::read_to_string(place.dir.join("rvfi").join(name)).unwrap();
    let list = read("cva6_te_rvfi_adapter.f");
    assert!(list.ends_with("cva6_te_rvfi_adapter.sv\ncva6_te_rvfi_bind.sv\n"), "{list}");
    let bind = read("cva6_te_rvfi_bind.sv");
    assert!(bind.contains(".Lanes         (2)") && bind.contains(".Xlen          (32)"), "{bind}");
    // One that has to wait needs slices to its bus.
    let waits = std::fs::read_to_string(place.dir.join("rtl/config.toml")).unwrap();
    std::fs::write(place.dir.join("waits.toml"), waits.replace("\"drop\"", "\"stall\"")).unwrap();
    place.clean("hdl --config waits.toml --core cva6 -o waits");
    let read = |name: &str| std::fs::read_to_string(place.dir.join("waits").join(name)).unwrap();
    let list = read("cva6_te_adapter.f");
    assert!(list.ends_with("bind.sv\nte_hold_slice.sv\ncva6_te_hold.sv\n"), "{list}");
    assert!(read("cva6_te_hold.sv").contains("core_clk_o"));
    // Its clock gate is where all cells of a technology are, and nowhere else, by whatever name.
    place.clean("hdl --config waits.toml --core cva6 --prefix big_ -o prefixed");
    for (folder, prefix) in [("waits", ""), ("prefixed", "big_")] {
        let read = |name: &str| std::fs::read_to_string(place.dir.join(folder).join(name)).unwrap();
        let files = [read(&format!("{prefix}te_top.f")), read("cva6_te_adapter.f")].concat();
        for file in files.lines() {
            let text = read(file);
            let cells = file == format!("{prefix}te_cells.sv");
            assert_eq!(text.contains("always_latch"), cells, "{file}");
            let gate = text.contains(&format!("module {prefix}te_clock_gate ("));
            assert_eq!(gate, cells, "{file}");
        }
        let hold = read(&format!("{prefix}cva6_te_hold.sv"));
        assert!(hold.contains(&format!("\nmodule {prefix}cva6_te_hold #(")), "{hold}");
        assert!(hold.contains(&format!("\n  {prefix}te_clock_gate i_clock_gate (")), "{hold}");
        assert_eq!(
            hold.matches("te_hold_slice #(").count(),
            hold.matches(&format!("  {prefix}te_hold_slice #(")).count()
        );
    }
    // Any core retires as many instructions as the encoder takes.
    place.clean("hdl --config micro --xlen 64 --core rvfi -o any");
    let read = |name: &str| std::fs::read_to_string(place.dir.join("any").join(name)).unwrap();
    assert!(read("rvfi_te_adapter.f").ends_with("rvfi_te_adapter.sv\n"));
    let adapter = read("rvfi_te_adapter.sv");
    assert!(adapter.contains(" Lanes = 1,") && adapter.contains(" Xlen = 64\n"), "{adapter}");
    assert!(read("cva6_te_connector.sv").contains("valid_i"));
    let driver = "rtl/trace.c";
    let compiler = std::process::Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-Irtl", driver])
        .current_dir(&place.dir)
        .output()
        .expect("the C compiler that Rust links with");
    assert!(compiler.status.success(), "{}", stderr(&compiler));
}

/// Buffers consist of whole words of the sink. The driver refuses others, and tells the sink the last word, so that
/// nothing behind the buffer is written.
#[test]
fn the_driver_takes_whole_words() {
    let place = Place::new("hdl-driver");
    place.clean("hdl --config small --sink memory -o rtl");
    let files = ["rtl/trace.c", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands/driver.c")];
    let compiler = std::process::Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-Irtl", "-o", "driver"])
        .args(files)
        .current_dir(&place.dir)
        .output()
        .expect("the C compiler that Rust links with");
    assert!(compiler.status.success(), "{}", stderr(&compiler));
    for (buffer, size, printed) in [
        // Result, start, last word, and how often a run of null packets is put in.
        ("0x1000", "0x400", "0 0x1000 0x13f8 2"),
        ("0x1008", "0x3e8", "0 0x1008 0x13e8 1"),
        ("0x1000", "8", "0 0x1000 0x1000 1"),
        ("0x1000", "0x100000", "0 0x1000 0x100ff8 7"),
        ("0x1004", "0x400", "-3 0 0 0"),
        ("0x1000", "0x3ec", "-3 0 0 0"),
        ("0x1000", "0", "-3 0 0 0"),
    ] {
        let output = std::process::Command::new(place.dir.join("driver"))
            .args([buffer, size])
            .output()
            .expect("it was compiled");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text.trim_end(), printed, "{size} bytes at {buffer}");
    }
}

/// Whatever registers hold, the driver ends, touches nothing but registers, and reports only bytes of the buffer.
#[test]
fn the_driver_does_not_trust_registers() {
    let place = Place::new("hdl-hostile");
    place.clean("hdl --config linux --sink memory -o rtl");
    let test = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands/hostile.c");
    let compile = |sanitizers: &[&str]| {
        std::process::Command::new("cc")
            .args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-Irtl", "-o", "hostile"])
            .args(sanitizers)
            .args(["rtl/trace.c", test])
            .current_dir(&place.dir)
            .output()
            .expect("the C compiler that Rust links with")
    };
    // Where the sanitizers are not installed, results are checked all the same.
    let mut compiler =
        compile(&["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-static-libasan"]);
    if !compiler.status.success() {
        compiler = compile(&[]);
    }
    assert!(compiler.status.success(), "{}", stderr(&compiler));
    let hostile = std::process::Command::new(place.dir.join("hostile"));
    let output = { hostile }.output().expect("it was compiled");
    assert!(output.status.success(), "{}{}", stderr(&output), stdout(&output));
    println!("{}", stdout(&output));
}

/// The table of blocks in both forms, and what does not fit.
#[test]
fn tables_for_the_walker() {
    let place = Place::new("hdl-image");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/elf/calls.elf");
    let program = program.display();
    let said = place.clean(&format!("image {program} -o table.hex --entries 512 --reach 64"));
    let text = std::fs::read_to_string(place.dir.join("table.hex")).unwrap();
    let (comment, words) = text.split_once('\n').unwrap();
    assert_eq!(comment, format!("// {}", said.trim_end()));
    let entries: usize = said.split_once(' ').unwrap().0.parse().unwrap();
    assert_eq!(words.lines().count(), entries);
    let json = place
        .clean(&format!("image {program} -o table.bin --binary --json --entries 512 --reach 64"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let width = json["width"].as_u64().unwrap();
    assert_eq!((json["depth"].as_u64(), json["base"].as_u64()), (Some(512), Some(0x8000_0000)));
    // The same words: hexadecimal numbers have the highest digit first, bytes the lowest.
    let bytes = std::fs::read(place.dir.join("table.bin")).unwrap();
    let size = width.div_ceil(8) as usize;
    for (line, word) in words.lines().zip(bytes.chunks(size)) {
        let value = word.iter().rev().fold(0u128, |value, byte| value << 8 | u128::from(*byte));
        assert_eq!(u128::from_str_radix(line, 16).unwrap(), value);
    }
    assert_eq!(bytes.len(), entries * size);
    let output = place.run(&format!("image {program} --entries 4"));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--entries 256 or more"), "{}", stderr(&output));
}
