use super::*;
use clap::Parser;
use hartrace_capture::framing::Kind;

#[derive(Parser)]
struct Only {
    #[command(flatten)]
    stream: StreamArgs,
}

/// The setup for parameters in `text` and options in `line`.
fn of(text: &str, line: &str) -> Result<Setup, Failure> {
    let words = ["x"].into_iter().chain(line.split_whitespace());
    let args = Only::try_parse_from(words).expect("options");
    let draft = Draft::parse(text, "p")?;
    Ok(Setup::new(Some(draft), &args.stream.options().given())?)
}

#[test]
fn options_are_those_of_the_library() {
    for kind in Kind::ALL {
        let setup = of("", &format!("--xlen 64 --framing {kind}")).unwrap();
        assert_eq!(setup.params.iaddress_width_p, 64, "{kind}");
    }
    let line = "--xlen 32 --framing encap --src-bits 8 --timestamp-bytes 1 --type-bits 2 \
                --instruction-type 3 --source 5 --find-sync";
    let transport = of("", line).unwrap().transport;
    assert_eq!((transport.source, transport.find_sync), (Some(5), true));
    assert!(of("", "--xlen 32 --framing smi --hart-bits 3 --source 7").is_ok());
    assert!(of("", "--xlen 32 --framing atb --atid 3").is_ok());
}

#[test]
fn mistakes_name_options() {
    let message = |text, line| of(text, line).unwrap_err().to_string();
    assert_eq!(message("x = 1", ""), "error: p:1:1: unknown key x\n  try: xlen");
    assert_eq!(
        message("", "--xlen 32 --hart-bits 2"),
        "error: --hart-bits means nothing with framing reference\n  try: --framing smi"
    );
    assert_eq!(
        message("iaddress_width_p = 32", "--xlen 64"),
        "error: --xlen 64 contradicts iaddress_width_p = 32\n  try: --xlen 32"
    );
    assert_eq!(of("", "").unwrap_err().status(), 2);
    assert_eq!(of("= 1", "").unwrap_err().status(), 3);
}

#[test]
fn only_the_reference_has_quirks() {
    let ours = of("[options]\nunit = \"hartrace\"", "--xlen 64").unwrap();
    assert!(check_compat(&ours).is_ok());
    let like = Setup { compat: Compat::CModel, ..ours };
    assert_eq!(check_compat(&like).unwrap_err().status(), 2);
}
