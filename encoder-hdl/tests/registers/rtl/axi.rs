//! Random accesses through the bridge from AXI, and what has to come of each.

use fastrand::Rng;
use hartrace_encoder_hdl::registers::{AxiBridge, axi_to_apb};
use hartrace_hdl_tools::verilate::{Options, SimError, Simulation};
use hartrace_rtl::Component;
use libtest_mimic::Failed;
use std::collections::VecDeque;

const SLVERR: u64 = 2;

/// An access as its manager means it.
#[derive(Clone, Debug)]
struct Access {
    write: bool,
    id: u64,
    addr: u64,
    len: u64,
    size: u64,
    atop: u64,
    /// Data and strobes of the beats of a write.
    beats: Vec<(u64, u64)>,
}

impl Access {
    fn random(rng: &mut Rng, write: bool, of: AxiBridge) -> Self {
        let rarely = |rng: &mut Rng| rng.u8(..8) == 0;
        let addr = rng.u64(..1 << of.addr_width) & if rarely(rng) { !0 } else { !3 };
        let len = if rarely(rng) { rng.u64(1..4) } else { 0 };
        let size = if rarely(rng) { rng.u64(..4) } else { 2 };
        let atops = [0x10, 0x20, 0x27, 0x30, 0x31];
        let atop = if write && rarely(rng) { atops[rng.usize(..atops.len())] } else { 0 };
        let lane = if of.data_bytes == 8 { addr & 4 } else { 0 };
        let beats = (0..=len).map(|_| {
            let strobe = if rarely(rng) { rng.u64(..1 << of.data_bytes) } else { 0xf << lane };
            (rng.u64(..) >> (64 - 8 * of.data_bytes), strobe)
        });
        let beats = if write { beats.collect() } else { Vec::new() };
        Self { write, id: rng.u64(..1 << of.id_width), addr, len, size, atop, beats }
    }

    /// The word and its strobes, if registers can have the access.
    fn word(&self, of: AxiBridge) -> Option<(u64, u64)> {
        if self.len > 0 || self.size > 2 || self.atop > 0 {
            return None;
        }
        let Some((data, strobe)) = self.beats.first() else { return Some((0, 0)) };
        let lane = if of.data_bytes == 8 { self.addr & 4 } else { 0 };
        let outside = strobe & !(0xf << lane);
        (outside == 0).then_some((data >> (8 * lane) & 0xffff_ffff, strobe >> lane & 0xf))
    }
}

/// The simulation, whose ports have short names here.
struct Ports(Simulation);

impl Ports {
    fn set(&mut self, name: &str, value: u64) -> Result<(), SimError> {
        let input = self.0.input(&format!("{name}_i"))?;
        self.0.set(input, value);
        Ok(())
    }

    fn get(&self, name: &str) -> Result<u64, SimError> {
        Ok(self.0.get(self.0.output(&format!("{name}_o"))?))
    }

    fn all<const N: usize>(&self, names: [&str; N]) -> Result<[u64; N], SimError> {
        let mut values = [0; N];
        for (value, name) in values.iter_mut().zip(names) {
            *value = self.get(name)?;
        }
        Ok(values)
    }
}

/// What is known of the access that is under way.
struct UnderWay {
    access: Access,
    beats_left: usize,
    /// Error and read data that APB answered with.
    answer: Option<(bool, u64)>,
    b_left: bool,
    r_left: u64,
}

fn check(holds: bool, what: impl FnOnce() -> String) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(what().into()) }
}

/// How often each came to its end: registers accessed, and accesses refused.
#[derive(Debug, Default)]
struct Seen {
    reads: u32,
    writes: u32,
    errors: u32,
    refused: u32,
}

