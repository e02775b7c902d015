use crate::snapshot::{Class, Device, Error, Snapshot, core};
use hartrace_spaces::ChangedRegisters;

/// The protocol and configuration of a trace source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// ETMv4 or ETE.
    Etmv4(hartrace_etmv4::Config),
    /// PTM.
    Ptm(hartrace_ptm::Config),
    /// Another protocol, which is not supported, with the type of the device.
    Other(String),
}

impl Protocol {
    /// The configuration after registers were written; `None` if it has no such register.
    pub fn with(&self, setup: ChangedRegisters) -> Option<Self> {
        Some(match (self, setup) {
            (_, ChangedRegisters { etmcr: None, trcconfigr: None }) => self.clone(),
            (Self::Ptm(config), ChangedRegisters { etmcr: Some(cr), trcconfigr: None }) => {
                Self::Ptm(config.with_etmcr(cr))
            }
            (Self::Etmv4(config), ChangedRegisters { etmcr: None, trcconfigr: Some(configr) }) => {
                Self::Etmv4(config.with_trcconfigr(configr))
            }
            _ => return None,
        })
    }
}

/// A trace source in a buffer.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// Its device.
    pub device: &'a Device,
    /// Its number in frames; 0 if the protocol is not known.
    pub id: u8,
    /// Its protocol and configuration.
    pub protocol: Protocol,
    /// The core it traces.
    pub core: Option<&'a Device>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(device: &'a Device, core: Option<&'a Device>) -> Result<Self, Error> {
        let need = |register: &'static str| {
            let missing = Error::Register { device: device.name.clone(), register };
            device.register(register).map(|value| value as u32).ok_or(missing)
        };
        let kind = device.kind.as_str();
        let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| kind.starts_with(prefix));
        let (id, protocol) = if starts(&["ETM4", "ETE"]) {
            let ete = kind.starts_with("ETE");
            // The version is in one register or the other. None has a default: O11.
            let registers = hartrace_etmv4::Registers {
                configr: need("TRCCONFIGR")?,
                idr0: need("TRCIDR0")?,
                idr1: if ete { 0 } else { need("TRCIDR1")? },
                idr2: need("TRCIDR2")?,
                idr8: need("TRCIDR8")?,
                devarch: if ete { Some(need("TRCDEVARCH")?) } else { None },
            };
            let mut config = registers.config();
            let known = core.and_then(|core| crate::snapshot::core(&core.kind));
            config.m_profile = known.is_some_and(|core| core.m_profile);
            config.v8_m = known
                .is_some_and(|core| core.m_profile && core.arch >= hartrace_isa::arm::Arch::V8);
            (need("TRCTRACEIDR")?, Protocol::Etmv4(config))
        } else if starts(&["PTM1", "PFT1"]) {
            let registers = hartrace_ptm::Registers {
                cr: need("ETMCR")?,
                idr: need("ETMIDR")?,
                ccer: need("ETMCCER")?,
            };
            (need("ETMTRACEIDR")?, Protocol::Ptm(registers.config()))
        } else {
            let id = ["ETMTRACEIDR", "TRCTRACEIDR"].iter().find_map(|name| device.register(name));
            (id.unwrap_or(0) as u32, Protocol::Other(kind.to_owned()))
        };
        Ok(Self { device, id: id as u8 & 0x7f, protocol, core })
    }
}

impl Snapshot {
    /// The trace sources in a buffer, in the order of their names.
    pub fn sources(&self, buffer: &str) -> Result<Vec<Source<'_>>, Error> {
        let mut sources = Vec::new();
        for (name, _) in self.source_buffers.iter().filter(|(_, other)| other == buffer) {
            let Some(device) = self.device(name, |class| *class == Class::TraceSource) else {
                continue;
            };
            let core = self.core_sources.iter().find(|(_, source)| source == name);
            let core = core.and_then(|(core, _)| self.device(core, |class| *class == Class::Core));
            sources.push(Source::new(device, core)?);
        }
        sources.sort_by(|a, b| a.device.name.cmp(&b.device.name));
        Ok(sources)
    }

    fn device(&self, name: &str, class: impl Fn(&Class) -> bool) -> Option<&Device> {
        self.devices.iter().find(|device| device.name == name && class(&device.class))
    }
}

/// The core of a source.
impl Source<'_> {
    /// The properties of its core; an error if the type of the core is not known.
    pub fn core_kind(&self) -> Result<crate::snapshot::Core, Error> {
        let kind = self.core.map(|core| core.kind.as_str());
        kind.and_then(core).ok_or_else(|| Error::Missing {
            file: self.device.name.clone(),
            what: match kind {
                Some(kind) => format!("known core type {kind:?}; try ARMv8.3-A or the like"),
                None => "core for this trace source in [core_trace_sources]".to_owned(),
            },
        })
    }
}
