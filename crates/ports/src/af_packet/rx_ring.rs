//! The memory-mapped receive ring: the kernel fills blocks, we read frames where they lie and give the blocks back.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use flowgauge_clock::{Clock, Nanos, WallOffset};
use libc::{tpacket_block_desc, tpacket3_hdr};

use super::fanout::Fanout;
use super::options::AfPacketOptions;
use crate::linux::{CardStamps, Interface, Socket};
use crate::{Burst, Owner, PortError, Slot};

/// Bytes that a frame takes in a block besides its own: the kernel's header, and on average half of the alignment.
pub(super) const FRAME_OVERHEAD: u64 = 82 + 8;

/// How long an offset between the wall clock and the tester's is good for.
const OFFSET_LASTS: Nanos = Nanos::from_millis(2);

/// Chooses who stamps received frames.
const PACKET_TIMESTAMP: i32 = 17;

/// Bytes of a VLAN tag.
const TAG: usize = 4;

/// The receiving half of a port.
pub(super) struct RxRing {
    socket: Socket,
    map: NonNull<u8>,
    block_size: usize,
    owner: Owner,
    blocks: Vec<Block>,
    /// The block that is read now, or that will be read next.
    current: usize,
    /// Frames of the current block that were not handed out yet.
    remaining: u32,
    next: *mut tpacket3_hdr,
    offset: WallOffset,
    card_offset: Option<WallOffset>,
    offset_taken: Nanos,
    dropped: u64,
}

/// What we know of a block.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Its frames that are on loan.
    lent: u32,
    /// All its frames were handed out, and it was not given back yet.
    walked: bool,
}

// SAFETY: the mapping belongs to this ring alone; `next` points into it.
unsafe impl Send for RxRing {}

impl RxRing {
    /// With the stamps of `card` if there is one, else with the kernel's. `fanout`: which frames it gets, where it has not all.
    pub fn new(
        port: &str,
        interface: &Interface,
        options: &AfPacketOptions,
        card: Option<&CardStamps>,
        fanout: Option<&mut Fanout>,
    ) -> Result<RxRing, PortError> {
        let socket = Socket::packet(port)?;
        let (block_size, blocks) =
            (options.block_size.next_power_of_two().max(1 << 16), options.blocks.max(2));
        socket.set(libc::SOL_PACKET, libc::PACKET_VERSION, libc::tpacket_versions::TPACKET_V3 as i32)?;
        socket.set(libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1i32)?;
        if card.is_some() {
            let stamps = libc::SOF_TIMESTAMPING_RAW_HARDWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
            socket.set(libc::SOL_PACKET, PACKET_TIMESTAMP, stamps)?;
        }
        let frame_size = 2048;
        let request = libc::tpacket_req3 {
            tp_block_size: block_size as u32,
            tp_block_nr: blocks as u32,
            tp_frame_size: frame_size,
            tp_frame_nr: (block_size * blocks) as u32 / frame_size,
            tp_retire_blk_tov: options.retire_ms.max(1),
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        socket.set(libc::SOL_PACKET, libc::PACKET_RX_RING, request)?;
        let map = map(&socket, block_size * blocks)?;
        let ring = RxRing {
            socket,
            map,
            block_size,
            owner: Owner::unique(),
            blocks: vec![Block::default(); blocks],
            current: 0,
            remaining: 0,
            next: std::ptr::null_mut(),
            offset: Clock.offset_from_wall(),
            card_offset: card.and_then(CardStamps::offset),
            offset_taken: Clock.now(),
            dropped: 0,
        };
        if options.promiscuous {
            let request = libc::packet_mreq {
                mr_ifindex: interface.index,
                mr_type: libc::PACKET_MR_PROMISC as u16,
                mr_alen: 0,
                mr_address: [0; 8],
            };
            ring.socket.set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, request)?;
        }
        ring.socket.bind(interface.index, libc::ETH_P_ALL as u16)?;
        fanout.map_or(Ok(()), |fanout| fanout.join(&ring.socket))?;
        Ok(ring)
    }

    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// What the ring holds, in bytes.
    pub fn bytes(&self) -> u64 {
        (self.block_size * self.blocks.len()) as u64
    }

    /// Frames that found the ring full, since it was opened.
    pub fn dropped(&mut self) -> u64 {
        // struct tpacket_stats_v3: packets, drops, freezes. Reading them sets them to zero.
        if let Some([_, drops, _]) = self.socket.get::<3>(libc::SOL_PACKET, libc::PACKET_STATISTICS) {
            self.dropped += drops as u64;
        }
        self.dropped
    }

    fn block(&self, index: usize) -> *mut tpacket_block_desc {
        // SAFETY: index < blocks, so the block lies in the mapping; blocks are page-aligned.
        unsafe { self.map.as_ptr().add(index * self.block_size).cast() }
    }

    fn status(&self, index: usize) -> &AtomicU32 {
        // SAFETY: the status is an aligned 32-bit word in the mapping, which the kernel and we access atomically.
        unsafe { AtomicU32::from_ptr(&raw mut (*self.block(index)).hdr.bh1.block_status) }
    }

