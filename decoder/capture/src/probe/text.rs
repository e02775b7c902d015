//! The report, for people and as JSON.

use super::guess::{Guess, Knob};
use super::{Difference, ETrace, Origin, Report, Score, Setting, Starts};
use crate::framing::{Field, Transport};
use crate::params::{compat_name, unit_name};
use hartrace_encap::Framing;
use hartrace_etrace::Unit;
use serde_json::{Value, json};
use std::{fmt, ptr};

/// Values of a list that are printed.
const SHOWN: usize = 8;

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(best) = self.best() {
            write!(f, "{best}")?;
        } else if let Some(arm) = self.coresight.as_ref().filter(|_| self.is_arm()) {
            write!(f, "{arm}")?;
        } else if let Some(misfit) = self.misfit() {
            misfit.of_another(f)?;
        } else {
            writeln!(f, "neither E-Trace nor Arm trace, as far as can be seen")?;
        }
        if self.best().is_none() && !self.is_arm() && !self.etrace.is_empty() {
            let how = "a parameter file with hpred_size_p has to name it";
            writeln!(f, "not looked for: E-Trace with history prediction; {how}")?;
        }
        if self.examined < self.bytes {
            writeln!(f, "examined: the first {} of {} bytes", self.examined, self.bytes)?;
        }
        if self.limited {
            writeln!(f, "not everything was tried: that would have taken too long")?;
        }
        let shown = self.best().or_else(|| self.misfit());
        let others =
            self.etrace.iter().filter(|other| !shown.is_some_and(|it| ptr::eq(it, *other)));
        for other in others.filter(|_| !self.is_arm()) {
            writeln!(f, "other reading: {}; {}", framing(&other.reading.framing), followed(other))?;
        }
        Ok(())
    }
}

impl fmt::Display for ETrace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reading = &self.reading;
        if self.is_ambiguous() {
            let count = self.rivals.len().saturating_add(1);
            let more = if self.more_rivals { " or more" } else { "" };
            writeln!(
                f,
                "AMBIGUOUS: {count}{more} readings decode equally well, but not to the same; nothing tells which is right"
            )?;
            for (number, line) in (1..).zip(self.readings()) {
                writeln!(f, "  reading {number}: {line}")?;
            }
            writeln!(f, "what follows is of reading 1")?;
        }
        writeln!(f, "RISC-V E-Trace: {}", followed(self))?;
        self.cut_start(f)?;
        if let Some(address) = self.score.and_then(|score| score.assumed) {
            let what = "and the program has no code there; assumed: it jumps to the program";
            writeln!(f, "the trace starts at {address:#x}, {what}")?;
        }
        if let Some((at, fault)) = self.score.and_then(|score| score.first_gap) {
            writeln!(f, "the first gap is at packet {}, byte {}: {fault}", at.packet, at.byte)?;
        }
        let alike = reading.alike.iter().map(framing).collect::<Vec<_>>();
        let same = format!("the payloads are the same with {}", short(&alike));
        row(f, "framing", framing(&reading.framing), if alike.is_empty() { "" } else { &same })?;
        if reading.sources.len() > 1 {
            let all = reading.sources.iter().map(|(id, count)| {
                let id = id.map_or("none".to_owned(), |id| id.to_string());
                format!("{id} ({count} packets)")
            });
            let source = reading.source.map_or("none".to_owned(), |id| id.to_string());
            row(f, "source", source, &format!("of {}", short(&all.collect::<Vec<_>>())))?;
        }
        let xlen = match self.score {
            Some(_) => "that of the program",
            None => "guessed",
        };
        row(f, "xlen", self.guess.xlen.bits(), xlen)?;
        row(f, "modes", self.modes, "from the support packets")?;
        if self.guess.unit == Unit::RvTracer {
            row(f, "unit", "rv-tracer", "its parameters are fixed")?;
            return Ok(());
        }
        for setting in &self.settings {
            let shown = setting.text(setting.value);
            row(f, setting.name, shown, &setting.verdict())?;
            if setting.name == super::STATE && self.guess.state_bits() > 3 {
                let params = &self.guess.params;
                let widths =
                    [params.privilege_width_p.into(), params.time_bits(), params.context_bits()];
                let [privilege, time, context] = widths;
                let what =
                    format!("assumed: {privilege} + {time} + {context}, which is not visible");
                row(f, "", "", &what)?;
            }
        }
        Ok(())
    }
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, value: impl fmt::Display, why: &str) -> fmt::Result {
    let line = format!("  {name:<28}{:<14}{why}", value.to_string());
    writeln!(f, "{}", line.trim_end())
}

/// Some of a list.
fn short(list: &[String]) -> String {
    let rest = list.len().saturating_sub(SHOWN);
    let shown = list.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if rest > 0 { format!("{shown} and {rest} more") } else { shown }
}

