//! A session of a trace tool, through the driver.

use hartrace_encoder_hdl::registers::driver::ram_sink::{
    HartraceRamStatus, TrRamControl, TrRamLimitLow, TrRamWPLow,
};
use hartrace_encoder_hdl::registers::driver::te::{
    HartraceTeStatus, TrTeCompPmatchLow, TrTeCompSmatchLow, TrTeControl, TrTeFilterControl,
    TrTeImpl, TrTeInstFeatures, TrTeInstFilters,
};
use hartrace_encoder_hdl::registers::{
    BusError, EncoderParams, Inputs, Model, ParamsError, RamSinkParams, Table, Write, encoder,
    ram_sink,
};
use std::error::Error;

struct Bus {
    model: Model,
    inputs: Inputs,
}

impl Bus {
    fn new(table: &Table) -> Self {
        Self { model: Model::new(table), inputs: Inputs::from([("empty", 1)]) }
    }

    fn read(&self, offset: u32) -> Result<u32, Box<dyn Error>> {
        self.model.read(offset, &self.inputs).map_err(|_| "bus error".into())
    }

    fn write(&mut self, offset: u32, data: u32) -> Result<(), Box<dyn Error>> {
        self.model.clock(Some(Write::word(offset, data)), &self.inputs).map_err(|_| "bus error")?;
        self.idle();
        Ok(())
    }

    /// A clock edge without a write.
    fn idle(&mut self) {
        assert!(self.model.clock(None, &self.inputs).is_ok());
    }

    fn control(&self) -> Result<TrTeControl, Box<dyn Error>> {
        Ok(TrTeControl(self.read(TrTeControl::OFFSET)?))
    }
}

#[test]
fn a_trace_from_reset_to_reset() -> Result<(), Box<dyn Error>> {
    let params = EncoderParams { triggers: false, comparators: 2, ..EncoderParams::everything() };
    let mut bus = Bus::new(&encoder(&params)?);
    let on = TrTeControl::default().with_active(true);

    // Not active: writes have no effect.
    bus.write(TrTeInstFeatures::OFFSET, u32::MAX)?;
    assert!(!bus.control()?.active());
    assert!(!TrTeInstFeatures(bus.read(TrTeInstFeatures::OFFSET)?).inst_no_addr_diff());

    // Setting everything at once sets only the active bit.
    bus.write(TrTeControl::OFFSET, u32::MAX)?;
    assert!(bus.control()?.active() && !bus.control()?.enable());
    assert_eq!(bus.control()?.inst_sync_max(), 0);
    let what = TrTeImpl(bus.read(TrTeImpl::OFFSET)?);
    assert_eq!((what.ver_major(), what.comp_type(), what.protocol_major()), (1, 1, 2));

    // Configuration, with a range.
    let sync = on.with_inst_sync_mode(TrTeControl::INST_SYNC_MODE_CYCLES).with_inst_sync_max(7);
    bus.write(TrTeControl::OFFSET, sync.0)?;
    bus.write(
        TrTeInstFeatures::OFFSET,
        TrTeInstFeatures::default().with_inst_no_addr_diff(true).0,
    )?;
    let (low, high) = (TrTeCompPmatchLow::offset(1), TrTeCompSmatchLow::offset(1));
    bus.write(low.ok_or("no such comparator")?, 0x8000_0001)?;
    bus.write(high.ok_or("no such comparator")?, 0x8000_0fff)?;
    assert_eq!(bus.read(0x638)?, 0x8000_0ffe, "addresses have no bit 0");
    let filter = TrTeFilterControl::offset(1).ok_or("no such filter")?;
    let asks = TrTeFilterControl::default().with_filter_enable(true).with_filter_match_comp1(true);
    bus.write(filter, asks.0)?;
    let filter = TrTeFilterControl(bus.read(filter)?);
    assert!(filter.filter_enable() && filter.filter_match_comp1());
    assert_eq!(filter.filter_comp1(), 1);
    bus.write(TrTeInstFilters::OFFSET, 0b10)?;

    // Traced.
    bus.inputs.insert("event", 1);
    bus.idle();
    bus.inputs.insert("event", 0);
    assert!(bus.control()?.inst_stall_or_overflow());
    bus.write(TrTeControl::OFFSET, sync.with_enable(true).with_inst_tracing(true).0)?;
    assert!(!bus.control()?.inst_stall_or_overflow(), "enabling clears it");
    bus.inputs.insert("busy", 1);
    assert!(!bus.control()?.empty());
    bus.write(TrTeInstFeatures::OFFSET, 0)?;
    let features = TrTeInstFeatures(bus.read(TrTeInstFeatures::OFFSET)?);
    assert!(features.inst_no_addr_diff(), "in use");
    bus.write(TrTeControl::OFFSET, sync.with_enable(true).with_inst_sync_max(1).0)?;
    assert_eq!(bus.control()?.inst_sync_max(), 7, "in use");
    assert!(!bus.control()?.inst_tracing(), "can be written at any time");

    // Switched off while trace is left.
    bus.write(TrTeControl::OFFSET, 0)?;
    assert!(bus.control()?.active() && !bus.control()?.enable());
    assert_eq!(bus.control()?.inst_sync_max(), 7, "what is left needs it");
    bus.inputs.insert("busy", 0);
    bus.idle();
    assert!(!bus.control()?.active());
    assert_eq!(bus.control()?.inst_sync_max(), 0);
    Ok(())
}

