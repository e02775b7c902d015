//! Programs on the real core with tracing attached: what is decoded is what the core says it executed.
//!
//! Ignored where the core is not installed; `./test.sh cva6` installs it.

use hartrace_cva6_sim::{Core, Exit};
use hartrace_soc::{Job, Soc, SocConfig};
use std::path::Path;

fn main() {
    let core = Core::find().unwrap();
    let encoder = hartrace_encoder_hdl::Config::named("cva6").unwrap();
    let soc = Soc::build(&core, &SocConfig::new(encoder, 1), &core.options()).unwrap();
    for name in ["calls", "atomics", "exceptions", "interrupts", "user", "surprises", "paging"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/elf/cva6");
        let job = Job::new(std::fs::read(folder.join(format!("{name}.elf"))).unwrap());
        let survey = soc.survey(&job).unwrap();
        println!("{name} {:?} tvec {:x?} changed {}", survey.run, survey.tvec, survey.changed);
        let o = soc.trace(&job, &survey).unwrap();
        assert_eq!(o.run.exit, Exit::Exited(0));
        println!("{:?} {} {:?}", o.run, o.bytes.len(), o.harts);
    }
}
