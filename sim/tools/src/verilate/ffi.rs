//! The only unsafe code: calls into the shared library of a model.
//!
//! The functions are those of `shim.cpp`. The library was built by this crate, and the cache checked that
//! it has not changed since.
#![allow(unsafe_code)]

use crate::verilate::SimError;
use libloading::Library;
use std::ffi::{CStr, CString, c_char};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::slice;

/// An instance on the C++ side.
#[repr(C)]
struct Opaque {
    _private: [u8; 0],
}

#[repr(C)]
struct Buffers {
    inputs: *mut u64,
    input_words: usize,
    outputs: *mut u64,
    output_words: usize,
}

type Call = unsafe extern "C" fn(*mut Opaque) -> u32;
type Text = unsafe extern "C" fn(*mut Opaque) -> *const c_char;

/// The functions of a model's library, which stays loaded until the process ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shim {
    new: unsafe extern "C" fn(u32, *mut Buffers) -> *mut Opaque,
    free: unsafe extern "C" fn(*mut Opaque),
    settle: Call,
    clock: Call,
    step: Call,
    waves: unsafe extern "C" fn(*mut Opaque, *const c_char) -> bool,
    failure: Text,
    printed: Text,
}

/// What to evaluate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Run {
    Settle,
    Clock,
    Step,
}

/// Bits of the result of an evaluation; none is set if it succeeded.
pub(crate) const FAILED: u32 = 1;
pub(crate) const FINISHED: u32 = 2;
pub(crate) const DEAD: u32 = 4;

impl Shim {
    pub(crate) fn load(path: &Path) -> Result<Self, SimError> {
        let error =
            |e: libloading::Error| SimError::Load { path: path.to_owned(), why: e.to_string() };
        // SAFETY: the library's initialisers are those of Verilator's runtime and of the C++ library,
        // which make no assumptions about the process. Symbols are local to the library (RTLD_LOCAL).
        let library = unsafe { Library::new(path) }.map_err(error)?;
        // SAFETY: the functions have these types in shim.cpp.
        let shim = unsafe {
            Self {
                new: *library.get(b"hartrace_new\0").map_err(error)?,
                free: *library.get(b"hartrace_free\0").map_err(error)?,
                settle: *library.get(b"hartrace_settle\0").map_err(error)?,
                clock: *library.get(b"hartrace_clock\0").map_err(error)?,
                step: *library.get(b"hartrace_step\0").map_err(error)?,
                waves: *library.get(b"hartrace_waves\0").map_err(error)?,
                failure: *library.get(b"hartrace_failure\0").map_err(error)?,
                printed: *library.get(b"hartrace_printed\0").map_err(error)?,
            }
        };
        // Never unloaded, so that the functions stay valid, and because destructors of thread-local and
        // static objects of the runtime may run when a thread or the process ends.
        std::mem::forget(library);
        Ok(shim)
    }

    /// Creates an instance; `None` if that fails.
    pub(crate) fn instance(self, seed: u32) -> Option<Instance> {
        let mut buffers = Buffers {
            inputs: ptr::null_mut(),
            input_words: 0,
            outputs: ptr::null_mut(),
            output_words: 0,
        };
        // SAFETY: `buffers` is valid for writing and has the layout of shim.cpp.
        let handle = unsafe { (self.new)(seed, &raw mut buffers) };
        Some(Instance {
            shim: self,
            handle: NonNull::new(handle)?,
            inputs: NonNull::new(buffers.inputs)?,
            input_words: buffers.input_words,
            outputs: NonNull::new(buffers.outputs)?,
            output_words: buffers.output_words,
        })
    }
}

/// An instance of a model. Its buffers belong to the C++ side and live as long as the instance.
#[derive(Debug)]
pub(crate) struct Instance {
    shim: Shim,
    handle: NonNull<Opaque>,
    inputs: NonNull<u64>,
    input_words: usize,
    outputs: NonNull<u64>,
    output_words: usize,
}

// SAFETY: an instance shares nothing with others except the runtime's statics, which it locks. The
// per-thread state of the runtime and the shim (context, current instance) is set at the start of every
// call, so calls may come from any thread, one at a time: all of them take `&mut self` or own the
// instance.
unsafe impl Send for Instance {}

impl Instance {
    /// The words of all inputs.
    #[inline]
    pub(crate) fn inputs(&mut self) -> &mut [u64] {
        // SAFETY: the shim returned this many words, which are initialised and live as long as the
        // instance. Only calls access them, and none is made while `self` is borrowed.
        unsafe { slice::from_raw_parts_mut(self.inputs.as_ptr(), self.input_words) }
    }

    /// The words of all outputs.
    #[inline]
    pub(crate) fn outputs(&self) -> &[u64] {
        // SAFETY: as for the inputs; only calls write, and they need `self` mutable.
        unsafe { slice::from_raw_parts(self.outputs.as_ptr(), self.output_words) }
    }

    #[inline]
    pub(crate) fn run(&mut self, what: Run) -> u32 {
        let function = match what {
            Run::Settle => self.shim.settle,
            Run::Clock => self.shim.clock,
            Run::Step => self.shim.step,
        };
        // SAFETY: the handle is that of a live instance, and nothing borrows its buffers.
        unsafe { function(self.handle.as_ptr()) }
    }

    /// Starts a wave file; `false` if the model was built without waves.
    pub(crate) fn waves(&mut self, path: &CString) -> bool {
        // SAFETY: as for `run`; the path ends with a zero.
        unsafe { (self.shim.waves)(self.handle.as_ptr(), path.as_ptr()) }
    }

    /// Returns the first failure since the last call.
    pub(crate) fn failure(&mut self) -> String {
        self.text(self.shim.failure)
    }

    /// Returns what was printed since the last call.
    pub(crate) fn printed(&mut self) -> String {
        self.text(self.shim.printed)
    }

    fn text(&mut self, function: Text) -> String {
        // SAFETY: as for `run`; the text ends with a zero and stays valid until the next call, and it is
        // copied before that.
        unsafe { CStr::from_ptr(function(self.handle.as_ptr())) }.to_string_lossy().into_owned()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the handle is that of a live instance, and this is its last use.
        unsafe { (self.shim.free)(self.handle.as_ptr()) }
    }
}
