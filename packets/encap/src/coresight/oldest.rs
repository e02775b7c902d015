use crate::coresight::FRAME;

/// Puts a buffer that was written round and round in order, the oldest byte first, and returns what of it
/// was written. `write` is where the next byte would have gone; `wrapped` if the end was reached before.
/// With `frames` only whole frames are returned: the one that was being written when tracing stopped is
/// neither old nor new.
pub fn oldest_first(bytes: &mut [u8], write: usize, wrapped: bool, frames: bool) -> &mut [u8] {
    let write = write.min(bytes.len());
    let whole = if frames { write.wrapping_sub(write % FRAME) } else { write };
    if !wrapped {
        return bytes.get_mut(..whole).unwrap_or_default();
    }
    let cut = write.wrapping_sub(whole);
    let torn = if cut > 0 { FRAME } else { 0 };
    let oldest = whole.saturating_add(torn).min(bytes.len());
    bytes.rotate_left(oldest);
    let len = bytes.len().saturating_sub(oldest.saturating_sub(whole));
    bytes.get_mut(..len).unwrap_or_default()
}
