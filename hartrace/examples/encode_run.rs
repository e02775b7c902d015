//! Executes a program and encodes what retires with the production encoder.

use hartrace::encode::{Encoded, Encoder, EncoderConfig, Ioptions, Params, Unit};
use hartrace_iss::{Environment, Exit, Hart, HartConfig, Range, Step, Xlen};
use std::error::Error;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut encoder = Encoder::new(EncoderConfig {
        params: Params {
            iaddress_width_p: 64,
            iaddress_lsb_p: 1,
            ecause_width_p: 5,
            return_stack_size_p: 4,
            ..Params::default()
        },
        unit: Unit::Hartrace,
        options: Ioptions { implicit_return: true, ..Ioptions::default() },
        ..EncoderConfig::default()
    })?;

    let mut hart = Hart::new(HartConfig {
        xlen: Xlen::Rv64,
        memory: vec![Range { base: 0x8000_0000, size: 1 << 24 }],
        environment: Environment::Htif,
        ..HartConfig::default()
    });
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/programs/elf/calls.elf");
    hart.load_elf(&std::fs::read(program)?)?;

    let (mut packets, mut bytes) = (0, 0);
    let mut send = |encoded: Encoded<'_>| {
        if packets < 3 {
            println!("{} ({:?})", encoded.payload, encoded.reason);
        }
        packets += 1;
        bytes += encoded.bytes.len();
    };
    let exit = hart.run(1_000_000, &mut |step: &Step| encoder.retire(&step.retired(), &mut send));
    encoder.finish(&mut send);

    println!("{} instructions, {packets} packets, {bytes} bytes", hart.retired());
    assert!(matches!(exit, Exit::Exited(0)), "{exit:?}");
    assert!(packets > 1000 && bytes < 10_000);
    Ok(())
}