#[test]
fn values_that_are_not_legal_are_not_taken() -> Result<(), Box<dyn Error>> {
    let mut bus = Bus::new(&encoder(&EncoderParams::minimal())?);
    let on = TrTeControl::default().with_active(true);
    bus.write(TrTeControl::OFFSET, on.0)?;
    bus.write(TrTeControl::OFFSET, on.with_inst_sync_mode(1).0)?;
    for mode in [2, 3] {
        bus.write(TrTeControl::OFFSET, on.with_inst_sync_mode(mode).0)?;
        assert_eq!(bus.control()?.inst_sync_mode(), 1);
    }
    bus.write(TrTeInstFeatures::OFFSET, u32::MAX)?;
    assert_eq!(bus.read(TrTeInstFeatures::OFFSET)?, 0);
    assert_eq!(bus.control()?.inst_mode(), TrTeControl::INST_MODE_OPTIMIZED);
    Ok(())
}

#[test]
fn bus_errors_change_nothing() -> Result<(), Box<dyn Error>> {
    let mut bus = Bus::new(&encoder(&EncoderParams::minimal())?);
    assert_eq!(bus.model.read(2, &bus.inputs), Err(BusError));
    for write in [
        Write::word(1, 1),
        Write { strobe: 0b0001, ..Write::word(0, 1) },
        Write { strobe: 0, ..Write::word(0, 1) },
    ] {
        assert_eq!(bus.model.clock(Some(write), &bus.inputs), Err(BusError));
        assert!(!bus.control()?.active());
    }
    // Access to an address without a register is not an error.
    assert_eq!(bus.read(0x600)?, 0);
    bus.write(0x600, 1)
}

#[test]
fn a_sink_flushes_before_it_stops() -> Result<(), Box<dyn Error>> {
    let params = RamSinkParams { address_width: 32, word_bytes: 8, null_runs: true };
    let mut bus = Bus::new(&ram_sink(&params)?);
    let control = |bus: &Bus| bus.read(TrRamControl::OFFSET).map(TrRamControl);
    let on = TrRamControl::default().with_active(true);
    bus.write(TrRamControl::OFFSET, on.0)?;
    // The lowest and the highest limit, as tools determine them.
    for (written, read) in [(0, 0), (u32::MAX, 0xffff_fff8)] {
        bus.write(TrRamLimitLow::OFFSET, written)?;
        assert_eq!(bus.read(TrRamLimitLow::OFFSET)?, read);
    }
    let effect = bus.model.clock(Some(Write::word(TrRamWPLow::OFFSET, 0x8000_0001)), &bus.inputs);
    assert_eq!(effect.ok().and_then(|effect| effect.pointer), Some(0x8000_0000));

    bus.write(TrRamControl::OFFSET, on.with_enable(true).0)?;
    assert!(control(&bus)?.enable());
    let effect = bus.model.clock(Some(Write::word(TrRamWPLow::OFFSET, 0)), &bus.inputs);
    assert_eq!(effect.ok().and_then(|effect| effect.pointer), None, "in use");
    bus.inputs.insert("stopped", 1);
    bus.idle();
    assert!(bus.model.flushes() && bus.model.enabled());
    assert!(!control(&bus)?.enable() && !control(&bus)?.empty());
    bus.write(TrRamControl::OFFSET, on.with_enable(true).0)?;
    assert!(!control(&bus)?.enable(), "not before the flush is done");
    bus.inputs.insert("flushed", 1);
    bus.idle();
    assert!(!bus.model.flushes() && !bus.model.enabled());
    assert!(control(&bus)?.empty());
    Ok(())
}

