use super::*;
use clap::CommandFactory;

#[test]
fn definitions_are_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn numbers_of_instructions() {
    let count = values::parse_count;
    for (text, number) in [
        ("0", 0),
        ("70", 70),
        ("50k", 50_000),
        ("50K", 50_000),
        ("10M", 10_000_000),
        ("2G", 2_000_000_000),
        ("18446744073709551615", u64::MAX),
    ] {
        assert_eq!(count(text), Ok(number), "{text}");
    }
    let wrong =
        ["", "k", "M1", "1kk", "1kM", "+1", "-1", "1.5M", "1m", "1 M", "1T", "20000000000G"];
    for text in wrong.into_iter().chain(["18446744073709551616", "1é", "é"]) {
        assert!(count(text).is_err(), "{text}");
    }
    assert!(values::parse_some("0k").is_err() && values::parse_some("1k") == Ok(1000));
    assert_eq!(values::parse_variable("A=b=c"), Ok(("A".into(), "b=c".into())));
    assert_eq!(values::parse_variable("A="), Ok(("A".into(), String::new())));
    assert!(values::parse_variable("A").is_err() && values::parse_variable("=b").is_err());
}
