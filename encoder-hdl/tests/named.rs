//! Named configurations can be generated; errors for others give the reason.

use hartrace_encoder_hdl::top::{TopConfig, top};
use hartrace_encoder_hdl::{Compression, Config, ConfigError, encoder};
use hartrace_rtl::Component;

#[test]
fn named_configurations_are_legal() {
    let all = Config::all_named();
    assert_eq!(
        all.keys().collect::<Vec<_>>(),
        ["cva6", "full", "linux", "micro", "small", "small_bytes"]
    );
    for (name, config) in all {
        assert_eq!(config.check(), Ok(()), "{name}");
    }
}

#[test]
fn illegal_parameters_are_named() {
    let small = Config::named("small").expect("there is one");
    let five = Config { lanes: 5, ..small.clone() };
    let error = encoder(&five).expect_err("four at most");
    assert_eq!(error, ConfigError::OutOfRange { name: "lanes", value: 5, min: 1, max: 4 });
    assert_eq!(error.to_string(), "lanes = 5 is not in 1..=4");
    let mut stack = small.clone();
    stack.etrace.return_stack_size_p = 4;
    let error = encoder(&stack).expect_err("3-bit itype");
    assert_eq!(error.to_string(), "implicit return needs itype_width_p = 4");
    let bytes = Config { compression: Compression::Bytes, ..small.clone() };
    let error = encoder(&bytes).expect_err("addresses are not shifted there");
    assert_eq!(error.to_string(), "compression = \"bytes\" needs etrace.iaddress_lsb_p = 0");
    let mut returns = Config { itype_width_p: 4, ..bytes };
    returns.etrace.iaddress_lsb_p = 0;
    assert!(encoder(&returns).is_ok());
    returns.etrace.return_stack_size_p = 4;
    let error = encoder(&returns).expect_err("ambiguous");
    assert_eq!(error.to_string(), "compression = \"bytes\" needs etrace.return_stack_size_p = 0");
    let never = Config { resync: vec![], ..small.clone() };
    let error = encoder(&never).expect_err("nothing to count");
    assert_eq!(error.to_string(), "resync needs at least one unit to count in");
    let mut both = small;
    both.etrace.bpred_size_p = 7;
    both.etrace.cache_size_p = 7;
    assert!(encoder(&both).expect_err("no subformat").to_string().contains("f0s_width_p"));
    let error = Config::from_toml("lanse = 2").expect_err("unknown key").to_string();
    assert!(error.contains("lanse"), "{error}");
}

/// Number of operands from which on a clause must not stand twice in a module.
const LONG: usize = 5;

#[test]
fn nothing_long_is_said_twice() {
    fn check(component: &Component, of: &str) {
        let found = component.repeated(LONG);
        assert!(found.is_empty(), "{of}, {}: {found:#?}", component.name());
        component.children().iter().for_each(|child| check(child, of));
    }
    for (name, encoder) in Config::all_named() {
        let top = top(&TopConfig::of(encoder)).expect("it is legal");
        check(&top, &name);
        for (file, text) in top.files() {
            let constant =
                ["1'b1 &", "& 1'b1", "& 1'b0", "1'b0 &", "| 1'b0", "1'b0 |", "assert (1'b1)"];
            let found = constant.into_iter().find(|constant| text.contains(constant));
            assert_eq!(found, None, "{name}, {file}");
        }
    }
}

/// Vectors of lanes are flat, so the text has to say which lane is where.
#[test]
fn modules_say_how_lanes_are_ordered() {
    const ORDER: &str =
        "// Vectors of lanes have lane 0, the oldest, in their lowest bits.\nmodule ";
    fn check(component: &Component, lanes: u8, of: &str) -> usize {
        let of_lanes = ["iaddr_i", "first_i", "first_o"];
        let has =
            component.ports().iter().any(|p| of_lanes.iter().any(|end| p.name.ends_with(end)));
        let wanted = has && lanes > 1;
        assert_eq!(component.emit().contains(ORDER), wanted, "{of}, {}", component.name());
        let inside = component.children().iter().map(|child| check(child, lanes, of));
        usize::from(wanted) + inside.sum::<usize>()
    }
    for (name, encoder) in Config::all_named() {
        for lanes in [1, 2, encoder.lanes] {
            let config = TopConfig::of(Config { lanes, ..encoder.clone() });
            let found = check(&top(&config).expect("it is legal"), lanes, &name);
            // Not all encoders join groups.
            let all = if lanes == 1 { 0..=0 } else { 6..=7 };
            assert!(all.contains(&found), "{name}, {lanes} lanes: {found} modules");
        }
    }
}
