use super::*;
use hartrace_decoder::{Event, Fault, StreamPos};
use hartrace_encap::FrameError;

/// Gaps without messages.
pub(crate) fn silent(strict: bool) -> Gaps {
    Gaps::new("t", |_| {}).strict(strict).hints(advice)
}

#[test]
fn the_first_gap_is_an_error() {
    let mut gaps = silent(true);
    let at = StreamPos { packet: 2, byte: 20 };
    assert_eq!(Status::from(&gaps), Status::Gaps, "nothing was decoded");
    gaps.event(None, at, &Event::On);
    assert_eq!(Status::from(&gaps), Status::Clean);
    gaps.event(None, at, &Event::Gap(Fault::NoCode(4)));
    let failure = Failure::from(gaps.check().unwrap_err());
    assert_eq!(
        failure.to_string(),
        "error: t: gap at byte 20, packet 2: no code at 0x0000000000000004; try --elf PROG or \
         --image FILE@ADDR with the code at that address"
    );
    assert_eq!((failure.status(), Status::from(&gaps)), (1, Status::Gaps));
}

#[test]
fn advice_depends_on_the_frame() {
    assert_eq!(
        advice(&Fault::Frame(FrameError::Header(0xff))),
        "another --framing, or a capture without damage"
    );
}