#[test]
fn a_sink_is_not_switched_on_outside_of_its_buffer() -> Result<(), Box<dyn Error>> {
    let params = RamSinkParams { address_width: 32, word_bytes: 8, null_runs: false };
    let mut bus = Bus::new(&ram_sink(&params)?);
    let control = |bus: &Bus| bus.read(TrRamControl::OFFSET).map(TrRamControl);
    let on = TrRamControl::default().with_active(true);
    bus.write(TrRamControl::OFFSET, on.0)?;
    bus.inputs.insert("outside", 1);
    bus.write(TrRamControl::OFFSET, on.with_enable(true).0)?;
    assert!(!control(&bus)?.enable() && !bus.model.enabled());
    assert!(HartraceRamStatus(bus.read(HartraceRamStatus::OFFSET)?).outside());
    bus.inputs.insert("outside", 0);
    bus.idle();
    assert!(!control(&bus)?.enable(), "it has to be asked for again");
    bus.write(TrRamControl::OFFSET, on.with_enable(true).0)?;
    assert!(control(&bus)?.enable());
    Ok(())
}

#[test]
fn switching_off_twice_throws_away_what_is_inside() -> Result<(), Box<dyn Error>> {
    let mut bus = Bus::new(&encoder(&EncoderParams::minimal())?);
    let on = TrTeControl::default().with_active(true);
    bus.write(TrTeControl::OFFSET, on.0)?;
    bus.write(TrTeControl::OFFSET, on.with_enable(true).with_inst_tracing(true).0)?;
    bus.inputs.insert("busy", 1);
    bus.write(TrTeControl::OFFSET, 0)?;
    assert!(!bus.model.aborts() && bus.control()?.active(), "it is sent, if anybody takes it");
    bus.write(TrTeControl::OFFSET, 0)?;
    assert!(bus.model.aborts() && bus.control()?.active());
    bus.inputs.insert("dropped", 1);
    bus.idle();
    bus.inputs.extend([("dropped", 0), ("busy", 0)]);
    bus.idle();
    assert!(!bus.model.aborts() && !bus.control()?.active());
    let dropped = |bus: &Bus| bus.read(HartraceTeStatus::OFFSET).map(HartraceTeStatus);
    assert!(dropped(&bus)?.dropped(), "known though the encoder is in reset");
    bus.write(TrTeControl::OFFSET, on.0)?;
    assert!(dropped(&bus)?.dropped());
    bus.write(TrTeControl::OFFSET, on.with_enable(true).0)?;
    assert!(!dropped(&bus)?.dropped(), "of another trace");
    Ok(())
}

#[test]
fn parameters_are_checked() {
    let encoder = |params| encoder(&params).err();
    let everything = EncoderParams::everything();
    assert_eq!(
        encoder(EncoderParams { comparators: 9, ..everything.clone() }),
        Some(ParamsError::OutOfRange { name: "comparators", value: 9, min: 0, max: 8 })
    );
    assert_eq!(
        encoder(EncoderParams { context_comparators: 4, ..everything.clone() }),
        Some(ParamsError::OutOfRange { name: "context_comparators", value: 4, min: 0, max: 3 })
    );
    assert_eq!(
        encoder(EncoderParams { filters: 3, ..everything.clone() }),
        Some(ParamsError::OutOfRange { name: "filters", value: 3, min: 4, max: 8 })
    );
    let three = EncoderParams { privilege_levels: 3, ..everything };
    let error = encoder(three).map(|error| error.to_string());
    assert_eq!(error.as_deref(), Some("privilege_levels = 3 is not a power of 2"));
    let params = RamSinkParams { address_width: 11, word_bytes: 4, null_runs: false };
    assert!(ram_sink(&params).is_err());
    let params = RamSinkParams { address_width: 64, word_bytes: 64, null_runs: false };
    assert!(ram_sink(&params).is_err());
}
