use super::*;
use crate::described::{Described, DescribedError};
use crate::description::Description;
use std::fs;
use std::io::Read;
use std::time::{Duration, SystemTime};

/// A folder that is removed at the end. It is inside another one, which is locked as long as it is there.
struct Folder(Scratch);

impl Folder {
    fn new() -> Self {
        let outer = Scratch::new().unwrap();
        fs::create_dir(outer.join("inner")).unwrap();
        Self(outer)
    }

    fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join("inner").join(name)
    }
}

fn names(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.join("")).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn capture(path: &Path, bytes: &[u8]) {
    let mut output = CaptureOutput::create(path).unwrap();
    output.write_all(bytes).unwrap();
    output.finish(Description::default()).unwrap();
}

fn read(path: &Path) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let described = Described::find(path)?;
    described.check_length()?;
    let mut bytes = Vec::new();
    described.checked(File::open(path)?).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[test]
fn a_file_is_there_when_it_is_complete() {
    let folder = Folder::new();
    let path = folder.join("out");
    Output::write(&path, "old").unwrap();
    let mut output = Output::create(&path).unwrap();
    output.write_all(b"new").unwrap();
    output.flush().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(&folder).len(), 2);
    drop(output);
    assert_eq!((fs::read(&path).unwrap(), names(&folder)), (b"old".to_vec(), vec!["out".into()]));
    let mut output = Output::create(&path).unwrap();
    output.write_all(b"new").unwrap();
    assert_eq!(output.finish().unwrap(), 3);
    assert_eq!((fs::read(&path).unwrap(), names(&folder)), (b"new".to_vec(), vec!["out".into()]));
}

#[test]
fn a_long_name() {
    let folder = Folder::new();
    let path = folder.join("ä".repeat(127));
    Output::write(&path, "x").unwrap();
    capture(&folder.join("n".repeat(250)), b"capture");
    assert_eq!(names(&folder).len(), 3);
}

/// What a process that was killed has left belongs to nobody; what another one still writes stays.
#[test]
fn left_over_files_vanish() {
    let folder = Folder::new();
    fs::write(folder.join(".out.1-0.part"), "left").unwrap();
    fs::write(folder.join(".out.other.part"), "not ours").unwrap();
    let written = Output::create(&folder.join("out")).unwrap();
    Output::write(&folder.join("out"), "new").unwrap();
    assert_eq!(names(&folder).len(), 3, "{:?}", names(&folder));
    drop(written);
    assert_eq!(names(&folder), [".out.other.part", "out"]);
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new();
    let (file, link) = (folder.join("file"), folder.join("link"));
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("file", &link).unwrap();
    Output::write(&link, "new").unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    // A link to a file that is not there yet.
    symlink("later", folder.join("early")).unwrap();
    Output::write(&folder.join("early"), "x").unwrap();
    assert_eq!(fs::read(folder.join("later")).unwrap(), b"x");
}

#[cfg(unix)]
#[test]
fn a_device_is_written_as_it_is() {
    Output::write(Path::new("/dev/null"), "x").unwrap();
    let mut output = CaptureOutput::create(Path::new("/dev/null")).unwrap();
    output.write_all(b"x").unwrap();
    output.finish(Description::default()).unwrap();
    assert!(!Path::new("/dev/null.toml").exists());
    let error = Output::write(Path::new("/dev/full"), "x").unwrap_err();
    assert!(error.to_string().starts_with("/dev/full: cannot write: "), "{error}");
}

/// Makes a file a minute older.
fn age(path: &Path) {
    let before = SystemTime::now() - Duration::from_secs(60);
    File::options().write(true).open(path).unwrap().set_modified(before).unwrap();
}

/// The window between the two files that take their places: the description is the new one, the capture is not.
#[test]
fn whoever_reads_next_completes_a_capture() {
    let folder = Folder::new();
    let path = folder.join("c.te");
    capture(&path, b"new");
    let text = fs::read_to_string(Description::place(&path)).unwrap();
    let digits = Described::find(&path).unwrap().description.unwrap().capture.digits().unwrap();
    let staged = folder.join(format!(".c.te.{digits}.new"));
    for old in [Some("old capture"), None] {
        fs::rename(&path, &staged).unwrap();
        if let Some(old) = old {
            fs::write(&path, old).unwrap();
            age(&path);
        }
        assert_eq!(read(&path).unwrap(), b"new");
        assert_eq!(names(&folder), ["c.te", "c.te.toml"]);
    }
    // So does whoever writes next and gets no further than that.
    fs::rename(&path, &staged).unwrap();
    capture(&path, b"newer");
    assert_eq!(read(&path).unwrap(), b"newer");
    // Before the description has taken its place, the old ones count.
    fs::write(&staged, "new").unwrap();
    assert_eq!(read(&path).unwrap(), b"newer");
    assert_ne!(fs::read_to_string(Description::place(&path)).unwrap(), text);
    capture(&path, b"newest");
    assert_eq!(names(&folder), ["c.te", "c.te.toml"]);
}

