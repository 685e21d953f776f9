//! Big-endian numbers in byte slices. Readers give `None` past the end; writers are for places already
//! checked.

/// The `N` bytes at `at`, if they are all there.
#[inline(always)]
pub(crate) fn chunk<const N: usize>(bytes: &[u8], at: usize) -> Option<&[u8; N]> {
    bytes.get(at..)?.first_chunk()
}

/// The `N` bytes at `at` to write to, if they are all there.
#[inline(always)]
pub(crate) fn chunk_mut<const N: usize>(bytes: &mut [u8], at: usize) -> Option<&mut [u8; N]> {
    bytes.get_mut(at..)?.first_chunk_mut()
}

/// `N` bytes out of a longer array; the caller's constants are checked when the crate is compiled and tested.
#[inline(always)]
pub(crate) const fn sub<const N: usize, const M: usize>(bytes: &[u8; M], at: usize) -> [u8; N] {
    let mut out = [0; N];
    let mut i = 0;
    while i < N {
        out[i] = bytes[at + i];
        i += 1;
    }
    out
}

/// 16 bits at `at`.
#[inline(always)]
pub(crate) const fn be16<const M: usize>(bytes: &[u8; M], at: usize) -> u16 {
    u16::from_be_bytes(sub(bytes, at))
}

/// 32 bits at `at`.
#[inline(always)]
pub(crate) const fn be32<const M: usize>(bytes: &[u8; M], at: usize) -> u32 {
    u32::from_be_bytes(sub(bytes, at))
}

/// 48 bits at `at`.
#[inline(always)]
pub(crate) const fn be48<const M: usize>(bytes: &[u8; M], at: usize) -> u64 {
    (be16(bytes, at) as u64) << 32 | be32(bytes, at + 2) as u64
}

/// 64 bits at `at`.
#[inline(always)]
pub(crate) const fn be64<const M: usize>(bytes: &[u8; M], at: usize) -> u64 {
    u64::from_be_bytes(sub(bytes, at))
}

/// 128 bits at `at`.
#[inline(always)]
pub(crate) const fn be128<const M: usize>(bytes: &[u8; M], at: usize) -> u128 {
    u128::from_be_bytes(sub(bytes, at))
}