fn run(block: &Component, of: AxiBridge, cycles: u32) -> Result<Seen, Failed> {
    let mut sim = Simulation::build(block, &Options::default())?;
    sim.reset()?;
    let mut p = Ports(sim);
    let mut rng = Rng::with_seed(u64::from(of.id_width));
    let mut seen = Seen::default();
    let mut offers: [Option<Access>; 2] = [None, None];
    let mut data: VecDeque<(u64, u64, bool)> = VecDeque::new();
    let mut data_offered = false;
    let mut now: Option<UnderWay> = None;
    let mut overtaken = 0;
    let mut kept: [Option<Vec<u64>>; 2] = [None, None];
    let mut apb: Option<[u64; 4]> = None;
    for cycle in 0..cycles {
        // What is offered stays until it is taken; data may come before its address.
        for (write, offer) in [true, false].into_iter().zip(&mut offers) {
            if offer.is_none() && rng.u8(..3) == 0 && (!write || data.is_empty()) {
                let access = Access::random(&mut rng, write, of);
                let last = access.beats.len();
                let beats = access.beats.iter().enumerate();
                data.extend(beats.map(|(i, (data, strobe))| (*data, *strobe, i + 1 == last)));
                *offer = Some(access);
            }
        }
        for (channel, offer) in ["aw", "ar"].into_iter().zip(&offers) {
            p.set(&format!("{channel}valid"), offer.is_some().into())?;
            if let Some(Access { id, addr, len, size, .. }) = offer {
                for (name, value) in [("id", id), ("addr", addr), ("len", len), ("size", size)] {
                    p.set(&format!("{channel}{name}"), *value)?;
                }
            }
        }
        p.set("awatop", offers[0].as_ref().map_or(rng.u64(..64), |access| access.atop))?;
        data_offered = !data.is_empty() && (data_offered || rng.bool());
        let (word, strobe, last) = *data.front().unwrap_or(&(rng.u64(..) & 0xff, 0, true));
        for (name, value) in [
            ("wvalid", data_offered.into()),
            ("wdata", word),
            ("wstrb", strobe),
            ("wlast", last.into()),
        ] {
            p.set(name, value)?;
        }
        let [b_ready, r_ready, ready, fails] = [(); 4].map(|()| rng.bool());
        let fails = fails && rng.bool();
        let answer = rng.u64(..1 << 32);
        for (name, value) in [
            ("bready", b_ready.into()),
            ("rready", r_ready.into()),
            ("pready", ready.into()),
            ("prdata", answer),
            ("pslverr", fails.into()),
        ] {
            p.set(name, value)?;
        }
        p.0.step()?;
        let at = |what: &str| format!("cycle {cycle}: {what}");

        // Answers.
        for (i, channel) in ["b", "r"].into_iter().enumerate() {
            let [valid, id, resp] = p.all([
                &format!("{channel}valid"),
                &format!("{channel}id"),
                &format!("{channel}resp"),
            ])?;
            let mut offered = vec![id, resp];
            if i == 1 {
                offered.extend(p.all(["rdata", "rlast"])?);
            }
            if let Some(before) = &kept[i] {
                check(valid == 1 && *before == offered, || at("an answer was withdrawn"))?;
            }
            let taken = valid == 1 && [b_ready, r_ready][i];
            kept[i] = (valid == 1 && !taken).then(|| offered.clone());
            if !taken {
                continue;
            }
            let Some(way) = &mut now else { return Err(at("an answer to nothing").into()) };
            let left = if i == 0 { u64::from(way.b_left) } else { way.r_left };
            check(left > 0 && way.beats_left == 0, || at("an answer too much, or too early"))?;
            let expected = match (way.access.word(of), way.answer) {
                (None, None) => SLVERR,
                (Some(_), Some((error, _))) => SLVERR * u64::from(error),
                _ => return Err(at("an answer without an access").into()),
            };
            check(offered[..2] == [way.access.id, expected], || at(&format!("{offered:x?}")))?;
            if i == 1 {
                // What is refused reads as 0; only atomic operations return anything.
                let word = way.answer.map_or(0, |(_, word)| word);
                let good = offered[2] == word | if of.data_bytes == 8 { word << 32 } else { 0 };
                check(good || way.access.write, || at(&format!("data {offered:x?}")))?;
                check((offered[3] == 1) == (way.r_left == 1), || at("the last beat is another"))?;
                way.r_left -= 1;
            } else {
                way.b_left = false;
            }
            if !way.b_left && way.r_left == 0 {
                match (way.access.word(of), way.answer) {
                    (None, _) => seen.refused += 1,
                    (_, Some((true, _))) => seen.errors += 1,
                    _ if way.access.write => seen.writes += 1,
                    _ => seen.reads += 1,
                }
                now = None;
            }
        }

        // APB: an idle or last cycle, setup, then access until it is ready.
        let [sel, enable] = p.all(["psel", "penable"])?;
        let signals = p.all(["pwrite", "paddr", "pwdata", "pstrb"])?;
        check(enable == u64::from(apb.is_some()) && (sel == 1 || apb.is_none()), || {
            at(&format!("psel {sel}, penable {enable}"))
        })?;
        if let Some(before) = apb {
            check(before == signals, || at("APB changes in an access"))?;
        }
        apb = (sel == 1 && !(enable == 1 && ready)).then_some(signals);
        if sel == 1 && enable == 1 && ready {
            let Some(way) = now.as_mut().filter(|way| way.answer.is_none() && way.beats_left == 0)
            else {
                return Err(at("an access of nobody").into());
            };
            let Some((word, strobe)) = way.access.word(of) else {
                return Err(at(&format!("{:x?} reaches APB", way.access)).into());
            };
            let write = u64::from(way.access.write);
            let [pwrite, paddr, pwdata, pstrb] = signals;
            let good = [pwrite, paddr, pstrb] == [write, way.access.addr, strobe]
                && (write == 0 || pwdata == word);
            check(good, || at(&format!("{signals:x?} for {:x?}", way.access)))?;
            way.answer = Some((fails, answer));
        }

        // Data, then addresses: those of this cycle are under way in the next.
        if data_offered && p.get("wready")? == 1 {
            let Some(way) = now.as_mut().filter(|way| way.beats_left > 0) else {
                return Err(at("data of nobody is taken").into());
            };
            way.beats_left -= 1;
            data.pop_front();
            data_offered = false;
        }
        let waits = offers[1].is_some();
        for (i, channel) in ["aw", "ar"].into_iter().enumerate() {
            if p.get(&format!("{channel}ready"))? == 0 {
                continue;
            }
            let Some(access) = offers[i].take() else { continue };
            check(now.is_none(), || at("a second access is taken"))?;
            overtaken = if i == 0 && waits { overtaken + 1 } else { 0 };
            check(overtaken < 2, || at("a read is overtaken again"))?;
            let r_left = match access.write {
                true => access.atop >> 5 & 1,
                false => access.len + 1,
            };
            let (beats_left, b_left) = (access.beats.len(), access.write);
            now = Some(UnderWay { access, beats_left, answer: None, b_left, r_left });
        }
    }
    Ok(seen)
}

/// Every access has the effect and the answer that it must have, in any order and at any pace.
pub(crate) fn bridge(of: AxiBridge) -> Result<(), Failed> {
    let seen = run(&axi_to_apb(of), of, 30_000)?;
    println!("{of:?}: {seen:?}");
    let Seen { reads, writes, errors, refused } = seen;
    assert!(reads > 500 && writes > 500 && errors > 500 && refused > 500, "{seen:?}");
    Ok(())
}
