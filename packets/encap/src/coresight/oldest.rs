use crate::coresight::FRAME;

/// Puts the bytes of a circular buffer in order, oldest first, and returns the part that was written.
/// `write` is the position of the next byte to write; `wrapped` is set if the end was reached before.
/// With `frames`, only whole frames are returned: the frame that was being written when tracing stopped
/// is partly old and partly new, so it is left out.
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
