//! Functions are told apart: by address if they have one name, and those that were inlined from those that were not.

use hartrace::{Call, Capture, FunctionTotal};
use hartrace_tests::captures::{Folder, trace_elf};
use std::collections::{BTreeMap, BTreeSet};

const ELF: &[u8] = include_bytes!("../../tests/programs/elf/debug/sort.elf");

/// Traces a program; returns its capture.
fn traced(folder: &Folder, elf: &[u8]) -> Capture {
    hartrace::open(trace_elf(folder, "sort", elf, "delta", 200_000)).unwrap()
}

fn totals(capture: &Capture) -> Vec<FunctionTotal> {
    capture.functions().unwrap().complete().unwrap()
}

/// How often each function was entered, by its name, its address and whether it was inlined.
fn entered(capture: &Capture) -> BTreeMap<(String, u64, bool), u64> {
    let mut found = BTreeMap::new();
    let (mut open, mut left) = (Vec::new(), 0);
    for call in capture.calls() {
        match call.unwrap() {
            Call::Enter { function, .. } => {
                let key = (function.name.clone(), function.address, function.inlined);
                *found.entry(key).or_default() += 1;
                open.push(function);
            }
            Call::Resume { function, .. } => open.push(function),
            Call::Leave { function, .. } => {
                assert_eq!(open.pop(), Some(function));
                left += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(open.is_empty() && left > 100);
    found
}

#[test]
fn inlined_functions_are_marked() {
    let folder = Folder::new("inlined");
    let capture = traced(&folder, ELF);
    let (totals, entered) = (totals(&capture), entered(&capture));
    // As debug information has them.
    let sources = capture.programs().sources();
    let mut copies: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for instance in sources.instances().iter().filter(|instance| instance.call.is_some()) {
        let name = &sources.function(instance.function).unwrap().name;
        copies.entry(name).or_default().insert(instance.entry);
    }
    for (name, address, inlined) in entered.keys() {
        if *inlined {
            assert!(copies[&**name].contains(address), "{name} {address:#x}");
        } else {
            assert_eq!(capture.function_at(*address).as_deref(), Some(&**name));
        }
    }
    for total in &totals {
        let FunctionTotal { name, address, inlined, calls, .. } = total;
        let same = entered.iter().filter(|((other, at, copy), _)| {
            other == name && copy == inlined && (*inlined || at == address)
        });
        assert_eq!(same.map(|(_, times)| times).sum::<u64>(), *calls, "{total:?}");
        if *inlined {
            assert!(copies[&**name].contains(address), "{total:?}");
        }
    }
    let of = |name: &str| totals.iter().find(|total| total.name == name).expect(name).inlined;
    assert!(of("random32") && !of("by_key"), "{totals:?}");
}

/// Gives the symbol of a static function the name of another one. Returns the program, and the addresses of both.
fn with_one_name(elf: &[u8], executed: &BTreeSet<u64>) -> (Vec<u8>, [u64; 2]) {
    let number = |at: usize, size: usize| {
        elf[at..at + size].iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)) as usize
    };
    let (sections, count) = (number(0x28, 8), number(0x3c, 2));
    let symtab = (0..count).map(|index| sections + index * 0x40);
    let symtab = symtab.into_iter().find(|at| number(at + 4, 4) == 2).expect("it has symbols");
    let (start, size) = (number(symtab + 0x18, 8), number(symtab + 0x20, 8));
    // The type is that of functions, which is 2, and the binding that of static ones, which is 0.
    let symbols = (start..start + size).step_by(0x18).filter(|at| elf[at + 4] == 2);
    let symbols = symbols.map(|at| (at, number(at + 8, 8) as u64));
    let symbols: Vec<_> = symbols.filter(|(_, address)| executed.contains(address)).collect();
    let [(first, one), (second, other), ..] = symbols[..] else { panic!("{symbols:?}") };
    let mut renamed = elf.to_vec();
    renamed.copy_within(first..first + 4, second);
    (renamed, [one, other])
}

#[test]
fn functions_of_one_name_are_two() {
    let folder = Folder::new("one-name");
    let before = totals(&traced(&folder, ELF));
    let executed = before.iter().filter(|total| !total.inlined).map(|total| total.address);
    let (elf, addresses) = with_one_name(ELF, &executed.collect());
    let capture = traced(&folder, &elf);
    let after = totals(&capture);
    let at = |totals: &[FunctionTotal], address| {
        let mut found = totals.iter().filter(|total| !total.inlined && total.address == address);
        (found.next().expect("it was executed").clone(), found.next().cloned())
    };
    let [first, second] = addresses.map(|address| at(&after, address).0);
    assert_eq!(first.name, second.name);
    for (address, found) in addresses.into_iter().zip([&first, &second]) {
        let (expected, other) = at(&before, address);
        assert_eq!(other, None);
        assert_eq!(*found, FunctionTotal { name: found.name.clone(), ..expected });
    }
    let entered = entered(&capture);
    for total in [first, second] {
        assert_eq!(entered[&(total.name, total.address, false)], total.calls);
    }
}
