//! The example programs, which `docs/guide/rust-library.md` quotes, run to completion.

#[path = "../examples/decode_capture.rs"]
mod decode_capture;
#[path = "../examples/generate_hardware.rs"]
mod generate_hardware;
#[path = "../examples/parse_packets.rs"]
mod parse_packets;

#[test]
fn parse_packets() {
    parse_packets::main().expect("it runs");
}

#[test]
fn decode_capture() {
    decode_capture::main().expect("it runs");
}

#[test]
fn generate_hardware() {
    generate_hardware::main().expect("it runs");
}
