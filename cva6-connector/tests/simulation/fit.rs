//! Configurations, and the fit of connector and encoder.

use hartrace_cva6_connector::{Building, Config, ConfigError, HOLD, Interface, connector, package};
use hartrace_encoder_hdl::{Overflow, encoder};
use hartrace_rtl::Direction;
use libtest_mimic::Failed;

/// Every hart signal of the connector is an input of the encoder, of the same width.
pub(crate) fn all_named() -> Result<(), Failed> {
    let mut all = hartrace_encoder_hdl::Config::all_named();
    let mut narrow = all["linux"].clone();
    narrow.etrace.iaddress_width_p = 40;
    all.insert("addresses of 40 bits".to_owned(), narrow);
    for (name, config) in all {
        let connector = connector(&Config::for_encoder(&config))?;
        let core = encoder(&config)?;
        let mut fits = Vec::new();
        for output in connector.ports().iter().filter(|p| p.direction == Direction::Output) {
            let signal = output.name.trim_end_matches("_o");
            let input = core.ports().iter().find(|port| port.name == format!("{signal}_i"));
            match (signal, input) {
                ("stall" | "empty", None) => {}
                (_, None) => return Err(format!("{name}: the encoder has no {signal}").into()),
                (_, Some(input)) if input.width != output.width => {
                    return Err(format!("{name}: {output:?} for {input:?}").into());
                }
                _ => fits.push(signal),
            }
        }
        for needed in ["itype", "iaddr", "iretire", "ilastsize", "cause", "tval", "priv", "halted"]
        {
            assert!(fits.contains(&needed), "{name}: the connector has no {needed}");
        }
        let context = !config.etrace.nocontext_p;
        assert_eq!(fits.contains(&"context") && fits.contains(&"ctype"), context, "{name}");
    }
    Ok(())
}

/// Whatever can be generated for a CVA6 has what makes it wait exactly if the encoder can ask for it, and the connector
/// knows. A core with RVFI has to bring its own.
pub(crate) fn whoever_is_asked_waits() -> Result<(), Failed> {
    for (name, config) in hartrace_encoder_hdl::Config::all_named() {
        for overflow in [Overflow::Drop, Overflow::Stall, Overflow::Either] {
            let config = hartrace_encoder_hdl::Config { overflow, ..config.clone() };
            let asks = overflow != Overflow::Drop;
            assert_eq!(Config::for_encoder(&config).holds, asks, "{name}, {overflow:?}");
            for (core, interface, _) in Interface::NAMED {
                let (modules, adapter) = package(&config, "", interface)?;
                let has = |file: &str| modules.iter().chain(&adapter).any(|(name, _)| name == file);
                let waits = asks && interface != Interface::Rvfi;
                for (file, _) in HOLD {
                    assert_eq!(has(file), waits, "{name}, {overflow:?}, {core}: {file}");
                }
                let connector = modules.iter().map(|(_, text)| text.contains("commits_held"));
                assert_eq!(connector.filter(|held| *held).count() == 1, asks, "{name}, {core}");
            }
        }
    }
    Ok(())
}

/// The error of every field names its range.
pub(crate) fn ranges() -> Result<(), Failed> {
    type Change = fn(&mut Config, u8);
    let fields: [(&str, u8, u8, Change); 7] = [
        ("iaddress_width_p", 24, 64, |c, v| c.iaddress_width_p = Some(v)),
        ("lanes", 1, 4, |c, v| c.lanes = v),
        ("itype_width_p", 3, 4, |c, v| c.itype_width_p = v),
        ("iretire_width_p", 2, 16, |c, v| c.iretire_width_p = v),
        ("ecause_width_p", 1, 64, |c, v| c.ecause_width_p = v),
        ("privilege_width_p", 2, 8, |c, v| c.privilege_width_p = v),
        ("fifo_depth", 2, 128, |c, v| c.fifo_depth = v),
    ];
    for (name, min, max, change) in fields {
        let with = |value| {
            let mut config = Config::default();
            change(&mut config, value);
            config.check()
        };
        for value in [min, max] {
            assert_eq!(with(value), Ok(()), "{name} = {value}");
        }
        for value in [min - 1, max + 1] {
            assert_eq!(with(value), Err(ConfigError::OutOfRange { name, value, min, max }));
        }
    }
    // Blocks that are built at once are output at once.
    let fewer = Config { blocks: Some(1), ..Config::default() };
    let error = ConfigError::OutOfRange { name: "blocks", value: 1, min: 2, max: 2 };
    assert_eq!(fewer.check(), Err(error));
    assert_eq!(Config { building: Building::Serialised, ..fewer }.check(), Ok(()));
    let odd = Config { xlen: 48, ..Config::default() };
    assert_eq!(odd.check(), Err(ConfigError::Xlen(48)));
    Ok(())
}
