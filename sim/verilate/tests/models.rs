//! Models are built with Verilator and behave as the designs they are of.
//!
//! Ignored where Verilator or the C++ compiler is missing.

mod designs;

use designs::{adder, broken, counter, echo, oscillator};
use hartrace_rtl::Bits;
use hartrace_verilate::{
    Design, Mode, Model, Options, SimError, Simulation, available, with_waves_of_failure,
};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::ExitCode;
use std::{fs, thread};

type Test = fn() -> Result<(), Failed>;

/// Name of threads that are expected to panic, and say nothing then.
const QUIET: &str = "quiet";

fn main() -> ExitCode {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if thread::current().name() != Some(QUIET) {
            hook(info);
        }
    }));
    let tests: [(&str, Test); 20] = [
        ("counter/outputs-before-and-after-the-edge", before_and_after),
        ("counter/fast-is-as-checked", fast_is_as_checked),
        ("counter/reset-counts-from-zero", reset),
        ("counter/instances-do-not-share-state", instances),
        ("counter/instances-run-in-threads", threads),
        ("adder/outputs-follow-inputs-without-a-clock", combinational),
        ("echo/wide-ports", wide_ports),
        ("echo/what-does-not-fit-panics", does_not_fit),
        ("seed/unknown-values-depend-on-it", seeds),
        ("assertion/is-an-error", assertion),
        ("assertion/is-not-checked-in-fast-mode", assertion_off),
        ("loop/is-an-error-and-stays-one", does_not_settle),
        ("waves/are-written", waves),
        ("waves/of-a-failure", waves_of_failure),
        ("waves/need-a-model-with-waves", waves_missing),
        ("cache/second-build-is-found", cache_hit),
        ("cache/damaged-is-built-again", cache_damaged),
        ("cache/built-twice-at-once", cache_race),
        ("files/ports-parameters-and-includes", files),
        ("files/errors-of-the-tool-are-passed-on", tool_errors),
    ];
    let trials = tests.map(|(name, test)| Trial::test(name, test).with_ignored_flag(!available()));
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit_code()
}

fn checked() -> Options {
    Options::default()
}

fn in_folder(folder: &Path) -> Options {
    Options { cache: Some(folder.to_owned()), ..Options::default() }
}

fn before_and_after() -> Result<(), Failed> {
    let mut sim = Simulation::build(&counter(8), &checked())?;
    let (enable, count, next) =
        (sim.input("enable_i")?, sim.output("count_o")?, sim.output("next_o")?);
    sim.reset()?;
    for i in 0..5 {
        sim.set(enable, 1);
        sim.step()?;
        assert_eq!((sim.get(count), sim.get(next)), (i, i + 1), "before the edge");
    }
    sim.set(enable, 0);
    assert_eq!(sim.get(count), 4, "nothing changes without a call");
    sim.settle()?;
    assert_eq!((sim.get(count), sim.get(next)), (5, 5));
    sim.set(enable, 1);
    sim.settle()?;
    assert_eq!((sim.get(count), sim.get(next)), (5, 6), "combinational");
    sim.clock()?;
    assert_eq!((sim.get(count), sim.get(next)), (6, 7), "after the edge");
    sim.set(enable, 0);
    sim.clock()?;
    assert_eq!((sim.get(count), sim.get(next)), (6, 6), "inputs are applied before the edge");
    assert_eq!(sim.cycle(), 7);
    Ok(())
}

fn fast_is_as_checked() -> Result<(), Failed> {
    let counter = counter(9);
    let mut fast = Simulation::build(&counter, &Options::fast())?;
    let mut checked = Simulation::build(&counter, &checked())?;
    fast.reset()?;
    checked.reset()?;
    let (input, output) = ("enable_i", "count_o");
    let (f, c) = (
        (fast.input(input)?, fast.output(output)?),
        (checked.input(input)?, checked.output(output)?),
    );
    let mut random = 1u64;
    for cycle in 0..2000 {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        fast.set(f.0, random >> 63);
        checked.set(c.0, random >> 63);
        fast.step()?;
        checked.step()?;
        assert_eq!(fast.get(f.1), checked.get(c.1), "cycle {cycle}");
    }
    assert_ne!(fast.get(f.1), 0);
    Ok(())
}

