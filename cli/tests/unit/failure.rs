use super::*;

#[test]
fn message_says_where_what_and_what_to_try() {
    let failure = Failure::usage("no such thing").at("x.toml:3:1").hint("another");
    assert_eq!(failure.to_string(), "error: x.toml:3:1: no such thing\n  try: another");
    assert_eq!(failure.status(), 2);
}

#[test]
fn a_broken_pipe_is_a_quiet_end() {
    let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
    assert!(failure.is_quiet());
    assert_eq!(failure.status(), 0);
    assert_eq!(Failure::from(io::Error::other("disk full")).status(), 3);
}
