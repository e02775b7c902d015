//! Trace packages: a folder, or a ZIP archive, with `contents.ini`, metadata and one file for each buffer.
//!
//! In `contents.ini`, section `[trace]` names the metadata, the buffers (`buffer0=...`) and the system
//! event log (`events=...`, or else the file `system-event-log` if there is one). Every section `[dump...]`
//! describes memory, as in the file of a core of a snapshot.
//!
//! Metadata contains options, registers or both for every source; the option has priority over a register.
//! There are no defaults: an error names a property that neither provides.

use crate::limits::TEXT_BYTES;
use crate::snapshot::bytes::{BufferBytes, Written};
use crate::snapshot::device::dumps;
use crate::snapshot::files::{self, Files};
use crate::snapshot::ini::{Ini, Section, number};
use crate::snapshot::{Buffer, Dump, Error, Format, Protocol, Segment};
use hartrace_isa::arm::Arch;
use hartrace_spaces::{Holds, Log};
use std::path::Path;
use std::sync::Arc;

/// The system event log, where nothing names another.
const LOG: &str = "system-event-log";

/// A trace source of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Its number in frames.
    pub id: u8,
    /// Its protocol and configuration.
    pub protocol: Protocol,
    /// The type of the core it traces, if the metadata contains it.
    pub core: Option<String>,
    /// The content of that core's context identifier, if the metadata describes it.
    pub holds: Option<Holds>,
}

/// A trace package.
#[derive(Debug)]
pub struct Package {
    files: Arc<dyn Files>,
    /// Its trace buffers.
    pub buffers: Vec<Buffer>,
    /// The sources in them.
    pub traces: Vec<Trace>,
    dumps: Vec<Dump>,
    events: Option<String>,
    /// The write pointer of the buffers, and whether it has wrapped.
    written: Option<(usize, bool)>,
}

impl Package {
    /// Reads the ini files of a package, in a folder or an archive.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::read(files::open_files(path)?)
    }

    /// Reads the ini files of a package.
    pub fn read(files: Box<dyn Files>) -> Result<Self, Error> {
        let contents = files::ini(&*files, "", "contents.ini")?;
        let name = contents.need("trace", "metadata")?;
        let metadata = files::ini(&*files, &contents.name, name)?;
        let format = Format::read(&metadata, "buffer")?;
        let entries = contents.named("trace").flat_map(|section| &section.entries);
        let buffers = entries.filter(|(key, _)| key.starts_with("buffer"));
        let buffers = buffers.map(|(key, file)| Buffer {
            name: key.clone(),
            files: vec![file.clone()],
            format,
        });
        let buffers = buffers.collect();
        let mut traces = Vec::new();
        for section in &metadata.sections {
            if let Some(id) = section.name.strip_prefix("trace_") {
                let told = Told { ini: &metadata, section };
                let id = number(id).and_then(|id| u8::try_from(id).ok());
                let id =
                    id.ok_or_else(|| told.bad("trace_", &section.name, "a number up to 127"))?;
                let core = section.get("core").map(str::to_owned);
                let (protocol, holds) = (told.protocol(core.as_deref())?, told.holds()?);
                traces.push(Trace { id: id & 0x7f, protocol, core, holds });
            }
        }
        let written = match metadata.named("buffer").next() {
            Some(section) => Told { ini: &metadata, section }.written()?,
            None => None,
        };
        let (dumps, events) = (dumps(&contents)?, contents.get("trace", "events"));
        let events = events.or_else(|| files.has(LOG).then_some(LOG)).map(str::to_owned);
        Ok(Self { files: files.into(), buffers, traces, dumps, events, written })
    }

    /// A buffer by its name, or the first one.
    pub fn buffer(&self, name: Option<&str>) -> Result<&Buffer, Error> {
        let found = match name {
            Some(name) => self.buffers.iter().find(|buffer| buffer.name == name),
            None => self.buffers.first(),
        };
        found.ok_or_else(|| Error::buffer(name, &self.buffers))
    }

    /// Memory that all cores see. A file that cannot be read is left out, with a warning.
    pub fn segments(&self, warnings: &mut Vec<String>) -> Result<Vec<Segment>, Error> {
        files::segments(&*self.files, "contents.ini", &self.dumps, warnings)
    }

    /// A file of the package.
    pub fn file(&self, name: &str) -> Result<Vec<u8>, Error> {
        files::file(&*self.files, "contents.ini", name)
    }

    /// The system event log, if there is one.
    pub fn log(&self) -> Result<Option<Log>, Error> {
        let Some(name) = &self.events else { return Ok(None) };
        let bytes = files::text(&*self.files, "contents.ini", name, TEXT_BYTES)?;
        Ok(Some(Log::parse(name, &String::from_utf8_lossy(&bytes))?))
    }

    /// The bytes of a buffer, the oldest first.
    pub fn bytes(&self, buffer: &Buffer) -> BufferBytes {
        let written = self.written.map(|written| Written::new(written, buffer.format));
        BufferBytes::new(&self.files, "contents.ini", &buffer.files, written)
    }
}