fn reset() -> Result<(), Failed> {
    let mut sim = Simulation::build(&counter(8), &checked())?;
    let (enable, count) = (sim.input("enable_i")?, sim.output("count_o")?);
    sim.set(enable, 1);
    for _ in 0..2 {
        sim.reset()?;
        assert_eq!((sim.get(count), sim.cycle()), (0, 0));
        for i in 1..4 {
            sim.clock()?;
            assert_eq!((sim.get(count), sim.cycle()), (i, i));
        }
    }
    // The reset is an input like others, too; it is asynchronous.
    let reset = sim.input("rst_ni")?;
    sim.set(reset, 0);
    sim.settle()?;
    assert_eq!(sim.get(count), 0);
    let error = sim.input("clk_i").unwrap_err().to_string();
    assert_eq!(error, "counter has no input clk_i; it has rst_ni, enable_i");
    let error = sim.output("sum_o").unwrap_err().to_string();
    assert_eq!(error, "counter has no output sum_o; it has count_o, next_o");
    Ok(())
}

fn instances() -> Result<(), Failed> {
    let model = Model::build(&counter(8), &checked())?;
    let (enable, count) = (model.input("enable_i")?, model.output("count_o")?);
    let (mut a, mut b) = (model.start(0)?, model.start(0)?);
    a.reset()?;
    b.reset()?;
    a.set(enable, 1);
    for _ in 0..3 {
        a.clock()?;
        b.clock()?;
    }
    assert_eq!((a.get(count), b.get(count)), (3, 0));
    drop(a);
    b.set(enable, 1);
    b.clock()?;
    assert_eq!(b.get(count), 1);
    Ok(())
}

/// Also moves simulations from one thread to another.
fn threads() -> Result<(), Failed> {
    let model = Model::build(&counter(16), &checked())?;
    let (enable, count) = (model.input("enable_i")?, model.output("count_o")?);
    let mut sims = Vec::new();
    for _ in 0..4 {
        let mut sim = model.start(0)?;
        sim.reset()?;
        sims.push(sim);
    }
    let threads: Vec<_> = sims
        .into_iter()
        .map(|mut sim| {
            thread::spawn(move || {
                sim.set(enable, 1);
                (0..20_000).try_for_each(|_| sim.clock()).map(|()| sim)
            })
        })
        .collect();
    for thread in threads {
        let sim = thread.join().map_err(|_| "a thread panicked")??;
        assert_eq!(sim.get(count), 20_000);
    }
    Ok(())
}

fn combinational() -> Result<(), Failed> {
    let mut sim = Simulation::build(&adder(33), &checked())?;
    let (a, b, sum) = (sim.input("a_i")?, sim.input("b_i")?, sim.output("sum_o")?);
    for (x, y) in [(1, 2), (0x1_ffff_ffff, 1), (0x1_2345_6789, 0x0_fedc_ba98)] {
        sim.set(a, x);
        sim.set(b, y);
        sim.settle()?;
        assert_eq!(sim.get(sum), x + y);
    }
    assert!(matches!(sim.clock(), Err(SimError::NoClock(_))));
    assert!(matches!(sim.reset(), Err(SimError::NoReset(_))));
    Ok(())
}

/// Ports of every class of widths that Verilator has, and one bit around their limits.
fn wide_ports() -> Result<(), Failed> {
    let widths = [1, 7, 8, 9, 16, 17, 32, 33, 63, 64, 65, 96, 97, 128, 129, 160, 200, 1000];
    let mut sim = Simulation::build(&echo(&widths), &checked())?;
    sim.reset()?;
    let mut bit = 0u64;
    let mut values = Vec::new();
    for width in widths {
        // Some bits that are neither regular nor the same for two ports.
        let bits = (0..width).map(|_| {
            bit += 1;
            ((bit * bit * 0x9e37) >> 5) & 1 == 1 || bit.is_multiple_of(7)
        });
        values.push(Bits::from_bits(&bits.collect::<Vec<_>>()));
    }
    for (width, value) in widths.iter().zip(&values) {
        let input = sim.input(&format!("in{width}_i"))?;
        assert_eq!(input.width(), *width);
        sim.set_bits(input, value);
    }
    sim.clock()?;
    for (width, value) in widths.iter().zip(&values) {
        let plain = sim.output(&format!("out{width}_o"))?;
        let inverted = sim.output(&format!("inverted{width}_o"))?;
        assert_eq!(sim.get_bits(plain), *value);
        assert_ne!(sim.get_bits(inverted), *value);
        let flipped: Vec<_> = value.as_slice().iter().map(|bit| !bit).collect();
        assert_eq!(sim.get_bits(inverted), Bits::from_bits(&flipped));
    }
    let (input, output) = (sim.input("in129_i")?, sim.output("out129_o")?);
    sim.set_wide(input, &[1, 2, 1]);
    sim.clock()?;
    assert_eq!(sim.get_wide(output), [1, 2, 1]);
    sim.set(input, 5);
    sim.clock()?;
    assert_eq!(sim.get_wide(output), [5, 0, 0], "what is not given is zero");
    Ok(())
}

