//! Parameters: what is refused, what follows from them, and their files.

use hartrace_etrace::data::{
    Compression, CsrWidth, DataKinds, DataParams, DataParamsError, Doptions,
};
use hartrace_etrace::{Params, ParamsError, Unit};

/// Checks that `set` is refused just outside `min..=max` and accepted at both ends.
fn check_range(name: &'static str, min: u8, max: u8, base: Params, set: fn(&mut Params, u8)) {
    let with = |value| {
        let mut params = base;
        set(&mut params, value);
        params.layout(Unit::Reference).map(|_| ())
    };
    assert_eq!(with(min), Ok(()), "{name} = {min}");
    assert_eq!(with(max), Ok(()), "{name} = {max}");
    for value in [min.checked_sub(1), max.checked_add(1)].into_iter().flatten() {
        let err = ParamsError::OutOfRange { name, value, min, max };
        assert_eq!(with(value), Err(err), "{name} = {value}");
    }
}

#[test]
fn ranges() {
    let base = Params::default();
    let one_bit = Params { iaddress_lsb_p: 0, ..base };
    check_range("iaddress_width_p", 2, 64, one_bit, |p, v| p.iaddress_width_p = v);
    check_range("iaddress_lsb_p", 0, 2, base, |p, v| p.iaddress_lsb_p = v);
    check_range("privilege_width_p", 1, 8, base, |p, v| p.privilege_width_p = v);
    check_range("ecause_width_p", 1, 64, base, |p, v| p.ecause_width_p = v);
    check_range("context_width_p", 1, 64, base, |p, v| p.context_width_p = v);
    check_range("time_width_p", 1, 64, base, |p, v| p.time_width_p = v);
    check_range("f0s_width_p", 0, 8, base, |p, v| p.f0s_width_p = v);
    check_range("bpred_size_p", 0, 16, base, |p, v| p.bpred_size_p = v);
    check_range("cache_size_p", 0, 16, base, |p, v| p.cache_size_p = v);
    let wide = Params { f0s_width_p: 2, ..base };
    check_range("hpred_size_p", 0, 9, wide, |p, v| p.hpred_size_p = v);
    check_range("return_stack_size_p", 0, 15, base, |p, v| p.return_stack_size_p = v);
    check_range("call_counter_size_p", 0, 16, base, |p, v| p.call_counter_size_p = v);
}

#[test]
fn an_address_needs_a_bit() {
    let params = Params { iaddress_width_p: 2, iaddress_lsb_p: 2, ..Params::default() };
    let err = params.layout(Unit::Reference).unwrap_err();
    let expected = ParamsError::OutOfRange { name: "iaddress_lsb_p", value: 2, min: 0, max: 1 };
    assert_eq!(err, expected);
    assert_eq!(err.to_string(), "iaddress_lsb_p = 2 is not in 0..=1");
}

#[test]
fn the_longest_payload_fits_31_bytes() {
    // A trap: 2 + 2 + 1 + privilege + time + context + ecause + 1 + 1 + 64 + 64.
    let params = Params {
        iaddress_width_p: 64,
        iaddress_lsb_p: 0,
        privilege_width_p: 1,
        ecause_width_p: 4,
        context_width_p: 44,
        nocontext_p: false,
        time_width_p: 64,
        notime_p: false,
        ..Params::default()
    };
    assert_eq!(params.layout(Unit::Reference).unwrap().max_bits(), 248);
    let params = Params { context_width_p: 45, ..params };
    let err = params.layout(Unit::Reference).unwrap_err();
    assert_eq!(err, ParamsError::PayloadTooLong(249));
    assert_eq!(err.to_string(), "the longest payload needs 249 bits, the limit is 248");
}

#[test]
fn two_extensions_need_a_subformat() {
    let params = Params { bpred_size_p: 1, cache_size_p: 1, ..Params::default() };
    let err = params.layout(Unit::Reference).unwrap_err();
    assert_eq!(err, ParamsError::NoSubformat);
    assert!(err.to_string().contains("f0s_width_p must be at least 1"));
    assert!(Params { f0s_width_p: 1, ..params }.layout(Unit::Reference).is_ok());
    assert!(Params { cache_size_p: 0, ..params }.layout(Unit::Reference).is_ok());
}

