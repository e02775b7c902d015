//! The number of instructions that the decoder executes per instruction it decodes, counted by
//! Callgrind: a figure that does not depend on the machine. Requires `valgrind`.
//!
//! The benchmark runs itself under valgrind, with the stream once and three times. The first is the
//! cost with nothing decoded before, including the start of the process; the difference is the cost
//! in a long trace.

use crate::input::{Input, Visit, decode, follow_calls};
use hartrace_decoder::{Count, Coverage, Edges};
use std::hint::black_box;
use std::process::Command;

/// Tells the benchmark under valgrind what to do.
const TASK: &str = "HARTRACE_TASK";

/// Does one piece of work if the environment requests it; returns whether it does.
pub(crate) fn run_task(inputs: &[Input]) -> bool {
    let Ok(task) = std::env::var(TASK) else { return false };
    let mut words = task.split(',');
    let mut next = || words.next().expect("input, work and times");
    let (name, work, times) = (next(), next(), next());
    let input = inputs.iter().find(|input| input.name == name).expect("an input");
    run(input, work, times.parse().expect("a number"));
    true
}

/// Prints the figures for an input.
pub(crate) fn measure(input: &Input) {
    let visit: Visit = decode(input, &input.image(), 1, 1, Visit::join);
    println!("{}: instructions per instruction, once and in a long trace", input.name);
    for work in ["addresses", "counting", "edges", "coverage", "call stacks"] {
        let Some((once, thrice)) = count(&input.name, work, 1).zip(count(&input.name, work, 3))
        else {
            println!("  valgrind cannot be run: no figures");
            return;
        };
        let per = |instructions: f64| instructions / visit.instructions as f64;
        println!("  ours, {work:<26} {:9.2} {:9.2}", per(once), per((thrice - once) / 2.0));
    }
}

fn run(input: &Input, work: &str, times: usize) {
    let image = input.image();
    match work {
        "addresses" => drop(black_box(decode::<Visit>(input, &image, times, 1, Visit::join))),
        "counting" => {
            let join = |all: &mut Count, next: Count| all.instructions += next.instructions;
            black_box(decode::<Count>(input, &image, times, 1, join));
        }
        "edges" => {
            let edges = decode::<Edges>(input, &image, times, 1, |all, next| all.merge(next));
            black_box(edges.sorted());
        }
        "call stacks" => drop(black_box(follow_calls(input, &image, times, &input.functions()))),
        _ => {
            let join = |all: &mut Coverage, next: Coverage| all.merge(&next);
            black_box(decode::<Coverage>(input, &image, times, 1, join).bytes());
        }
    }
}

/// Instructions for one piece of work; `None` without valgrind.
fn count(input: &str, work: &str, times: usize) -> Option<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().ok()?)
        .env(TASK, format!("{input},{work},{times}"))
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}
