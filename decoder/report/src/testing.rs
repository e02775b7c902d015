//! Helpers that unit tests share.

use hartrace_capture::params::{Draft, Given, Setup};

/// The setup of a stream of RV32 with contexts, with this `[framing]` table.
pub(crate) fn setup(framing: &str) -> Setup {
    let params = "context_width_p = 32\necause_width_p = 5\niaddress_lsb_p = 1\n\
                  iaddress_width_p = 32\nnocontext_p = 0\nnotime_p = 1\nprivilege_width_p = 2\n";
    let draft = Draft::parse(&format!("{params}[framing]\n{framing}\n"), "p").unwrap();
    Setup::new(Some(draft), &Given::default()).unwrap()
}