#[test]
fn irdepth_width() {
    let bits = |return_stack_size_p, call_counter_size_p| {
        Params { return_stack_size_p, call_counter_size_p, ..Params::default() }.irdepth_bits()
    };
    assert_eq!(bits(0, 0), 0);
    assert_eq!(bits(3, 0), 4);
    assert_eq!(bits(0, 9), 9);
    assert_eq!(bits(15, 16), 32);
}

fn check_data_range(name: &'static str, min: u8, max: u8, set: fn(&mut DataParams, u8)) {
    let with = |value| {
        let mut params = DataParams::default();
        set(&mut params, value);
        params.layout(DataKinds::default()).map(|_| ())
    };
    assert_eq!(with(min), Ok(()), "{name} = {min}");
    assert_eq!(with(max), Ok(()), "{name} = {max}");
    for value in [min.checked_sub(1), max.checked_add(1)].into_iter().flatten() {
        let err = DataParamsError { name, value, min, max };
        assert_eq!(with(value), Err(err), "{name} = {value}");
    }
}

#[test]
fn data_ranges() {
    check_data_range("daddress_width_p", 1, 64, |p, v| p.daddress_width_p = v);
    check_data_range("data_width_p", 8, 128, |p, v| p.data_width_p = v);
    check_data_range("dsize_width_p", 1, 255, |p, v| p.dsize_width_p = v);
    check_data_range("dtype_width_p", 1, 4, |p, v| p.dtype_width_p = v);
    check_data_range("dblock_width_p", 1, 255, |p, v| p.dblock_width_p = v);
    check_data_range("iaddr_lsbs_width_p", 1, 255, |p, v| p.iaddr_lsbs_width_p = v);
    check_data_range("lrid_width_p", 1, 32, |p, v| p.lrid_width_p = v);
    check_data_range("lresp_width_p", 1, 255, |p, v| p.lresp_width_p = v);
    check_data_range("ldata_width_p", 1, 255, |p, v| p.ldata_width_p = v);
    check_data_range("sdata_width_p", 1, 255, |p, v| p.sdata_width_p = v);
    let err = DataParamsError { name: "lrid_width_p", value: 33, min: 1, max: 32 };
    assert_eq!(err.to_string(), "lrid_width_p = 33 is not in 1..=32");
}

#[test]
fn data_defaults_are_the_attributes_plus_one() {
    let p = DataParams::default();
    assert_eq!([p.daddress_width_p, p.data_width_p], [31 + 1, 31 + 1]);
    assert_eq!([p.dsize_width_p, p.dtype_width_p, p.dblock_width_p], [2 + 1, 1, 1]);
    assert_eq!([p.iaddr_lsbs_width_p, p.lrid_width_p, p.lresp_width_p], [1, 1, 1]);
    assert_eq!([p.ldata_width_p, p.sdata_width_p], [31 + 1, 31 + 1]);
}

#[test]
fn size_field() {
    // data_width_p, bits of size, its largest value
    let rows = [
        (8, 1, 0),
        (16, 1, 1),
        (24, 1, 1),
        (32, 2, 2),
        (63, 2, 2),
        (64, 2, 3),
        (127, 2, 3),
        (128, 3, 4),
    ];
    for (data_width_p, bits, max) in rows {
        let params = DataParams { data_width_p, ..DataParams::default() };
        assert_eq!(params.size_bits(), bits, "{data_width_p}");
        assert_eq!(params.max_size(), max, "{data_width_p}");
    }
}

#[test]
fn data_format_field() {
    let unified = DataKinds::default();
    assert_eq!(unified.format_bits(), 2);
    assert_eq!(DataKinds { split: true, ..unified }.format_bits(), 3);
    assert_eq!(DataKinds { atomics: true, ..unified }.format_bits(), 3);
    assert_eq!(DataKinds { csr: Some(CsrWidth::Bits32), ..unified }.format_bits(), 3);
    assert_eq!(DataKinds { compression: Compression::Xor, ..unified }.format_bits(), 2);
}

