use crate::snapshot::files::{self, Files};
use crate::snapshot::ini::Ini;
use crate::snapshot::{BufferBytes, Device, Error};
use hartrace_isa::arm::Spaces;
use std::path::Path;
use std::sync::Arc;

/// How trace is stored in a buffer.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Frames, starting at the first byte.
    Coresight,
    /// Frames with synchronisation words, in blocks of a DSTREAM probe.
    Dstream,
    /// The bytes of one source.
    SourceData,
}

impl Format {
    pub(crate) fn read(ini: &Ini, section: &str) -> Result<Self, Error> {
        match ini.need(section, "format")? {
            "coresight" => Ok(Self::Coresight),
            "dstream_coresight" => Ok(Self::Dstream),
            "source_data" => Ok(Self::SourceData),
            other => Err(Error::Value {
                file: ini.name.clone(),
                key: "format".to_owned(),
                value: other.to_owned(),
                expected: "coresight, dstream_coresight or source_data",
            }),
        }
    }
}

/// A trace buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// The files that hold it, in order.
    pub files: Vec<String>,
    /// How trace is stored in it.
    pub format: Format,
}

/// Memory of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its start address.
    pub address: u64,
    /// Its content.
    pub bytes: Vec<u8>,
    /// The address spaces that contain it.
    pub spaces: Spaces,
}

/// A snapshot.
#[derive(Debug)]
pub struct Snapshot {
    files: Arc<dyn Files>,
    /// Its devices.
    pub devices: Vec<Device>,
    /// Its trace buffers.
    pub buffers: Vec<Buffer>,
    /// Missing items that are not always required.
    pub warnings: Vec<String>,
    pub(crate) source_buffers: Vec<(String, String)>,
    pub(crate) core_sources: Vec<(String, String)>,
}

impl Snapshot {
    /// Reads the ini files of a snapshot, in a folder or an archive.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::read(files::open_files(path)?)
    }

    /// Reads the ini files of a snapshot.
    pub fn read(files: Box<dyn Files>) -> Result<Self, Error> {
        let main = files::ini(&*files, "", "snapshot.ini")?;
        let mut snapshot = Self {
            files: files.into(),
            devices: Vec::new(),
            buffers: Vec::new(),
            warnings: Vec::new(),
            source_buffers: Vec::new(),
            core_sources: Vec::new(),
        };
        for (_, file) in main.named("device_list").flat_map(|section| &section.entries) {
            let ini = files::ini(&*snapshot.files, &main.name, file)?;
            snapshot.devices.push(Device::read(&ini)?);
        }
        if let Some(file) = main.get("trace", "metadata") {
            let ini = files::ini(&*snapshot.files, &main.name, file)?;
            snapshot.trace(&ini)?;
        }
        Ok(snapshot)
    }

    fn trace(&mut self, ini: &Ini) -> Result<(), Error> {
        let names = ini.need("trace_buffers", "buffers")?;
        for section in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let format = Format::read(ini, section)?;
            let files = ini.need(section, "file")?.split(';').map(|file| file.trim().to_owned());
            self.buffers.push(Buffer {
                name: ini.need(section, "name")?.to_owned(),
                files: files.collect(),
                format,
            });
        }
        let entries = |section| ini.named(section).flat_map(|section| &section.entries).cloned();
        self.source_buffers = entries("source_buffers").collect();
        self.core_sources = entries("core_trace_sources").collect();
        for (source, buffer) in &self.source_buffers {
            if !self.devices.iter().any(|device| device.name == *source) {
                self.warnings.push(format!("no device file for source {source} of {buffer}"));
            }
        }
        Ok(())
    }

    /// A buffer by its name, or the first one.
    pub fn buffer(&self, name: Option<&str>) -> Result<&Buffer, Error> {
        let found = match name {
            Some(name) => self.buffers.iter().find(|buffer| buffer.name == name),
            None => self.buffers.first(),
        };
        found.ok_or_else(|| Error::buffer(name, &self.buffers))
    }

    /// The bytes of a buffer.
    pub fn bytes(&self, buffer: &Buffer) -> BufferBytes {
        BufferBytes::new(&self.files, &buffer.name, &buffer.files, None)
    }

    /// The memory that a core sees. A file that cannot be read is left out, with a warning.
    pub fn segments(
        &self,
        core: &Device,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Segment>, Error> {
        files::segments(&*self.files, &core.name, &core.dumps, warnings)
    }

    /// A file of the snapshot.
    pub fn file(&self, name: &str) -> Result<Vec<u8>, Error> {
        files::file(&*self.files, "snapshot.ini", name)
    }
}
