//! Loads the OpenCSD library and calls it.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::fmt;
use std::time::Duration;

/// Why the library cannot be used.
#[derive(Debug)]
pub(crate) enum Error {
    /// It cannot be loaded, or lacks a function.
    Load(libloading::Error),
    /// It returned an error.
    Refused(&'static str, c_int),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load(error) => write!(f, "{error}; try to install libopencsd1"),
            Self::Refused(what, code) => write!(f, "OpenCSD refuses {what}: error {code}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<libloading::Error> for Error {
    fn from(error: libloading::Error) -> Self {
        Self::Load(error)
    }
}

/// A trace unit, described by its registers.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Unit {
    /// TRCIDR0, 1, 2, 8 and TRCCONFIGR.
    Etmv4([u32; 5]),
    /// ETMIDR, ETMCR and ETMCCER.
    Ptm([u32; 3]),
}

/// The input.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Job<'a> {
    /// The trace unit that wrote it.
    pub(crate) unit: Unit,
    /// The trace, of one source.
    pub(crate) trace: &'a [u8],
    /// The program: addresses with their content; without it, only packets are decoded.
    pub(crate) program: Option<&'a [(u64, Vec<u8>)]>,
}

/// The result.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Number of packets, if only packets were decoded.
    pub(crate) packets: u64,
    /// Number of ranges of instructions.
    pub(crate) ranges: u64,
}

const SINGLE_SOURCE: c_int = 1;
const PACKETS_ONLY: c_int = 1;
const FULL_DECODER: c_int = 2;
const OP_DATA: c_int = 0;
const OP_EOT: c_int = 1;
const INSTR_RANGE: c_int = 5;
const ANY_SPACE: c_int = 0x1f;
const V7: u32 = 0x700;
const V8: u32 = 0x800;
const PROFILE_A: u32 = 3;
const TRACE_ID: u32 = 0x10;
/// The size of pieces that `trc_pkt_lister` uses.
const BLOCK: usize = 1 << 16;

type Tree = *mut c_void;
type Create = unsafe extern "C" fn(c_int, u32) -> Tree;
type Destroy = unsafe extern "C" fn(Tree);
type Decoder = unsafe extern "C" fn(Tree, *const c_char, c_int, *const c_void, *mut u8) -> c_int;
type Element = unsafe extern "C" fn(*const c_void, u64, u8, *const c_int) -> c_int;
type Packet = unsafe extern "C" fn(*const c_void, c_int, u64, *const c_void) -> c_int;
type OnElement = unsafe extern "C" fn(Tree, Element, *const c_void) -> c_int;
type OnPacket = unsafe extern "C" fn(Tree, u8, c_int, Packet, *const c_void) -> c_int;
type Memory = unsafe extern "C" fn(Tree, u64, c_int, *const u8, u32) -> c_int;
type Process = unsafe extern "C" fn(Tree, c_int, u64, u32, *const u8, *mut u32) -> c_int;

/// The library.
#[derive(Debug)]
pub(crate) struct Library(libloading::Library);

unsafe extern "C" fn count_element(
    context: *const c_void,
    _: u64,
    _: u8,
    element: *const c_int,
) -> c_int {
    // SAFETY: the context is the counts that `run` passed, which outlive the tree; the type is the
    // first field of an element.
    unsafe {
        if *element == INSTR_RANGE {
            (*context.cast::<Counts>().cast_mut()).ranges += 1;
        }
    }
    0
}

unsafe extern "C" fn count_packet(
    context: *const c_void,
    op: c_int,
    _: u64,
    _: *const c_void,
) -> c_int {
    if op == OP_DATA {
        // SAFETY: as above.
        unsafe { (*context.cast::<Counts>().cast_mut()).packets += 1 };
    }
    0
}

impl Library {
    /// Loads the library.
    pub(crate) fn load() -> Result<Self, Error> {
        // SAFETY: its initialisers do nothing but register decoders.
        Ok(Self(unsafe { libloading::Library::new("libopencsd_c_api.so.1")? }))
    }