#[test]
fn doptions_field() {
    let no_address = Doptions { no_address: true, ..Doptions::default() };
    let full_data = Doptions { full_data: true, ..Doptions::default() };
    assert_eq!(Doptions::from_raw(1), Some(no_address));
    assert_eq!(Doptions::from_raw(8), Some(full_data));
    assert_eq!(Doptions::from_raw(16), None);
    for raw in 0..16 {
        assert_eq!(Doptions::from_raw(raw).map(Doptions::raw), Some(raw));
    }
    assert!(Doptions::from_raw(2).unwrap().no_data);
    assert!(Doptions::from_raw(4).unwrap().full_daddress);
}

#[cfg(feature = "serde")]
mod files {
    use super::*;

    /// The example file of riscv-etrace, less `arch_p`, which does not shape packets.
    const PEER: &str = "
        bpred_size_p=0
        cache_size_p=0
        call_counter_size_p=0
        context_width_p=32
        time_width_p=1
        ecause_width_p=5
        f0s_width_p=0
        iaddress_lsb_p=1
        iaddress_width_p=32
        nocontext_p=0
        notime_p=1
        privilege_width_p=2
        return_stack_size_p=0
        sijump_p=0
    ";

    fn peer() -> Params {
        Params { context_width_p: 32, nocontext_p: false, ecause_width_p: 5, ..Params::default() }
    }

    #[test]
    fn keys_of_the_peer() {
        assert_eq!(toml::from_str::<Params>(PEER).unwrap(), peer());
    }

    #[test]
    fn written_files_read_back_and_hold_numbers() {
        let text = toml::to_string(&peer()).unwrap();
        assert!(text.contains("nocontext_p = 0\n") && text.contains("notime_p = 1\n"), "{text}");
        assert_eq!(toml::from_str::<Params>(&text).unwrap(), peer());
    }

    #[test]
    fn missing_keys_have_the_default() {
        assert_eq!(toml::from_str::<Params>("").unwrap(), Params::default());
        let params = toml::from_str::<Params>("iaddress_width_p = 64").unwrap();
        assert_eq!(params, Params { iaddress_width_p: 64, ..Params::default() });
    }

    #[test]
    fn flags() {
        let sijump = |text: &str| toml::from_str::<Params>(text).map(|p| p.sijump_p);
        assert_eq!(sijump("sijump_p = 1"), Ok(true));
        assert_eq!(sijump("sijump_p = 0"), Ok(false));
        assert_eq!(sijump("sijump_p = true"), Ok(true));
        for bad in ["2", "-1", "'1'", "1.0"] {
            let err = sijump(&format!("sijump_p = {bad}")).unwrap_err();
            assert!(err.to_string().contains("expected 0 or 1"), "{err}");
        }
    }

    #[test]
    fn unknown_keys_and_wide_numbers_are_refused() {
        assert!(toml::from_str::<Params>("arch_p = 0").is_err());
        assert!(toml::from_str::<Params>("iaddress_width_p = 256").is_err());
        assert!(toml::from_str::<DataParams>("iaddress_width_p = 32").is_err());
    }

    #[test]
    fn data_files() {
        let params = toml::from_str::<DataParams>("daddress_width_p = 64\nlrid_width_p = 4");
        let expected =
            DataParams { daddress_width_p: 64, lrid_width_p: 4, ..DataParams::default() };
        assert_eq!(params.unwrap(), expected);
        let text = toml::to_string(&expected).unwrap();
        assert_eq!(toml::from_str::<DataParams>(&text).unwrap(), expected);
        let kinds =
            toml::from_str::<DataKinds>("split = true\ncsr = 'bits64'\ncompression = 'xor'");
        let expected = DataKinds {
            split: true,
            atomics: false,
            csr: Some(CsrWidth::Bits64),
            compression: Compression::Xor,
        };
        assert_eq!(kinds.unwrap(), expected);
    }
}
