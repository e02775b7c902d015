//! What a machine may lack.

use std::env;
use std::path::Path;

/// Things that are not commands.
enum Need {
    /// A variable that names a folder.
    Variable(&'static str),
    /// A variable that names a folder, or the folder where `./test.sh` installs it.
    Tools(&'static str, &'static str),
}

/// By their name in documents.
const KNOWN: [(&str, Need); 3] = [
    ("data", Need::Variable("HARTRACE_DATA")),
    ("cva6", Need::Tools("HARTRACE_CVA6_TOOLS", "target/tools/cva6/requirements.txt")),
    ("fpga", Need::Tools("HARTRACE_FPGA_TOOLS", "target/tools/fpga/requirements.txt")),
];

/// Whether this machine has it: one of [`KNOWN`], or else a command.
pub(crate) fn is_there(root: &Path, name: &str) -> bool {
    match KNOWN.iter().find(|(known, _)| *known == name) {
        Some((_, Need::Variable(variable))) => env::var_os(variable).is_some(),
        Some((_, Need::Tools(variable, file))) => {
            env::var_os(variable).is_some() || root.join(file).is_file()
        }
        None => env::var_os("PATH")
            .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(name).is_file())),
    }
}