    /// Decodes the input.
    pub(crate) fn run(&self, job: &Job<'_>) -> Result<Counts, Error> {
        let mut counts = Counts::default();
        // SAFETY: the signatures are those of `opencsd_c_api.h`. An index is 32 or 64 bits wide, as the
        // library was built; passed in a register either way. Everything that is passed by pointer
        // outlives the tree, which is destroyed before this returns.
        unsafe {
            let create: libloading::Symbol<'_, Create> = self.0.get(b"ocsd_create_dcd_tree")?;
            let destroy: libloading::Symbol<'_, Destroy> = self.0.get(b"ocsd_destroy_dcd_tree")?;
            let tree = create(SINGLE_SOURCE, 0);
            let done = self.fill(tree, job, &raw mut counts);
            destroy(tree);
            done?;
        }
        Ok(counts)
    }

    /// # Safety
    ///
    /// As in `run`.
    unsafe fn fill(&self, tree: Tree, job: &Job<'_>, counts: *mut Counts) -> Result<(), Error> {
        let check = |what, code| if code == 0 { Ok(()) } else { Err(Error::Refused(what, code)) };
        // SAFETY: by the caller.
        unsafe {
            let decoder: libloading::Symbol<'_, Decoder> = self.0.get(b"ocsd_dt_create_decoder")?;
            let process: libloading::Symbol<'_, Process> = self.0.get(b"ocsd_dt_process_data")?;
            let (name, registers) = match job.unit {
                Unit::Etmv4([idr0, idr1, idr2, idr8, configr]) => {
                    let fixed = [0; 5];
                    let mut all = vec![idr0, idr1, idr2, idr8];
                    all.extend(fixed);
                    all.extend([configr, TRACE_ID, V8, PROFILE_A]);
                    (c"ETMV4I", all)
                }
                Unit::Ptm([idr, cr, ccer]) => {
                    (c"PTM", vec![idr, cr, ccer, TRACE_ID, V7, PROFILE_A])
                }
            };
            let flags = if job.program.is_some() { FULL_DECODER } else { PACKETS_ONLY };
            let mut id = 0;
            let made = decoder(tree, name.as_ptr(), flags, registers.as_ptr().cast(), &raw mut id);
            check("the configuration", made)?;
            if let Some(program) = job.program {
                let memory: libloading::Symbol<'_, Memory> =
                    self.0.get(b"ocsd_dt_add_buffer_mem_acc")?;
                for (base, code) in program {
                    let len = code.len() as u32;
                    check("the memory", memory(tree, *base, ANY_SPACE, code.as_ptr(), len))?;
                }
                let elements: libloading::Symbol<'_, OnElement> =
                    self.0.get(b"ocsd_dt_set_gen_elem_outfn")?;
                check("the sink", elements(tree, count_element, counts.cast()))?;
            } else {
                let packets: libloading::Symbol<'_, OnPacket> =
                    self.0.get(b"ocsd_dt_attach_packet_callback")?;
                check("the sink", packets(tree, id, 0, count_packet, counts.cast()))?;
            }
            let mut index = 0;
            for block in job.trace.chunks(BLOCK) {
                let mut used = 0;
                let len = block.len() as u32;
                process(tree, OP_DATA, index, len, block.as_ptr(), &raw mut used);
                index += u64::from(used);
            }
            process(tree, OP_EOT, 0, 0, std::ptr::null(), std::ptr::null_mut());
        }
        Ok(())
    }
}

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
}

/// Processor time of this thread on Linux: on a busy machine, elapsed time is not meaningful.
pub(crate) fn cpu_time() -> Duration {
    const THREAD: c_int = 3;
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the structure is that of 64-bit Linux.
    unsafe { clock_gettime(THREAD, &raw mut time) };
    Duration::new(time.seconds as u64, time.nanoseconds as u32)
}
