//! Several components at one APB port.

use hartrace_rtl::{Component, Module, concat, index_width, lit};

/// Splits APB into `pages` pages of 4 KiB, one for each component: `apb_split_{pages}`.
///
/// The port with `paddr_i` is the one that is split; `psel_o` has a bit for each page, `prdata_i`,
/// `pready_i` and `pslverr_i` a part, page 0 in the low bits. The other signals go to all
/// components directly. Accesses after the last page end at once with an error.
///
/// # Panics
///
/// If there are fewer than two pages.
#[must_use]
#[track_caller]
pub fn apb_split(pages: u32) -> Component {
    assert!(pages >= 2, "{pages} pages need no split");
    let name = format!("apb_split_{pages}");
    let m = Module::new(&name, "Splits APB into pages of 4 KiB. It has no state.");
    let bits = index_width(pages);
    let page = m.input("page_i", bits, "paddr from bit 12 on");
    let psel = m.input("psel_i", 1, "");
    let penable = m.input("penable_i", 1, "");
    let pready_o = m.output("pready_o", 1, "");
    let prdata_o = m.output("prdata_o", 32, "");
    let pslverr_o = m.output("pslverr_o", 1, "");
    let psel_o = m.output("psel_o", pages, "one bit for each page");
    let pready = m.input("pready_i", pages, "");
    let prdata = m.input("prdata_i", 32 * pages, "");
    let pslverr = m.input("pslverr_i", pages, "");

    let selects: Vec<_> = (0..pages).rev().map(|i| &psel & page.is(i.into())).collect();
    m.assign(&psel_o, concat(&selects.iter().collect::<Vec<_>>()));
    m.assign(&prdata_o, prdata.index(&page, 32));
    if pages.is_power_of_two() {
        m.assign(&pready_o, pready.bit_at(&page));
        m.assign(&pslverr_o, &psel & &penable & pslverr.bit_at(&page));
    } else {
        let nobody = m.let_("nobody", page.ge(lit(bits, pages.into())));
        m.assign(&pready_o, &nobody | pready.bit_at(&page));
        m.assign(&pslverr_o, &psel & &penable & (&nobody | pslverr.bit_at(&page)));
    }
    m.finish()
}
