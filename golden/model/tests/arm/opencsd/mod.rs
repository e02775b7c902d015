//! OpenCSD's `trc_pkt_lister`, run on a snapshot folder.

use hartrace_golden::arm::Expected;
use libtest_mimic::Failed;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs};

/// Registers of the trace unit.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Registers {
    Etmv4(hartrace_etmv4::Registers),
    Ptm(hartrace_ptm::Registers),
}

/// Whether it is installed.
pub(crate) fn is_there() -> bool {
    // The tool is not started for this: it has no option that does nothing, and leaves a log where
    // it runs.
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join("trc_pkt_lister").is_file())
}

/// A folder that is removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, Failed> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("hartrace-snapshot-{}-{number}", process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing depends on success.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Passes on every range that it reports. Returns its complaints.
pub(crate) fn decode(
    registers: &Registers,
    memory: &[(u64, Vec<u8>)],
    trace: &[u8],
    mut each: impl FnMut(Expected) -> Result<(), Failed>,
) -> Result<Vec<String>, Failed> {
    let folder = Folder::new()?;
    write(&folder.0, registers, memory, trace)?;
    let mut child = Command::new("trc_pkt_lister")
        .current_dir(&folder.0)
        .args(["-ss_dir", ".", "-decode_only", "-logstdout"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut errors = Vec::new();
    let (mut result, mut line) = (Ok(()), String::new());
    let mut lines = BufReader::with_capacity(1 << 18, child.stdout.take().ok_or("no output")?);
    while result.is_ok() && lines.read_line(&mut line)? > 0 {
        if let Some((_, text)) = line.split_once("INSTR_RANGE(exec range=0x") {
            result = range(text).ok_or_else(|| line.clone().into()).and_then(&mut each);
        } else if line.contains("ERR") || line.contains("WARN") {
            errors.push(line.trim_end().to_owned());
        }
        line.clear();
    }
    if result.is_err() {
        child.kill()?;
    }
    child.wait()?;
    result.map(|()| errors)
}

/// `START:[0xEND] num_i(COUNT) last_sz(4) (ISA=A64) E BR`
fn range(text: &str) -> Option<Expected> {
    let mut parts = text.split([':', '[', ']', '(', ')', ' ']).filter(|part| !part.is_empty());
    let start = u64::from_str_radix(parts.next()?, 16).ok()?;
    let end = u64::from_str_radix(parts.next()?.strip_prefix("0x")?, 16).ok()?;
    if parts.next()? != "num_i" {
        return None;
    }
    let count = parts.next()?.parse().ok()?;
    let outcome = parts.find(|part| matches!(*part, "E" | "N"))?;
    Some((start, end, count, outcome == "E"))
}

fn write(
    folder: &Path,
    registers: &Registers,
    memory: &[(u64, Vec<u8>)],
    trace: &[u8],
) -> Result<(), Failed> {
    let (kind, core, registers) = match registers {
        Registers::Etmv4(r) => {
            let mut lines = format!(
                "TRCCONFIGR={:#x}\nTRCTRACEIDR=0x10\nTRCIDR0={:#x}\nTRCIDR1={:#x}\nTRCIDR2={:#x}\nTRCIDR8={:#x}\n",
                r.configr, r.idr0, r.idr1, r.idr2, r.idr8
            );
            match r.devarch {
                Some(devarch) => {
                    let _ = writeln!(lines, "TRCDEVARCH={devarch:#x}");
                    ("ETE", "ARM-AA64", lines)
                }
                None => ("ETM4", "Cortex-A53", lines),
            }
        }
        Registers::Ptm(r) => {
            let lines = format!(
                "ETMCR={:#x}\nETMIDR={:#x}\nETMCCER={:#x}\nETMTRACEIDR=0x10\n",
                r.cr, r.idr, r.ccer
            );
            ("PTM1.1", "Cortex-A15", lines)
        }
    };
    let mut cpu = format!("[device]\nname=cpu\nclass=core\ntype={core}\n[regs]\nPC=0\n");
    for (number, (address, bytes)) in memory.iter().enumerate() {
        let _ = writeln!(cpu, "[dump{number}]\nfile=code{number}.bin\naddress={address:#x}");
        fs::write(folder.join(format!("code{number}.bin")), bytes)?;
    }
    fs::write(folder.join("cpu.ini"), cpu)?;
    let etm = format!("[device]\nname=etm\nclass=trace_source\ntype={kind}\n[regs]\n{registers}");
    fs::write(folder.join("etm.ini"), etm)?;
    fs::write(
        folder.join("snapshot.ini"),
        "[snapshot]\nversion=1.0\n[device_list]\ndevice0=cpu.ini\ndevice1=etm.ini\n[trace]\nmetadata=trace.ini\n",
    )?;
    fs::write(
        folder.join("trace.ini"),
        "[trace_buffers]\nbuffers=buffer0\n[buffer0]\nname=B\nfile=trace.bin\nformat=source_data\n[source_buffers]\netm=B\n[core_trace_sources]\ncpu=etm\n",
    )?;
    fs::write(folder.join("trace.bin"), trace)?;
    Ok(())
}