fn does_not_fit() -> Result<(), Failed> {
    let model = Model::build(&echo(&[7, 64, 129]), &checked())?;
    let (narrow, wide) = (model.input("in7_i")?, model.input("in129_i")?);
    let output = model.output("out129_o")?;
    let panics = |test: &(dyn Fn(&mut Simulation) + Sync)| -> Result<bool, Failed> {
        let mut sim = model.start(0)?;
        let thread = thread::Builder::new().name(QUIET.to_owned());
        Ok(thread::scope(|scope| {
            thread.spawn_scoped(scope, || test(&mut sim)).map(|thread| thread.join().is_err())
        })?)
    };
    assert!(panics(&|sim| sim.set(narrow, 128))?);
    assert!(!panics(&|sim| sim.set(narrow, 127))?);
    assert!(panics(&|sim| sim.set_wide(wide, &[0, 0, 2]))?);
    assert!(panics(&|sim| sim.set_wide(wide, &[0, 0, 0, 1]))?);
    assert!(!panics(&|sim| sim.set_wide(wide, &[1, 2, 1, 0]))?);
    assert!(panics(&|sim| sim.set_bits(wide, &Bits::zero(128)))?);
    assert!(panics(&|sim| assert_eq!(sim.get(output), 0))?, "see get_wide");
    assert!(!panics(&|sim| assert_eq!(sim.get_wide(output), [0, 0, 0]))?);
    // Every build is a model of its own.
    let other = Model::build(&echo(&[7, 64, 129]), &checked())?;
    let (narrow, output) = (other.input("in7_i")?, other.output("out129_o")?);
    assert!(panics(&|sim| sim.set(narrow, 0))?);
    assert!(panics(&|sim| assert_eq!(sim.get_wide(output), [0, 0, 0]))?);
    Ok(())
}

/// `kept129_o` is a register without reset that is never written.
fn seeds() -> Result<(), Failed> {
    let model = Model::build(&echo(&[129]), &checked())?;
    let kept = model.output("kept129_o")?;
    let value = |seed| -> Result<_, SimError> {
        let mut sim = model.start(seed)?;
        sim.reset()?;
        Ok(sim.get_bits(kept))
    };
    assert_eq!(value(1)?, value(1)?);
    let different: std::collections::HashSet<_> = (0..20).map(value).collect::<Result<_, _>>()?;
    assert!(different.len() >= 10, "{} of 20", different.len());
    let mut fast = Simulation::build(&echo(&[129]), &Options::fast())?;
    let kept = fast.output("kept129_o")?;
    fast.reset()?;
    assert!(!fast.get_bits(kept).any());
    Ok(())
}

fn assertion() -> Result<(), Failed> {
    let mut sim = Simulation::build(&broken(), &checked())?;
    let count = sim.output("count_o")?;
    sim.reset()?;
    for _ in 0..10 {
        sim.step()?;
    }
    match sim.step() {
        Err(SimError::Failed { name, message, cycle: 10 }) => {
            assert_eq!(name, "broken.i_counter.count_is_small");
            assert!(
                message.contains("'assert' failed") && message.contains("counter.sv:"),
                "{message}"
            );
        }
        other => return Err(format!("{other:?}").into()),
    }
    // It goes on, and fails again.
    assert!(matches!(sim.step(), Err(SimError::Failed { cycle: 11, .. })));
    assert_eq!(sim.get(count), 11);
    let printed = sim.printed();
    assert_eq!(printed.lines().count(), 2, "{printed}");
    assert_eq!(sim.printed(), "");
    sim.reset()?;
    sim.step()?;
    Ok(())
}

fn assertion_off() -> Result<(), Failed> {
    let mut sim = Simulation::build(&broken(), &Options::fast())?;
    sim.reset()?;
    for _ in 0..20 {
        sim.step()?;
    }
    Ok(())
}

fn does_not_settle() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let design = oscillator(folder.path())?;
    let mut sim = Simulation::build(&design, &checked())?;
    let enable = sim.input("enable_i")?;
    sim.settle()?;
    sim.set(enable, 1);
    for _ in 0..2 {
        match sim.settle() {
            Err(SimError::Stopped { message, .. }) => {
                assert!(message.contains("did not converge"), "{message}");
            }
            other => return Err(format!("{other:?}").into()),
        }
    }
    Ok(())
}

