//! System calls that our hart does not have.

/// Those that programs may miss, by number.
const NAMES: [(u64, &str); 45] = [
    (19, "eventfd2"),
    (20, "epoll_create1"),
    (21, "epoll_ctl"),
    (22, "epoll_pwait"),
    (26, "inotify_init1"),
    (33, "mknodat"),
    (43, "statfs"),
    (44, "fstatfs"),
    (47, "fallocate"),
    (51, "chroot"),
    (69, "preadv"),
    (70, "pwritev"),
    (72, "pselect6"),
    (74, "signalfd4"),
    (76, "splice"),
    (85, "timerfd_create"),
    (95, "waitid"),
    (97, "unshare"),
    (102, "getitimer"),
    (103, "setitimer"),
    (107, "timer_create"),
    (117, "ptrace"),
    (123, "sched_getaffinity"),
    (124, "sched_yield"),
    (163, "getrlimit"),
    (167, "prctl"),
    (198, "socket"),
    (199, "socketpair"),
    (200, "bind"),
    (203, "connect"),
    (206, "sendto"),
    (207, "recvfrom"),
    (220, "clone"),
    (221, "execve"),
    (242, "accept4"),
    (260, "wait4"),
    (269, "sendmmsg"),
    (279, "memfd_create"),
    (285, "copy_file_range"),
    (293, "rseq"),
    (422, "futex_time64"),
    (425, "io_uring_setup"),
    (435, "clone3"),
    (436, "close_range"),
    (2011, "getmainvars"),
];

/// Names system calls that our hart does not have, each with how often a program made it; `None` if there are none.
pub fn missing_calls(calls: &[(u64, u64)]) -> Option<String> {
    let text = |(number, count): &(u64, u64)| {
        let name = name(*number);
        let times = if *count == 1 { "once".into() } else { format!("{count} times") };
        let without = match name.as_str() {
            "clone (220)" | "clone3 (435)" => ", so that its thread or process never ran",
            _ => "",
        };
        format!("{name} {times}{without}")
    };
    let all: Vec<String> = calls.iter().map(text).collect();
    let calls = if all.len() == 1 { "a system call" } else { "system calls" };
    (!all.is_empty()).then(|| {
        format!("our hart does not have {calls} of the program, which failed: {}", all.join("; "))
    })
}

fn name(number: u64) -> String {
    match NAMES.iter().find(|(known, _)| *known == number) {
        Some((_, name)) => format!("{name} ({number})"),
        None => format!("number {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_named_and_counted() {
        assert_eq!(missing_calls(&[]), None);
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
        let one = "our hart does not have a system call of the program, which failed: \
                   clone (220) once, so that its thread or process never ran";
        assert_eq!(missing_calls(&[(220, 1)]).as_deref(), Some(one));
        let two = "our hart does not have system calls of the program, which failed: \
                   socket (198) 3 times; number 9000 once";
        assert_eq!(missing_calls(&[(198, 3), (9000, 1)]).as_deref(), Some(two));
    }
}
