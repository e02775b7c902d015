//! Names of the specification in the spelling of other languages.

/// Prefixes of the names of registers and fields; the name of the component is known from the
/// context.
const PREFIXES: [&str; 8] = [
    "trTe",
    "trTs",
    "trRam",
    "trAtbBridge",
    "hartraceTe",
    "hartraceRam",
    "hartraceAn",
    "hartraceDe",
];

/// `trTeInstSyncMax` as `inst_sync_max`.
pub(crate) fn short(name: &str) -> String {
    let rest = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix));
    snake(rest.unwrap_or(name))
}

/// `trTeInstSyncMax` as `tr_te_inst_sync_max`, `trRamWPLow` as `tr_ram_wp_low`.
pub(crate) fn snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (i, letter) in letters.iter().enumerate() {
        let lower = |at: Option<&char>| at.is_some_and(|c| c.is_lowercase());
        let before = i.checked_sub(1).and_then(|at| letters.get(at));
        let starts = before.is_some_and(|c| !c.is_uppercase()) || lower(letters.get(i + 1));
        if i > 0 && letter.is_uppercase() && starts {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

/// `trTeInstSyncMax` as `TR_TE_INST_SYNC_MAX`.
pub(crate) fn screaming(name: &str) -> String {
    snake(name).to_uppercase()
}

/// `trTeControl` as `TrTeControl`.
pub(crate) fn pascal(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_in_a_row_are_one_word() {
        assert_eq!(snake("trRamWPLow"), "tr_ram_wp_low");
        assert_eq!(snake("trTeCompPMatchLow"), "tr_te_comp_p_match_low");
        assert_eq!(snake("trTeInstExtendAddrMSB"), "tr_te_inst_extend_addr_msb");
        assert_eq!(short("trTeSrcID"), "src_id");
        assert_eq!(short("trRamHasSRAM"), "has_sram");
        assert_eq!(short("trTeFilterMatchComp1"), "filter_match_comp1");
        assert_eq!(screaming("trTsCounterLow"), "TR_TS_COUNTER_LOW");
        assert_eq!(pascal("trTeControl"), "TrTeControl");
    }
}
