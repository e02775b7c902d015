//! Works on sources side by side, on several threads. Results are taken in order, so the output is the same
//! as with one thread.

use std::num::NonZeroUsize;
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Number of results of a source that may wait for those before them.
const WAITING: usize = 8;

/// Calls `work` for each item, which hands over any number of results, and passes these to `take`: all of
/// the first item, then all of the second, and so on. `work` learns from each result whether any more is
/// wanted: after `take` has failed, nothing is.
pub(super) fn each<T: Sync, R: Send, E>(
    items: &[T],
    threads: NonZeroUsize,
    work: impl Fn(&T, &mut dyn FnMut(R) -> bool) + Sync,
    mut take: impl FnMut(&T, R) -> Result<(), E>,
) -> Result<(), E> {
    let (senders, receivers): (Vec<_>, Vec<_>) =
        items.iter().map(|_| sync_channel::<R>(WAITING)).unzip();
    // In order: a thread is always working on the item that is waited for.
    let left = Mutex::new(items.iter().zip(senders));
    thread::scope(|scope| {
        let worker = || {
            let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some((item, sender)) = next() {
                work(item, &mut |result| sender.send(result).is_ok());
            }
        };
        // Fewer threads do the same work, if the system has no more.
        let start = |_| thread::Builder::new().spawn_scoped(scope, worker).ok();
        let workers = (0..threads.get().min(items.len())).map_while(start).count();
        if workers == 0 {
            return items.iter().try_for_each(|item| one(item, &work, &mut take));
        }
        for (item, receiver) in items.iter().zip(receivers) {
            for result in receiver {
                take(item, result)?;
            }
        }
        Ok(())
    })
}

/// Works on an item on this thread.
fn one<T, R, E>(
    item: &T,
    work: &impl Fn(&T, &mut dyn FnMut(R) -> bool),
    take: &mut impl FnMut(&T, R) -> Result<(), E>,
) -> Result<(), E> {
    let mut outcome = Ok(());
    work(item, &mut |result| {
        if outcome.is_ok() {
            outcome = take(item, result);
        }
        outcome.is_ok()
    });
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order() {
        let items: Vec<usize> = (0..20).collect();
        let expected: Vec<_> = items.iter().flat_map(|item| (0..30).map(|n| (*item, n))).collect();
        for threads in [1, 3, 50] {
            let mut found = Vec::new();
            let work = |_: &usize, pass: &mut dyn FnMut(u8) -> bool| assert!((0..30).all(pass));
            let take = |item: &usize, result| {
                found.push((*item, result));
                Ok::<(), ()>(())
            };
            each(&items, NonZeroUsize::new(threads).unwrap(), work, take).unwrap();
            assert_eq!(found, expected, "{threads}");
        }
    }

    #[test]
    fn a_failure_ends_it() {
        let work = |item: &u8, pass: &mut dyn FnMut(u8) -> bool| {
            let _ = (0..100).all(|_| pass(*item));
        };
        let mut taken = 0;
        let take = |_: &u8, result| {
            taken += 1;
            if result == 1 { Err("enough") } else { Ok(()) }
        };
        let three = NonZeroUsize::new(3).unwrap();
        assert!(each(&[0, 1, 2, 3], three, work, take).is_err());
        assert_eq!(taken, 101);
    }
}