    /// Hands out up to `max` frames.
    pub fn receive(&mut self, burst: &mut Burst, max: usize, card: Option<&CardStamps>) -> usize {
        let mut n = 0;
        while n < max {
            if self.remaining == 0 && !self.open_block(card) {
                break;
            }
            let count = self.remaining.min((max - n) as u32);
            for _ in 0..count {
                // SAFETY: the kernel counted that many frames in the block, linked by their offsets.
                let slot = unsafe { self.frame() };
                burst.push(slot);
            }
            self.remaining -= count;
            self.blocks[self.current].lent += count;
            n += count as usize;
            if self.remaining == 0 {
                self.blocks[self.current].walked = true;
                self.current = (self.current + 1) % self.blocks.len();
            }
        }
        n
    }

    /// Opens the next block if the kernel has filled it.
    #[inline]
    fn open_block(&mut self, card: Option<&CardStamps>) -> bool {
        if self.status(self.current).load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return false;
        }
        self.open_filled(card)
    }

    fn open_filled(&mut self, card: Option<&CardStamps>) -> bool {
        let index = self.current;
        if self.blocks[index].walked {
            // We went all the way around and its frames are still on loan.
            return false;
        }
        let now = Clock.now();
        if now - self.offset_taken > OFFSET_LASTS {
            self.offset = Clock.offset_from_wall();
            self.card_offset = card.and_then(CardStamps::offset).or(self.card_offset);
            self.offset_taken = now;
        }
        let block = self.block(index);
        // SAFETY: the kernel handed the block over, so its header is ours to read, and the first frame lies in it.
        unsafe {
            let header = &raw const (*block).hdr.bh1;
            self.remaining = (*header).num_pkts;
            self.next = block.byte_add((*header).offset_to_first_pkt as usize).cast();
        }
        if self.remaining == 0 {
            self.release(index);
            self.current = (index + 1) % self.blocks.len();
        }
        self.remaining > 0
    }

    /// The next frame of the current block.
    ///
    /// # Safety
    /// `next` points to a frame of a block that is ours.
    #[inline]
    unsafe fn frame(&mut self) -> Slot {
        // SAFETY: the caller's contract. The kernel's header is complete, and the frame lies behind it in the block.
        unsafe {
            let header = &*self.next;
            let mut start = self.next.cast::<u8>().add(header.tp_mac as usize);
            let mut len = header.tp_snaplen;
            if header.tp_status & libc::TP_STATUS_VLAN_VALID != 0 && len >= 12 {
                start = restore_tag(start, header);
                len += TAG as u32;
            }
            let stamp = header.tp_sec as u64 * 1_000_000_000 + header.tp_nsec as u64;
            let at = NonNull::new_unchecked(start);
            let mut slot = Slot::from_raw(at, len, len, self.current as u64, self.owner);
            slot.set_stamp(Some(self.offset_of(header.tp_status).to_tester(stamp)));
            self.next = self.next.byte_add(header.tp_next_offset as usize);
            slot
        }
    }

    /// The offset of the clock that stamped a frame of that status: where the card stamps, single frames may lack its stamp.
    #[inline]
    fn offset_of(&self, status: u32) -> WallOffset {
        match self.card_offset {
            Some(card) if status & libc::TP_STATUS_TS_RAW_HARDWARE != 0 => card,
            Some(_) | None => self.offset,
        }
    }

    /// Takes a frame back; gives its block back to the kernel with the last one.
    #[inline]
    pub fn give_back(&mut self, slot: Slot) {
        let index = slot.into_token() as usize;
        let block = &mut self.blocks[index];
        block.lent -= 1;
        if block.lent == 0 && block.walked {
            self.release(index);
        }
    }

    fn release(&mut self, index: usize) {
        self.blocks[index] = Block::default();
        // Our reads of the block come before the kernel's next writes to it.
        fence(Ordering::SeqCst);
        self.status(index).store(libc::TP_STATUS_KERNEL, Ordering::Release);
    }
}

/// Puts a VLAN tag back that the kernel took out of a frame: the addresses move up by four bytes, over room that the
/// kernel leaves between its own header (48 + 20 bytes) and the frame (82 bytes on at the least). Returns the new start.
///
/// # Safety
/// `start` is a frame of at least 12 bytes in a block that is ours, and `header` its header.
#[cold]
unsafe fn restore_tag(start: *mut u8, header: &tpacket3_hdr) -> *mut u8 {
    let given = header.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
    let tpid = if given { header.hv1.tp_vlan_tpid } else { 0x8100 };
    // SAFETY: 14 bytes are free in front of the frame (see above), and it has 12.
    unsafe {
        let moved = start.sub(TAG);
        std::ptr::copy(start, moved, 12);
        std::ptr::copy_nonoverlapping(tpid.to_be_bytes().as_ptr(), moved.add(12), 2);
        let tci = header.hv1.tp_vlan_tci as u16;
        std::ptr::copy_nonoverlapping(tci.to_be_bytes().as_ptr(), moved.add(14), 2);
        moved
    }
}

fn map(socket: &Socket, len: usize) -> Result<NonNull<u8>, PortError> {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_POPULATE);
    // SAFETY: a new mapping at an address of the kernel's choice.
    let map = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, socket.fd(), 0) };
    if map == libc::MAP_FAILED {
        return Err(socket.error("mmap"));
    }
    Ok(NonNull::new(map.cast()).expect("a mapping is never at zero"))
}

impl Drop for RxRing {
    fn drop(&mut self) {
        if self.blocks.iter().any(|block| block.lent > 0) {
            // Somebody still reads frames: leave the mapping in place.
            return;
        }
        // SAFETY: mapped in `new` with this length, and no frame of it is on loan.
        unsafe { libc::munmap(self.map.as_ptr().cast(), self.block_size * self.blocks.len()) };
    }
}
