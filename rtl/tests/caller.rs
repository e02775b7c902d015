//! A panic names the line with the mistake. This test is alone in its file because all threads
//! share the panic hook.

use hartrace_rtl::{Module, zero};
use std::panic;
use std::sync::{Arc, Mutex};

#[test]
fn the_line_of_a_panic_is_the_callers() {
    let m = Module::new("wrong", "");
    let a = m.input("a_i", 8, "");
    let found = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&found);
    panic::set_hook(Box::new(move |info| {
        let location = info.location().map(|l| (l.file().to_owned(), l.line()));
        seen.lock().unwrap().extend(location);
    }));
    let first = line!() + 1;
    let operator = panic::catch_unwind(panic::AssertUnwindSafe(|| &a & zero(9)));
    let assignment = panic::catch_unwind(panic::AssertUnwindSafe(|| m.assign(&a, zero(8))));
    let block = panic::catch_unwind(panic::AssertUnwindSafe(|| m.comb(|b| b.set(&a, zero(8)))));
    let _ = panic::take_hook();
    assert!(operator.is_err() && assignment.is_err() && block.is_err());
    let found = found.lock().unwrap();
    let lines: Vec<u32> = found.iter().map(|(_, line)| *line).collect();
    assert_eq!(lines, [first, first + 1, first + 2]);
    assert!(found.iter().all(|(file, _)| file.ends_with("caller.rs")), "{found:?}");
}