/// What a reading has that others have not.
fn parts(framing_of: &Framing, guess: &Guess, all: &[(Framing, Guess)]) -> String {
    let mut parts = Vec::new();
    if all.iter().any(|(other, _)| other != framing_of) {
        parts.push(format!("framing {}", framing(framing_of)));
    }
    for knob in Knob::all() {
        if all.iter().any(|(_, other)| knob.get(other) != knob.get(guess)) {
            let setting = Setting::new(knob, guess, Origin::Tried);
            parts.push(format!("{} {}", setting.name, setting.text(setting.value)));
        }
    }
    parts.join(", ")
}

impl ETrace<'_> {
    /// Where the trace can be read from, if that is not its first byte.
    fn cut_start(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reading.skipped {
            0 => Ok(()),
            at => writeln!(f, "it starts in the middle: the first synchronisation is at byte {at}"),
        }
    }

    /// That the packets are those of a trace, but the program is not the one that was traced.
    fn of_another(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "RISC-V E-Trace, but this program does not fit: {}", followed(self))?;
        let Starts { inside, all } = self.starts;
        if all > 0 {
            writeln!(f, "{inside} of {all} synchronisations are at instructions of the program")?;
        }
        self.cut_start(f)?;
        let what = "the very file that ran, PROG@BIAS if it was loaded elsewhere, or all code that ran, with --elf again";
        writeln!(f, "try: {what}")?;
        row(f, "framing", framing(&self.reading.framing), "")?;
        row(f, "modes", self.modes, "from the support packets")?;
        row(f, "parameters", "unknown", "only the program that was traced shows them")
    }

    /// This reading and its rivals, each in a line.
    fn readings(&self) -> Vec<String> {
        let mut all = vec![(self.reading.framing, self.guess)];
        all.extend(self.rivals.iter().map(|rival| (rival.framing, rival.guess)));
        let count = |score: Option<Score>| score.map_or(0, |score| score.instructions);
        let mut lines = Vec::new();
        for (index, (framing, guess)) in all.iter().enumerate() {
            let rival = index.checked_sub(1).and_then(|index| self.rivals.get(index));
            let score = rival.map_or(self.score, |rival| Some(rival.score));
            let differs = rival.and_then(|rival| rival.differs);
            let differs = differs.map_or_else(String::new, |differs| format!("; {differs}"));
            let parts = parts(framing, guess, &all);
            lines.push(format!("{parts}; {} instructions{differs}", count(score)));
        }
        lines
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, instruction, here, there } = self;
        let place = format!("packet {}, byte {}", at.packet, at.byte);
        if here == there {
            return write!(f, "differs at {place}, in what traps and contexts are");
        }
        let packet = at.packet;
        match (here, there) {
            (None, Some(there)) => write!(
                f,
                "packet {packet} leads to no instruction {instruction}, which reading 1 has at {there:#x}"
            ),
            (Some(here), None) => write!(
                f,
                "instruction {instruction} ({place}) is at {here:#x}, where reading 1 has none"
            ),
            (here, there) => {
                let address = |address: Option<u64>| address.unwrap_or_default();
                let (here, there) = (address(*here), address(*there));
                write!(
                    f,
                    "instruction {instruction} ({place}) is at {here:#x}, in reading 1 at {there:#x}"
                )
            }
        }
    }
}

/// How much of a capture was followed.
fn followed(found: &ETrace<'_>) -> String {
    let packets = found.reading.packets();
    let Some(score) = found.score else {
        return format!("{packets} packets, not decoded without the program");
    };
    let all = score.followed.saturating_add(score.lost);
    let instructions = score.instructions;
    match score.lost {
        0 => format!("{packets} packets, all followed; {instructions} instructions"),
        _ => format!(
            "{packets} packets, {} of {all} payload bytes followed; {instructions} instructions, {} gaps",
            score.followed, score.gaps
        ),
    }
}

/// A framing with its fields, as on the command line.
fn framing(framing: &Framing) -> String {
    let transport = Transport::of(*framing, None);
    let (kind, fields) = (transport.kind(), transport.fields());
    let known = Field::ALL.into_iter().filter(|field| field.kinds().contains(&kind));
    // The ATID is not in the capture.
    let known = known.filter(|field| *field != Field::Atid);
    let given = known.filter_map(|field| Some((field, field.value(&fields)?)));
    let given = given.filter(|(_, value)| *value > 0);
    let given = given.map(|(field, value)| format!(" --{field} {value}")).collect::<String>();
    format!("{kind}{given}")
}

impl Setting {
    /// A value as in a parameter file.
    fn text(&self, value: u8) -> String {
        let names: &[&str] = match self.name {
            "unit" => &["reference", "hartrace"],
            "compat" => &["none", "python-model", "c-model"],
            _ => &[],
        };
        names.get(usize::from(value)).map_or_else(|| value.to_string(), |name| (*name).to_owned())
    }

