//! Any files are a bundle, in a folder or an archive, or something else. A bundle is the same after it was
//! written again.
#![no_main]

use hartrace_capture::bundle::{self, Bundle, Found};
use hartrace_capture::snapshot::{Archive, Files};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use std::io::Cursor;

const NAMES: [&str; 5] = ["contents.ini", "c.te.toml", "c.te", "a.elf", "rom"];

// The first byte selects what follows: files separated by a zero, or an archive.
fuzz_target!(|input: &[u8]| {
    let Some((kind, rest)) = input.split_first() else { return };
    let files: Box<dyn Files> = match kind % 2 {
        0 => {
            let parts = rest.split(|byte| *byte == 0).map(<[u8]>::to_vec);
            let named = NAMES.map(str::to_owned).into_iter().zip(parts);
            Box::new(named.collect::<BTreeMap<_, _>>())
        }
        _ => {
            let Ok(archive) = Archive::new(Cursor::new(rest.to_vec())) else { return };
            Box::new(archive)
        }
    };
    match bundle::read(files) {
        Ok(Found::Bundle(bundle)) => check(&bundle),
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

fn check(bundle: &Bundle) {
    let programs: Vec<_> = bundle.description.programs.iter().collect();
    let Ok(bytes) =
        programs.iter().map(|program| bundle.program(program)).collect::<Result<Vec<_>, _>>()
    else {
        return;
    };
    let Ok(capture) = bundle.bytes() else { return };
    // Every file has a name of its own.
    let programs = programs.into_iter().zip(bytes).enumerate();
    let programs = programs.map(|(number, (program, bytes))| {
        let mut program = program.clone();
        program.file = format!("{number}.elf");
        (program, bytes)
    });
    let programs: Vec<_> = programs.collect();
    let packed = bundle::to_bytes("capture", &capture, &bundle.description, &programs);
    let archive = Archive::new(Cursor::new(packed.expect("memory"))).expect("an archive");
    let Ok(Found::Bundle(again)) = bundle::read(Box::new(archive)) else { panic!("not a bundle") };
    assert_eq!(again.bytes().expect("the capture"), capture);
    for (program, bytes) in &programs {
        assert_eq!(again.program(program).expect("a program"), *bytes);
    }
}
