//! Trace packages: a folder with `contents.ini`, metadata and one file for each buffer.
//!
//! Metadata gives options, registers or both of every source; where both tell, the option counts. There
//! are no defaults: what is told by neither is an error that names it.

use crate::files::{self, Files};
use crate::ini::{Ini, Section, number};
use crate::{Buffer, Error, Format, Protocol};
use std::path::Path;

/// A trace source of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Its number in frames.
    pub id: u8,
    /// How it writes.
    pub protocol: Protocol,
}

/// A trace package.
#[derive(Debug)]
pub struct Package {
    files: Box<dyn Files>,
    /// Its trace buffers.
    pub buffers: Vec<Buffer>,
    /// The sources in them.
    pub traces: Vec<Trace>,
}

impl Package {
    /// Reads the ini files of a package in a folder.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Self::read(Box::new(folder.to_owned()))
    }

    /// Reads the ini files of a package.
    pub fn read(files: Box<dyn Files>) -> Result<Self, Error> {
        let contents = files::ini(&*files, "", "contents.ini")?;
        let name = contents.need("trace", "metadata")?;
        let metadata = files::ini(&*files, &contents.name, name)?;
        let format = match metadata.need("buffer", "format")? {
            "coresight" => Format::Coresight,
            other => {
                return Err(Error::Value {
                    file: metadata.name.clone(),
                    key: "format".to_owned(),
                    value: other.to_owned(),
                    expected: "coresight",
                });
            }
        };
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
                traces.push(Trace { id: id & 0x7f, protocol: told.protocol()? });
            }
        }
        Ok(Self { files, buffers, traces })
    }

    /// The bytes of a buffer.
    pub fn bytes(&self, buffer: &Buffer) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        for file in &buffer.files {
            bytes.extend(files::read(&*self.files, "contents.ini", file, 0, None)?);
        }
        Ok(bytes)
    }
}

/// What metadata tells of a source.
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

    /// An option, or what a register says.
    fn need<T>(&self, key: &str, option: Option<T>, register: Option<T>) -> Result<T, Error> {
        let missing = || {
            let section = &self.section.name;
            self.ini.missing(format!("key {key:?} in [{section}], nor registers that tell"))
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

    /// A number of bits that are whole bytes.
    fn bytes(&self, key: &str, register: Option<u8>) -> Result<u8, Error> {
        let option = match self.number(key)? {
            None => None,
            Some(bits @ (0 | 8 | 16 | 32)) => Some((bits / 8) as u8),
            Some(_) => return Err(self.bad(key, "", "0, 8, 16 or 32 bits")),
        };
        self.need(key, option, register)
    }

    fn protocol(&self) -> Result<Protocol, Error> {
        let format = self.section.get("format");
        let format = format.ok_or_else(|| {
            self.ini.missing(format!("key \"format\" in [{}]", self.section.name))
        })?;
        if let Some(version) = format.strip_prefix("ETM4") {
            return self.etmv4(version);
        }
        if let Some(version) = format.strip_prefix("PFT1").or(format.strip_prefix("PTM1")) {
            return self.ptm(version);
        }
        Ok(Protocol::Other(format.to_owned()))
    }

    fn etmv4(&self, version: &str) -> Result<Protocol, Error> {
        let minor = version.strip_prefix('.').and_then(|minor| minor.parse::<u8>().ok());
        let registers = match (
            self.register("TRCCONFIGR")?,
            self.register("TRCIDR0")?,
            self.register("TRCIDR1")?,
            self.register("TRCIDR2")?,
            self.register("TRCIDR8")?,
        ) {
            (Some(configr), Some(idr0), Some(idr1), Some(idr2), Some(idr8)) => {
                let devarch = self.register("TRCDEVARCH")?;
                let all = hartrace_etmv4::Registers { configr, idr0, idr1, idr2, idr8, devarch };
                Some(all.config())
            }
            _ => None,
        };
        let of = |tell: fn(&hartrace_etmv4::Config) -> bool| registers.as_ref().map(tell);
        let version = self.need(
            "format (ETM4.N)",
            minor.filter(|minor| *minor < 16).map(|minor| 0x40 | minor),
            registers.map(|config| config.version),
        )?;
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
            // As many as a packet has room for, where registers do not say; what else they could tell
            // is about packets that are errors without.
            cycle_count_bits: registers.map_or(22, |c| c.cycle_count_bits),
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
             [trace_0x10]\nformat: ETM4\nTRCCONFIGR: 0xc1\nTRCIDR0: 0x28000ea1\n\
             TRCIDR1: 0x4100f403\nTRCIDR2: 0x488\nTRCIDR8: 0\nmax_spec: 7\n\
             [trace_3]\nformat: ETM3.5\n",
        )
        .unwrap();
        assert_eq!(package.buffers.len(), 2);
        assert_eq!(package.bytes(&package.buffers[1]).unwrap(), b"abc");
        assert!(package.bytes(&package.buffers[0]).is_err());
        let ptm = hartrace_ptm::Config {
            cycle_accurate: true,
            context_id_bytes: 4,
            ..hartrace_ptm::Config::default()
        };
        assert_eq!(package.traces[0], Trace { id: 1, protocol: Protocol::Ptm(ptm) });
        let Protocol::Etmv4(config) = &package.traces[1].protocol else { panic!("not ETMv4") };
        // The option counts where both tell.
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
        let odd = format!("{ptm}context_id: 7\n");
        assert!(message(&odd).contains("0, 8, 16 or 32"), "{}", message(&odd));
    }
}
