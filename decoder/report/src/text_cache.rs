//! Text that is made once and used often: programs repeat themselves.

use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::hash::Hash;

/// Bytes of text to keep; when there are more, all text is dropped.
const KEEP: usize = 1 << 26;

/// Text, and what is known of it, by key.
#[derive(Debug)]
pub(crate) struct TextCache<K, V> {
    known: HashMap<K, V, RandomState>,
    text: Vec<u8>,
}

impl<K, V> Default for TextCache<K, V> {
    fn default() -> Self {
        Self { known: HashMap::default(), text: Vec::new() }
    }
}

impl<K: Eq + Hash, V: Clone> TextCache<K, V> {
    /// What is known by a key, and all text. If nothing is known, `make` appends its text and says where it is.
    pub(crate) fn get(&mut self, key: K, make: impl FnOnce(&mut Vec<u8>) -> V) -> (V, &[u8]) {
        if let Some(known) = self.known.get(&key) {
            return (known.clone(), &self.text);
        }
        if self.text.len() > KEEP {
            self.known.clear();
            self.text.clear();
        }
        let made = make(&mut self.text);
        self.known.insert(key, made.clone());
        (made, &self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text of this length, which begins with the key.
    fn get(kept: &mut TextCache<u8, std::ops::Range<usize>>, key: u8, len: usize) -> Vec<u8> {
        let (at, text) = kept.get(key, |text| {
            let start = text.len();
            text.resize(start + len, key);
            start..text.len()
        });
        text[at].to_vec()
    }

    #[test]
    fn text_is_made_once_unless_there_is_too_much() {
        let mut kept = TextCache::default();
        assert_eq!(get(&mut kept, 1, 2), [1, 1]);
        assert_eq!(get(&mut kept, 2, 3), [2, 2, 2]);
        assert_eq!(get(&mut kept, 1, 9), [1, 1]);
        get(&mut kept, 3, KEEP);
        // Everything is dropped for it.
        assert_eq!(get(&mut kept, 4, 1), [4]);
        assert_eq!(get(&mut kept, 1, 9), [1; 9]);
        assert_eq!(kept.text.len(), 10);
    }
}
