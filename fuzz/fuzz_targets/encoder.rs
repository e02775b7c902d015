//! Any rows, consistent or not: the production encoder sends what the golden one sends, payload for
//! payload, with the same rows and reasons, and rejects what it rejects.
#![no_main]

use arbitrary::{Result, Unstructured};
use hartrace_encoder::Encoder;
use hartrace_fuzz::encoder::{Action, action, config};
use hartrace_golden::Encoded;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = check(Unstructured::new(input));
});

fn check(mut u: Unstructured<'_>) -> Result<()> {
    let config = config(&mut u)?;
    let (mut golden, mut production) =
        match (hartrace_golden::Encoder::new(config.clone()), Encoder::new(config)) {
            (Ok(golden), Ok(production)) => (golden, production),
            (golden, production) => {
                assert_eq!(golden.err(), production.err());
                return Ok(());
            }
        };
    let mut actions = Vec::new();
    while !u.is_empty() && actions.len() < 512 {
        actions.push(action(&mut u)?);
    }
    actions.push(Action::Finish);

    let (mut expected, mut sent) = (Vec::new(), Vec::new());
    let together =
        |a: &Action, b: &Action| matches!((a, b), (Action::Retire(_), Action::Retire(_)));
    for some in actions.chunk_by(together) {
        let mut expect = |encoded: Encoded| expected.push(encoded);
        let mut send = |encoded: hartrace_encoder::Encoded<'_>| {
            let hartrace_encoder::Encoded { row, payload, bytes, reason } = encoded;
            sent.push(Encoded { row, payload, bytes: bytes.to_vec(), reason });
        };
        match some[0] {
            Action::Retire(first) => {
                let row = |action: &Action| match action {
                    Action::Retire(row) => Some(*row),
                    _ => None,
                };
                let rows: Vec<_> = some.iter().filter_map(row).collect();
                rows.iter().for_each(|row| golden.retire(row, &mut expect));
                if first.sijump {
                    rows.iter().for_each(|row| production.retire(row, &mut send));
                } else {
                    production.retire_all(&rows, &mut send);
                }
            }
            Action::Lose => {
                golden.lose();
                production.lose();
            }
            Action::Recover => {
                golden.recover();
                production.recover();
            }
            Action::Miss => {
                golden.miss(&mut expect);
                production.miss(&mut send);
            }
            Action::Options(options) => assert_eq!(
                golden.set_options(options, &mut expect),
                production.set_options(options, &mut send)
            ),
            Action::Finish => {
                golden.finish(&mut expect);
                production.finish(&mut send);
            }
        }
        assert_eq!(expected, sent, "{some:?}");
        expected.clear();
        sent.clear();
    }
    Ok(())
}
