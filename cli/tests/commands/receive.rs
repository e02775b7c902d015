//! `hartrace receive`: files, standard input, and serial ports, which are pseudo-terminals here.

use crate::place::{Place, stderr, stdout};
use crate::{PARAMS, PCS};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use std::fs::{self, File};
use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A place with a capture, and its bytes.
fn place(name: &str) -> (Place, Vec<u8>) {
    let place = Place::new(name);
    place.write("p.toml", format!("xlen = 64\n{PARAMS}[framing]\nkind = \"encap\"\n").as_bytes());
    place.encoded();
    let trace = fs::read(place.dir.join("trace")).unwrap();
    (place, trace)
}

fn decoded(place: &Place) -> String {
    place.clean("decode out --image code@0x80000000 --xlen 64 --emit pcs")
}

#[test]
fn starts_where_framing_is_certain() {
    let (place, trace) = place("receive-file");
    let mut bytes = vec![0x1f; 100];
    bytes.extend([0; 32]);
    bytes.extend(&trace);
    place.write("arriving", &bytes);
    let printed = place.clean("receive arriving -o out --params p.toml --find-sync");
    assert!(printed.contains("132 bytes before them were skipped"), "{printed}");
    assert_eq!(fs::read(place.dir.join("out")).unwrap(), trace);
    assert_eq!(decoded(&place), PCS);
    // Standard input and output; and without the option, everything.
    let output = place.fed("receive - -o - --params p.toml", &bytes);
    assert!(output.stdout == bytes && stderr(&output).is_empty());
    // What was looked for is said, and nothing is lost.
    place.write("arriving", &[0x1f; 100]);
    let output = place.run("receive arriving -o out --params p.toml --find-sync");
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).ends_with("there is no run of null packets in it\n"));
    assert_eq!(fs::read(place.dir.join("out")).unwrap(), [0x1f; 100]);
    let output = place.run("receive nowhere -o out --params p.toml");
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).starts_with("error: nowhere: cannot read: "), "{}", stderr(&output));
}

/// Both ends of a pseudo-terminal: ours, and the name of the other.
fn terminal() -> (File, String) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    (File::from(ours), name)
}

/// Starts the command, and waits until it has set the port up.
fn listening(place: &Place, ours: &File, line: &str) -> Child {
    let pipes =
        |command: &mut Command| command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = pipes(&mut place.command(line)).unwrap();
    let start = Instant::now();
    while tcgetattr(ours).unwrap().local_modes.contains(LocalModes::ICANON) {
        assert!(start.elapsed() < Duration::from_secs(60), "the port is not set up");
        sleep(Duration::from_millis(5));
    }
    // Its settings drop what is already there.
    sleep(Duration::from_millis(50));
    child
}

fn ended(child: Child, code: i32) -> Output {
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    output
}

/// Every byte passes a serial port as it is, and the command ends at its limit.
#[test]
fn a_serial_port() {
    let (place, trace) = place("receive-port");
    let (mut ours, port) = terminal();
    let all: Vec<u8> = (0..=255).collect();
    let line =
        format!("receive {port} -o out --params p.toml --bytes 256 --baud 115200 --seconds 60");
    let child = listening(&place, &ours, &line);
    assert_eq!(tcgetattr(&ours).unwrap().output_speed(), 115_200);
    for part in all.chunks(7) {
        ours.write_all(part).unwrap();
    }
    ended(child, 0);
    assert_eq!(fs::read(place.dir.join("out")).unwrap(), all);

    let (mut ours, port) = terminal();
    let line =
        format!("receive {port} -o out --params p.toml --bytes {} --seconds 60", trace.len());
    let child = listening(&place, &ours, &line);
    ours.write_all(&trace).unwrap();
    ended(child, 0);
    assert_eq!(decoded(&place), PCS);

    let (ours, port) = terminal();
    let child =
        listening(&place, &ours, &format!("receive {port} -o out --params p.toml --seconds 1"));
    assert_eq!(stdout(&ended(child, 1)), "nothing arrived\n");
}

/// Ctrl-C, and a port that is disconnected, end the command with all that has arrived.
#[test]
fn an_end_without_a_limit() {
    let (place, trace) = place("receive-end");
    for interrupt in [true, false] {
        let (mut ours, port) = terminal();
        let child = listening(&place, &ours, &format!("receive {port} -o out --params p.toml"));
        ours.write_all(&trace).unwrap();
        let start = Instant::now();
        let partial = place.dir.join("out.partial");
        while fs::metadata(&partial).map_or(0, |file| file.len()) < trace.len() as u64 {
            assert!(start.elapsed() < Duration::from_secs(60), "what arrives is not written");
            sleep(Duration::from_millis(5));
        }
        if interrupt {
            let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
            assert!(status.unwrap().success());
            ended(child, 0);
        } else {
            drop(ours);
            ended(child, 0);
        }
        assert_eq!(decoded(&place), PCS);
        fs::remove_file(place.dir.join("out")).unwrap();
    }
}