fn waves() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("counter.fst");
    let options = Options { waves: true, ..checked() };
    let mut sim = Simulation::build(&counter(8), &options)?;
    let enable = sim.input("enable_i")?;
    sim.waves(&file)?;
    sim.reset()?;
    sim.set(enable, 1);
    (0..1000).try_for_each(|_| sim.step())?;
    drop(sim);
    let idle = fs::metadata(&file)?.len();
    assert!(idle > 500, "{idle} bytes");

    let nowhere = folder.path().join("no/such/folder.fst");
    let error = Simulation::build(&counter(8), &options)?.waves(&nowhere).unwrap_err();
    assert!(error.to_string().starts_with("cannot create "), "{error}");
    Ok(())
}

fn waves_missing() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut sim = Simulation::build(&counter(8), &checked())?;
    let error = sim.waves(&folder.path().join("x.fst")).unwrap_err();
    assert_eq!(error.to_string(), "counter was built without waves; set Options::waves");
    Ok(())
}

fn waves_of_failure() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("failure.fst");
    let run = |cycles: u64, file: &Path| {
        with_waves_of_failure(&broken(), &checked(), file, |sim| -> Result<(), SimError> {
            sim.reset()?;
            (0..cycles).try_for_each(|_| sim.step())
        })
    };
    assert!(run(10, &file).is_ok());
    assert!(!file.exists(), "no waves of what passes");
    let failure = run(20, &file).unwrap_err();
    assert!(matches!(failure.error, SimError::Failed { cycle: 10, .. }), "{failure}");
    assert!(failure.to_string().ends_with(&format!("waves: {}", file.display())), "{failure}");
    assert!(fs::metadata(&file)?.len() > 300);

    let first = std::cell::Cell::new(true);
    let failure = with_waves_of_failure(&broken(), &checked(), &file, |sim| {
        sim.reset()?;
        if first.replace(false) { Err(SimError::NoReset("once".into())) } else { Ok(()) }
    });
    assert_eq!(failure.unwrap_err().waves.unwrap_err(), "the second run did not fail");
    Ok(())
}

fn cache_hit() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let options = in_folder(folder.path());
    let first = Model::build(&counter(8), &options)?;
    assert!(!first.cached());
    let built = fs::metadata(first.library())?.modified()?;
    let again = Model::build(&counter(8), &options)?;
    assert!(again.cached());
    assert_eq!(again.library(), first.library());
    assert_eq!(fs::metadata(again.library())?.modified()?, built);
    // Of another design, or with other options, it is another model. A seed makes no difference.
    assert!(!Model::build(&counter(9), &options)?.cached());
    assert!(!Model::build(&counter(8), &Options { mode: Mode::Fast, ..options.clone() })?.cached());
    assert!(Model::build(&counter(8), &Options { seed: 7, ..options })?.cached());
    Ok(())
}

fn cache_damaged() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let options = in_folder(folder.path());
    let library = Model::build(&counter(8), &options)?.library().to_owned();
    // Another file, for the library is in use.
    let half = fs::read(&library)?;
    fs::remove_file(&library)?;
    fs::write(&library, &half[..half.len() / 2])?;
    let model = Model::build(&counter(8), &options)?;
    assert!(!model.cached());
    let mut sim = model.start(0)?;
    sim.reset()?;
    sim.clock()?;
    assert!(Model::build(&counter(8), &options)?.cached());
    Ok(())
}

fn cache_race() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let options = in_folder(folder.path());
    // So that the threads do not wait for each other to compile the runtime.
    Model::build(&counter(7), &options)?;
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let options = options.clone();
            thread::spawn(move || Model::build(&counter(8), &options).map(|model| model.cached()))
        })
        .collect();
    for thread in threads {
        thread.join().map_err(|_| "a thread panicked")??;
    }
    assert!(Model::build(&counter(8), &options)?.cached());
    let unfinished = fs::read_dir(folder.path())?
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("building-"));
    assert_eq!(unfinished.count(), 0);
    Ok(())
}

fn files() -> Result<(), Failed> {
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
    let model = Model::build(&design, &checked())?;
    let ports = |ports: &[hartrace_verilate::ModelPort]| {
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

    // An included file counts, too.
    assert!(Model::build(&design, &checked())?.cached());
    fs::write(&header, "`define EXTRA 2\n")?;
    let model = Model::build(&design, &checked())?;
    assert!(!model.cached());
    assert_eq!(ports(model.outputs()), [("old_data".into(), 72)]);
    assert_eq!(model.start(0)?.output("old_data")?.width(), 72);
    Ok(())
}

fn tool_errors() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("typo.sv");
    let build = |text: &str| -> Result<String, Failed> {
        fs::write(&source, text)?;
        match Model::build(Design::files("typo", [&source]), &checked()) {
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
