//! Leaf blocks described in rust-hdl are equal to the generated ones: from reset on, outputs never
//! differ, whatever the inputs. Yosys and its ABC prove it without a bound on time; each proof must
//! also find mistakes.
//!
//! Ignored without yosys.

mod miter;

use hartrace_encoder_hdl::transport::{fifo, spill};
use hartrace_encoder_hdl::{Config, encoder};
use hartrace_rtl::{Component, Module};
use hartrace_rust_hdl::leaves::{BranchMap, CallCounter, Fifo, Spill};
use hartrace_rust_hdl::{EmitError, check_ports, verilog};
use libtest_mimic::{Arguments, Failed, Trial};
use miter::Miter;
use rust_hdl_core::prelude::*;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let has = |command: &str, args: &[&str]| {
        Command::new(command).args(args).output().is_ok_and(|output| output.status.success())
    };
    let missing = !has("yosys", &["-V"]) || !has("yosys-abc", &["-c", "version"]);
    let mut trials = Vec::new();
    let mut equal = |name: &str, pair: fn() -> Result<Pair, Failed>, mistakes: &[Mistake]| {
        let test = move || pair().and_then(|pair| pair.prove());
        trials.push(Trial::test(name, test).with_ignored_flag(missing));
        assert!(!mistakes.is_empty(), "{name}: nothing shows that it can fail");
        for (i, &mistake) in mistakes.iter().enumerate() {
            let test = move || pair().and_then(|pair| pair.refute(mistake));
            let name = format!("{name}_refuted_{i}");
            trials.push(Trial::test(name, test).with_ignored_flag(missing));
        }
    };
    let map_mistakes = [
        // One branch too late, in the last place, with the wrong outcome, from the wrong side of the cut.
        ("seen$0 >= last", "seen$0 > last"),
        ("localparam  first = 31'h1", "localparam  first = 31'h2"),
        ("if (not_taken$0 != no_slot)", "if (branch$0 != no_slot)"),
        ("if (flush_i)", "if (1'b0)"),
    ];
    equal("branch_map_of_1", || branch_map::<1>("micro"), &map_mistakes);
    equal("branch_map_of_2", || branch_map::<2>("small"), &map_mistakes);
    let counter_mistakes =
        [("localparam  most = 3'b111", "localparam  most = 3'b110"), ("kept - one", "kept + one")];
    equal("call_counter", call_counter, &counter_mistakes);
    let spill_mistakes =
        [("older$d = newer$q", "older$d = data_i"), ("some$d = both$q", "some$d = 1'b1")];
    equal("spill", || Pair::new(spill(4), &mut Spill::<4>::default()), &spill_mistakes);
    let fifo_mistakes = [
        ("words$1$d = words$2$q", "words$1$d = words$3$q"),
        ("localparam  most = 3'b100", "localparam  most = 3'b11"),
    ];
    equal("fifo", || Pair::new(fifo(3, 4), &mut Fifo::<3, 4, 3>::default()), &fifo_mistakes);
    // Not a power of two.
    let odd_mistakes = [("left == places$2", "left == places$1")];
    equal("fifo_of_3", || Pair::new(fifo(2, 3), &mut Fifo::<2, 3, 2>::default()), &odd_mistakes);
    trials.push(
        Trial::test("rust_hdl_keeps_carries", rust_hdl_keeps_carries).with_ignored_flag(missing),
    );
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A text in the output of rust-hdl, and its replacement.
type Mistake = (&'static str, &'static str);

/// A generated block and its description in rust-hdl.
struct Pair {
    ours: Component,
    theirs: String,
    /// The legal inputs.
    legal: &'static str,
}

impl Pair {
    fn new<B: Block>(ours: Component, theirs: &mut B) -> Result<Self, Failed> {
        check_ports(theirs, &ours)?;
        let theirs = verilog(theirs).map_err(|error: EmitError| error.to_string())?;
        Ok(Self { ours, theirs, legal: "assign legal = 1'b1;" })
    }

    fn prove(&self) -> Result<(), Failed> {
        match Miter::new(&self.ours, self.legal).differs(&self.theirs)? {
            None => Ok(()),
            Some(cycle) => Err(format!("they differ in cycle {cycle}\n{}", self.theirs).into()),
        }
    }

    fn refute(&self, (from, to): Mistake) -> Result<(), Failed> {
        if !self.theirs.contains(from) {
            return Err(format!("no text {from:?} to change in\n{}", self.theirs).into());
        }
        let wrong = self.theirs.replace(from, to);
        match Miter::new(&self.ours, self.legal).differs(&wrong)? {
            Some(_) => Ok(()),
            None => Err(format!("{to:?} for {from:?} was not found").into()),
        }
    }
}

/// A module within the encoder of a configuration.
fn within(config: &Config, name: &str) -> Result<Component, Failed> {
    fn find(component: &Component, name: &str) -> Option<Component> {
        if component.name() == name {
            return Some(component.clone());
        }
        component.children().iter().find_map(|child| find(child, name))
    }
    Ok(find(&encoder(config)?, name).ok_or_else(|| format!("there is no {name}"))?)
}

/// The branches of a packet must fit into it, slots after the cut need a packet, and slot 0 is
/// before the cut.
const MAP_LEGAL: &str = "\
logic [5:0] count, before, behind;
  always_comb begin
    before = count;
    behind = 6'd0;
    for (int i = 0; i < $bits(push_i); i++) begin
      if (push_i[i] && !cut_i[i]) before = before + 6'd1;
      if (push_i[i] && cut_i[i]) behind = behind + 6'd1;
    end
  end
  initial count = 6'd0;
  always_ff @(posedge clk_i) if (rst_ni && (flush_i || moves_i)) count <= flush_i ? behind : before;
  assign legal = before <= 6'd31 && (flush_i || behind == 6'd0) && !cut_i[0];";

fn branch_map<const N: usize>(config: &str) -> Result<Pair, Failed> {
    let config = Config::named(config).ok_or_else(|| format!("no configuration {config}"))?;
    let ours = within(&config, "te_branch_map")?;
    Ok(Pair { legal: MAP_LEGAL, ..Pair::new(ours, &mut BranchMap::<N>::default())? })
}

fn call_counter() -> Result<Pair, Failed> {
    let mut config = Config::default();
    config.etrace.call_counter_size_p = 3;
    Pair::new(within(&config, "te_return_stack")?, &mut CallCounter::<3>::default())
}

/// Shows why the rules of `leaves` are needed: a sum that is cast keeps the carry that its type
/// does not have.
fn rust_hdl_keeps_carries() -> Result<(), Failed> {
    let m = Module::new("sum", "Modulo 256.");
    let (a, b) = (m.input("a_i", 8, ""), m.input("b_i", 8, ""));
    let sum_o = m.output("sum_o", 9, "");
    m.assign(&sum_o, (&a + &b).zext(9));
    let pair = Pair::new(m.finish(), &mut Sum::default())?;
    match Miter::new(&pair.ours, pair.legal).differs(&pair.theirs)? {
        Some(_) => Ok(()),
        None => Err("rust-hdl casts sums as it should by now: docs/design/rust-hdl.md".into()),
    }
}

#[derive(Clone, Debug, Default, LogicBlock)]
struct Sum {
    a_i: Signal<In, Bits<8>>,
    b_i: Signal<In, Bits<8>>,
    sum_o: Signal<Out, Bits<9>>,
}

impl Logic for Sum {
    #[hdl_gen]
    fn update(&mut self) {
        self.sum_o.next = bit_cast::<9, 8>(self.a_i.val() + self.b_i.val());
    }
}