/// What has the name of a capture that waits for its place may be something else, or late.
#[test]
fn only_what_is_due_takes_its_place() {
    let folder = Folder::new();
    let path = folder.join("c.te");
    capture(&path, b"capture");
    let digits = Described::find(&path).unwrap().description.unwrap().capture.digits().unwrap();
    let staged = folder.join(format!(".c.te.{digits}.new"));
    fs::write(&staged, "garbage").unwrap();
    assert_eq!(read(&path).unwrap(), b"capture");
    // Somebody has put another capture there since.
    fs::write(&staged, "capture").unwrap();
    age(&staged);
    fs::write(&path, "another").unwrap();
    assert!(read(&path).unwrap_err().to_string().contains("is of another capture"));
    assert_eq!(fs::read(&path).unwrap(), b"another");
}

/// Others may lock the folder for as long as they like.
#[test]
fn a_locked_folder() {
    let folder = Folder::new();
    let lock = File::open(folder.join("")).unwrap();
    lock.lock().unwrap();
    let path = folder.join("c.te");
    capture(&path, b"capture");
    assert_eq!(read(&path).unwrap(), b"capture");
}

/// What is written to a file of this process follows what is there, as the shell has it for `>>`.
#[cfg(target_os = "linux")]
#[test]
fn files_of_this_process() {
    use std::os::fd::AsRawFd;
    let folder = Folder::new();
    let path = folder.join("log");
    fs::write(&path, "precious").unwrap();
    let open = File::options().append(true).open(&path).unwrap();
    let stream = PathBuf::from(format!("/dev/fd/{}", open.as_raw_fd()));
    Output::write(&stream, " and more").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"precious and more");
    let mut claims = Claims::new();
    claims.read(&path).unwrap();
    assert!(claims.write(&stream).unwrap_err().is_input);
}

#[test]
fn another_capture_is_recognised() {
    let folder = Folder::new();
    let path = folder.join("c.te");
    capture(&path, b"capture");
    for (bytes, what) in [(&b"captur"[..], "that has 7 bytes, this one 6"), (b"cApture", "XXH3")] {
        fs::write(&path, bytes).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(
            error.contains("c.te.toml is of another capture: ") && error.contains(what),
            "{error}"
        );
        let mut described = Described::find(&path).unwrap();
        described.trust();
        described.check_length().unwrap();
        assert_eq!(
            io::copy(&mut described.checked(bytes), &mut io::sink()).unwrap() as usize,
            bytes.len()
        );
    }
    // As it arrives, where its length is not known.
    let described = Described::find(&path).unwrap();
    let error = io::copy(&mut described.checked(&b"captures"[..]), &mut io::sink()).unwrap_err();
    assert!(error.to_string().ends_with("that has 7 bytes, this one more"), "{error}");
    assert!(matches!(Described::find(&path), Ok(_) | Err(DescribedError::Capture { .. })));
}

/// Data that cannot be had again is never removed.
#[test]
fn what_has_arrived_stays() {
    let folder = Folder::new();
    let path = folder.join("c.te");
    for _ in 0..2 {
        let mut output = CaptureOutput::arriving(&path).unwrap();
        output.write_all(b"arrived").unwrap();
        assert!(output.partial().is_some());
    }
    assert_eq!(names(&folder), ["c.te.partial", "c.te.partial-1"]);
    let mut output = CaptureOutput::arriving(&path).unwrap();
    output.write_all(b"all").unwrap();
    output.finish(Description::default()).unwrap();
    assert_eq!(read(&path).unwrap(), b"all");
    assert_eq!(names(&folder), ["c.te", "c.te.partial", "c.te.partial-1", "c.te.toml"]);
}

#[test]
fn an_output_is_no_input() {
    let folder = Folder::new();
    let (file, other) = (folder.join("file"), folder.join("other"));
    fs::write(&file, "x").unwrap();
    fs::hard_link(&file, &other).unwrap();
    let mut claims = Claims::new();
    claims.read(&file).unwrap();
    let conflict = claims.write(&other).unwrap_err();
    assert!(conflict.is_input && conflict.to_string().contains("which would be destroyed"));
    let mut claims = Claims::new();
    claims.write(&other).unwrap();
    assert!(claims.read(&file).is_err());
    // Two outputs, neither of which is there yet.
    claims.write(&folder.join("new")).unwrap();
    assert!(!claims.write(&folder.join("./new")).unwrap_err().is_input);
    claims.write(Path::new("-")).unwrap();
    assert!(claims.write(Path::new("-")).is_err());
    claims.write(Path::new("/dev/null")).unwrap();
    claims.write(Path::new("/dev/null")).unwrap();
}

/// A file that becomes too large is not there, and what was there before is.
#[test]
fn no_more_than_so_many_bytes() {
    let folder = Folder::new();
    let path = folder.join("file");
    Output::write(&path, "before").unwrap();
    let mut output = Output::create(&path).unwrap().at_most(10);
    output.write_all(b"0123456789").unwrap();
    let error = output.write_all(b"a").unwrap_err();
    let found = FileError::find(&error).unwrap();
    let inner = found.error.get_ref().unwrap();
    assert_eq!(inner.downcast_ref(), Some(&TooLarge { most: 10 }));
    drop(output);
    assert_eq!(fs::read(&path).unwrap(), b"before");
    assert_eq!(names(&folder), ["file"]);
    let mut output = Output::create(&path).unwrap().at_most(10);
    output.write_all(b"0123456789").unwrap();
    assert_eq!(output.finish().unwrap(), 10);
}