/// The metadata of a source.
struct Told<'a> {
    ini: &'a Ini,
    section: &'a Section,
}

impl Told<'_> {
    fn bad(&self, key: &str, value: &str, expected: &'static str) -> Error {
        Error::Value {
            file: self.ini.name.clone(),
            key: key.to_owned(),
            value: value.to_owned(),
            expected,
        }
    }

    fn number(&self, key: &str) -> Result<Option<u64>, Error> {
        self.section.get(key).map(|value| self.ini.number(key, value)).transpose()
    }

    fn register(&self, key: &str) -> Result<Option<u32>, Error> {
        Ok(self.number(key)?.map(|value| value as u32))
    }

    /// The value of an option or, without it, of a register.
    fn need<T>(&self, key: &str, option: Option<T>, register: Option<T>) -> Result<T, Error> {
        let missing = || {
            let section = &self.section.name;
            self.ini.missing(format!("key {key:?} in [{section}], nor registers that contain it"))
        };
        option.or(register).ok_or_else(missing)
    }

    fn flag(&self, key: &str, register: Option<bool>) -> Result<bool, Error> {
        let option = match self.section.get(key) {
            None => None,
            Some("1" | "true") => Some(true),
            Some("0" | "false") => Some(false),
            Some(other) => return Err(self.bad(key, other, "0, 1, true or false")),
        };
        self.need(key, option, register)
    }

    /// A width in bytes. The option gives it in bits: 0, 8, 16 or 32.
    fn bytes(&self, key: &str, register: Option<u8>) -> Result<u8, Error> {
        let option = match self.number(key)? {
            None => None,
            Some(bits @ (0 | 8 | 16 | 32)) => Some((bits / 8) as u8),
            Some(_) => return Err(self.bad(key, "", "0, 8, 16 or 32 bits")),
        };
        self.need(key, option, register)
    }

    /// The write pointer of the buffer, and whether it has wrapped.
    fn written(&self) -> Result<Option<(usize, bool)>, Error> {
        let Some(write) = self.number("write_pointer")? else { return Ok(None) };
        let wrapped = self.flag("wrapped", None)?;
        Ok(Some((usize::try_from(write).unwrap_or(usize::MAX), wrapped)))
    }

    fn holds(&self) -> Result<Option<Holds>, Error> {
        Ok(Some(match self.section.get("context_id_holds") {
            None => return Ok(None),
            Some("asid") => Holds::Asid,
            Some("asid+pid") => Holds::AsidPid,
            Some("asid+tid") => Holds::AsidTid,
            Some("tid") => Holds::Tid,
            Some(other) => {
                let expected = "asid, asid+pid, asid+tid or tid";
                return Err(self.bad("context_id_holds", other, expected));
            }
        }))
    }

    fn protocol(&self, core: Option<&str>) -> Result<Protocol, Error> {
        let format = self.section.get("format");
        let format = format.ok_or_else(|| {
            self.ini.missing(format!("key \"format\" in [{}]", self.section.name))
        })?;
        if let Some(version) = format.strip_prefix("ETM4") {
            return self.etmv4(0x40, version, core);
        }
        if let Some(version) = format.strip_prefix("ETE1") {
            return self.etmv4(0x50, version, core);
        }
        if let Some(version) = format.strip_prefix("PFT1").or(format.strip_prefix("PTM1")) {
            return self.ptm(version);
        }
        Ok(Protocol::Other(format.to_owned()))
    }

    /// `major` is the major version in the numbering of ETMv4: ETE 1 is 5.
    fn etmv4(&self, major: u8, version: &str, core: Option<&str>) -> Result<Protocol, Error> {
        let minor = version.strip_prefix('.').and_then(|minor| minor.parse::<u8>().ok());
        let registers = match (
            self.register("TRCCONFIGR")?,
            self.register("TRCIDR0")?,
            self.register("TRCIDR1")?,
            self.register("TRCIDR2")?,
            self.register("TRCIDR8")?,
        ) {
            (Some(configr), Some(idr0), idr1, Some(idr2), Some(idr8))
                if idr1.is_some() || self.register("TRCDEVARCH")?.is_some() =>
            {
                let (idr1, devarch) = (idr1.unwrap_or(0), self.register("TRCDEVARCH")?);
                let all = hartrace_etmv4::Registers { configr, idr0, idr1, idr2, idr8, devarch };
                Some(all.config())
            }
            _ => None,
        };
        let of = |tell: fn(&hartrace_etmv4::Config) -> bool| registers.as_ref().map(tell);
        let version = self.need(
            "format (ETM4.N or ETE1.N)",
            minor.filter(|minor| *minor < 16).map(|minor| major | minor),
            registers.map(|config| config.version),
        )?;
        let known = core.and_then(crate::snapshot::core);
        let speculation = self.number("max_spec")?.map(|depth| depth as u32);
        let q = self.number("q_support")?.map(|support| support != 0);
        // Not needed before version 4.3.
        let before = (version < 0x43).then_some(false);
        Ok(Protocol::Etmv4(hartrace_etmv4::Config {
            version,
            context_id_bytes: self.bytes("context_id", registers.map(|c| c.context_id_bytes))?,
            vmid_bytes: self.bytes("vmid", registers.map(|c| c.vmid_bytes))?,
            commopt: self.flag("commopt", of(|c| c.commopt))?,
            max_speculation: self.need(
                "max_spec",
                speculation,
                registers.map(|c| c.max_speculation),
            )?,
            q: self.need("q_support", q, of(|c| c.q))?,
            return_stack: self.flag("return_stack", of(|c| c.return_stack))?,
            wfx_branch: self.flag("wfx_branch", of(|c| c.wfx_branch).or(before))?,
            // Without registers, as many bits as a packet has room for. Their other fields only
            // concern packets that are errors without them.
            cycle_count_bits: registers.map_or(22, |c| c.cycle_count_bits),
            // Only in ETE; the second one only in later versions.
            transaction_p0: self.flag(
                "transaction_p0",
                of(|c| c.transaction_p0).or((version < 0x50).then_some(true)),
            )?,
            timestamp_marker: self.flag(
                "timestamp_marker",
                of(|c| c.timestamp_marker).or((version < 0x51).then_some(false)),
            )?,
            m_profile: known.is_some_and(|core| core.m_profile),
            v8_m: known.is_some_and(|core| core.m_profile && core.arch >= Arch::V8),
            ..registers.unwrap_or_default()
        }))
    }

    fn ptm(&self, version: &str) -> Result<Protocol, Error> {
        let registers =
            match (self.register("ETMCR")?, self.register("ETMIDR")?, self.register("ETMCCER")?) {
                (Some(cr), Some(idr), Some(ccer)) => {
                    Some(hartrace_ptm::Registers { cr, idr, ccer }.config())
                }
                _ => None,
            };
        let of = |tell: fn(&hartrace_ptm::Config) -> bool| registers.as_ref().map(tell);
        // The first version has 48 bits, Gray coded.
        let first = (version == ".0").then_some(true);
        let bits = match self.number("timestamp_bits")? {
            None => None,
            Some(bits @ (0 | 48 | 64)) => Some(bits == 64),
            Some(_) => return Err(self.bad("timestamp_bits", "", "0, 48 or 64")),
        };
        Ok(Protocol::Ptm(hartrace_ptm::Config {
            cycle_accurate: self.flag("cyclecount", of(|c| c.cycle_accurate))?,
            context_id_bytes: self.bytes("context_id", registers.map(|c| c.context_id_bytes))?,
            timestamp_64: self.need(
                "timestamp_bits",
                bits,
                first.map(|_| false).or(of(|c| c.timestamp_64)),
            )?,
            timestamp_gray: self.flag("timestamp_gray", first.or(of(|c| c.timestamp_gray)))?,
            return_stack: self.flag("return_stack", of(|c| c.return_stack))?,
            barriers: self.flag("dmb_dsb_waypoints", of(|c| c.barriers))?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const CONTENTS: &str = "[trace]\nmetadata=trace.ini\nbuffer0=one.data\nbuffer1=two.data\n";
    const BUFFER: &str = "[buffer]\nvendor: ARM\ncomponent: ETB\nformat: coresight\n";

    fn package(metadata: &str) -> Result<Package, Error> {
        let metadata = format!("{BUFFER}{metadata}");
        let files = [("contents.ini", CONTENTS), ("trace.ini", &metadata), ("two.data", "abc")];
        let files = files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
        Package::read(Box::new(BTreeMap::from(files)))
    }

    #[test]
    fn options_and_registers() {
        let package = package(
            "[trace_1]\nformat: PFT1.1\ncyclecount: 1\ntimestamp_bits: 48\ntimestamp_gray: 0\n\
             context_id: 32\nreturn_stack: false\ndmb_dsb_waypoints: 0\n\
             core: Cortex-A9\ncontext_id_holds: asid+tid\n\
             [trace_0x10]\nformat: ETM4\nTRCCONFIGR: 0xc1\nTRCIDR0: 0x28000ea1\n\
             TRCIDR1: 0x4100f403\nTRCIDR2: 0x488\nTRCIDR8: 0\nmax_spec: 7\n\
             [trace_3]\nformat: ETM3.5\n",
        )
        .unwrap();
        assert_eq!(package.buffers.len(), 2);
        assert_eq!(package.bytes(&package.buffers[1]).read().unwrap(), b"abc");
        assert!(package.bytes(&package.buffers[0]).open().is_err());
        let ptm = hartrace_ptm::Config {
            cycle_accurate: true,
            context_id_bytes: 4,
            ..hartrace_ptm::Config::default()
        };
        let (core, holds) = (Some("Cortex-A9".to_owned()), Some(Holds::AsidTid));
        assert_eq!(package.traces[0], Trace { id: 1, protocol: Protocol::Ptm(ptm), core, holds });
        let Protocol::Etmv4(config) = &package.traces[1].protocol else { panic!("not ETMv4") };
        // The option has priority over the register.
        assert_eq!((package.traces[1].id, config.max_speculation), (0x10, 7));
        assert_eq!((config.version, config.vmid_bytes, config.commopt), (0x40, 1, true));
        assert_eq!(package.traces[2].protocol, Protocol::Other("ETM3.5".to_owned()));
    }

    #[test]
    fn what_is_missing_is_named() {
        let message = |metadata: &str| package(metadata).unwrap_err().to_string();
        let ptm = "[trace_1]\nformat: PFT1.1\ncyclecount: 1\n";
        assert!(message(ptm).contains("\"context_id\" in [trace_1]"), "{}", message(ptm));
        assert!(message("[trace_1]\nformat: ETM4.2\n").contains("\"context_id\""));
        assert!(message("[trace_1]\n").contains("\"format\""));
        assert!(message("[trace_x]\nformat: ETM3.5\n").contains("trace_x"));
        let ete = "[trace_1]\nformat: ETE1.1\ncontext_id: 0\nvmid: 0\ncommopt: 1\nmax_spec: 0\n\
                   q_support: 0\nreturn_stack: 0\nwfx_branch: 0\n";
        assert!(message(ete).contains("\"transaction_p0\""), "{}", message(ete));
        let whole = package(&format!("{ete}transaction_p0: 0\ntimestamp_marker: 1\n")).unwrap();
        let Protocol::Etmv4(config) = &whole.traces[0].protocol else { panic!("not ETE") };
        assert_eq!((config.version, config.is_ete(), config.timestamp_marker), (0x51, true, true));
        let odd = format!("{ptm}context_id: 7\n");
        assert!(message(&odd).contains("0, 8, 16 or 32"), "{}", message(&odd));
    }
}
