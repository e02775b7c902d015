use super::*;
use clap::CommandFactory;

#[test]
fn definitions_are_consistent() {
    Cli::command().debug_assert();
}
