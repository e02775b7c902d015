//! Coverage of the random programs, so that no instruction disappears from them unnoticed.

use super::hart;
use hartrace_etrace::ingress::IType;
use hartrace_iss::{AccessKind, Retire, Step};
use hartrace_tests::random::{Target, generate, instructions};
use std::collections::BTreeMap;
use std::ops::Range;

/// The number of times that each instruction has to be executed.
const TIMES: u64 = 10;

/// Instructions and situations that are not in the tables.
const OTHERS: [&str; 21] = [
    "jal",
    "jalr",
    "c.j",
    "c.jr",
    "c.jalr",
    "c.addi16sp",
    "c.beqz taken",
    "c.beqz not taken",
    "c.bnez taken",
    "c.bnez not taken",
    "lr",
    "sc succeeds",
    "sc fails",
    "misaligned load",
    "misaligned store",
    "csr fflags",
    "csri fflags",
    "csrrwi frm",
    "csrr",
    "csr",
    "fence",
];

struct Counts<'a> {
    names: &'a [(u64, &'static str)],
    counts: &'a mut BTreeMap<String, u64>,
}

impl Retire for Counts<'_> {
    const DETAIL: bool = true;

    fn retire(&mut self, step: &Step) {
        let found = self.names.binary_search_by_key(&step.pc, |(at, _)| *at);
        let name = found.map_or("?", |at| self.names[at].1);
        let outcome = match (step.kind, name, step.write) {
            (IType::Taken, ..) => " taken",
            (IType::NotTaken, ..) => " not taken",
            (_, "sc", Some((_, 0))) => " succeeds",
            (_, "sc", Some(_)) => " fails",
            _ => "",
        };
        let mut count = |what: String| *self.counts.entry(what).or_default() += 1;
        count(format!("{name}{outcome}"));
        if let Some(access) = step.access.filter(|a| a.address % u64::from(a.size) != 0) {
            let load = access.kind == AccessKind::Load;
            count(format!("misaligned {}", if load { "load" } else { "store" }));
        }
    }
}

/// Checks that the programs of these seeds execute every instruction.
pub(crate) fn covers(xlen: u32, seeds: Range<u64>) -> Result<(), String> {
    let mut counts = BTreeMap::new();
    for seed in seeds {
        let program = generate(Target::linux(xlen), seed);
        let mut sink = Counts { names: &program.names, counts: &mut counts };
        hart(&program, xlen)?.0.run(u64::MAX, &mut sink);
    }
    let mut wanted: Vec<String> = OTHERS.map(str::to_owned).into();
    if xlen == 32 {
        wanted.push("c.jal".to_owned());
    }
    wanted.extend(instructions(xlen));
    println!("rv{xlen}: {} instructions and outcomes wanted, {} seen", wanted.len(), counts.len());
    wanted.retain(|name| counts.get(name).is_none_or(|&count| count < TIMES));
    if wanted.is_empty() { Ok(()) } else { Err(format!("too seldom or never: {wanted:?}")) }
}