    fn texts(&self, values: &[u8]) -> Vec<String> {
        // Neighbours are a range.
        let mut texts = Vec::new();
        let mut rest = values.iter().copied().peekable();
        while let Some(first) = rest.next() {
            let mut last = first;
            while let Some(next) = rest.next_if(|next| last.checked_add(1) == Some(*next)) {
                last = next;
            }
            let words = matches!(self.name, "unit" | "compat");
            texts.push(self.text(first));
            match last.saturating_sub(first) {
                0 => {}
                1 => texts.push(self.text(last)),
                _ if words => texts.extend((first..=last).skip(1).map(|value| self.text(value))),
                _ => {
                    texts.pop();
                    texts.push(format!("{first} to {last}"));
                }
            }
        }
        texts
    }

    /// How sure the value is.
    fn verdict(&self) -> String {
        let list = |values: &[u8]| short(&self.texts(values));
        match self.origin {
            Origin::Unused => "no packet contains it".into(),
            Origin::Fixed => "fixed".into(),
            Origin::Guessed => "guessed".into(),
            Origin::Tried if self.is_named() => "found: every other value decodes worse".into(),
            Origin::Tried => {
                let mut parts = Vec::new();
                if !self.same.is_empty() && self.worse.is_empty() && self.rivals.is_empty() {
                    return "does not matter here".into();
                }
                if !self.same.is_empty() {
                    parts.push(format!("the same with {}", list(&self.same)));
                }
                if !self.rivals.is_empty() {
                    parts.push(format!(
                        "decodes as well, but to others, with {}",
                        list(&self.rivals)
                    ));
                }
                if !self.worse.is_empty() {
                    parts.push(format!("worse with {}", list(&self.worse)));
                }
                parts.join("; ")
            }
        }
    }

    fn json(&self) -> Value {
        let texts = |values: &[u8]| values.iter().map(|v| self.text(*v)).collect::<Vec<_>>();
        json!({
            "name": self.name,
            "value": self.text(self.value),
            "origin": match self.origin {
                Origin::Tried => "tried",
                Origin::Unused => "unused",
                Origin::Fixed => "fixed",
                Origin::Guessed => "guessed",
            },
            "found": self.is_named(),
            "same": texts(&self.same),
            "rivals": texts(&self.rivals),
            "worse": texts(&self.worse),
        })
    }
}

impl Report<'_> {
    /// The report as one JSON object.
    pub fn json(&self) -> Value {
        let protocol = match (self.best().or_else(|| self.misfit()), self.is_arm()) {
            (Some(_), _) => Some("e-trace"),
            (None, true) => Some("arm"),
            (None, false) => None,
        };
        // Without a program, nothing is known of it.
        let fits = self.etrace.iter().any(|found| found.score.is_some());
        let fits = fits.then(|| self.best().is_some());
        json!({
            "protocol": protocol,
            "program_fits": fits,
            "bytes": self.bytes,
            "examined": self.examined,
            "limited": self.limited,
            "etrace": self.etrace.iter().map(ETrace::json).collect::<Vec<_>>(),
            "coresight": self.coresight.as_ref().map(super::CoreSight::json),
        })
    }
}

impl ETrace<'_> {
    fn json(&self) -> Value {
        let reading = &self.reading;
        let sources =
            reading.sources.iter().map(|(id, count)| json!({"source": id, "packets": count}));
        let gap = |score: &super::Score| {
            score.first_gap.map(|(at, fault)| {
                json!({"packet": at.packet, "byte": at.byte, "cause": fault.to_string()})
            })
        };
        json!({
            "framing": framing(&reading.framing),
            "alike": reading.alike.iter().map(framing).collect::<Vec<_>>(),
            "starts_at": reading.skipped,
            "packets": reading.packets(),
            "errors": reading.errors,
            "source": reading.source,
            "sources": sources.collect::<Vec<_>>(),
            "likely": self.is_likely(),
            "decoded": self.score.map(|score| json!({
                "followed_bytes": score.followed,
                "lost_bytes": score.lost,
                "gaps": score.gaps,
                "instructions": score.instructions,
                "first_gap": gap(&score),
                "assumed_jump_at": score.assumed.map(|address| format!("{address:#x}")),
            })),
            "xlen": self.guess.xlen.bits(),
            "synchronisations": {"in_program": self.starts.inside, "all": self.starts.all},
            "modes": self.modes.to_string(),
            "ambiguous": self.is_ambiguous(),
            "readings": if self.is_ambiguous() { self.readings() } else { Vec::new() },
            "parameters": self.guess.params,
            "unit": unit_name(self.guess.unit),
            "compat": compat_name(self.guess.compat),
            "settings": self.settings.iter().map(Setting::json).collect::<Vec<_>>(),
        })
    }
}
