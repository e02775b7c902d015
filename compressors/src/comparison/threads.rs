//! Work on several cores.

use super::ComparisonError;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Runs a function on every item, and returns the results in order, or the first error.
pub(super) fn each<T: Sync, R: Send, E: From<ComparisonError> + Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|scope| {
        let worker = || {
            while let index = next.fetch_add(1, Ordering::Relaxed)
                && let Some(item) = items.get(index)
            {
                let result = work(item);
                if let Ok(mut results) = results.lock() {
                    results.push((index, result));
                }
            }
        };
        // Fewer threads do the same work, if the system has no more.
        let start = |_| thread::Builder::new().spawn_scoped(scope, worker).ok();
        (1..threads.min(items.len())).map_while(start).for_each(drop);
        worker();
    });
    let mut results = results.into_inner().map_err(|_| ComparisonError::Thread)?;
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_the_first_error_counts() {
        let items: Vec<u64> = (0..100).collect();
        let double = |item: &u64| Ok::<_, ComparisonError>(item * 2);
        let doubled = each(&items, 3, double).unwrap();
        assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        let refuse = |item: &u64| match item {
            7 | 50 => Err(ComparisonError::Draw(item.to_string())),
            _ => Ok(*item),
        };
        assert_eq!(each(&items, 3, refuse).unwrap_err().to_string(), "cannot draw: 7");
        assert!(each(&items[..0], 3, double).unwrap().is_empty());
    }
}
