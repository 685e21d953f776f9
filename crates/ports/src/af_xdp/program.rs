//! The program that the kernel runs on each arriving frame: ours go to the socket of their queue, others go on.
//!
//! Written as instructions, so that no compiler is needed: a dozen opcodes of RFC 9669 and jumps by label.

use super::Steer;

/// One instruction, as the kernel reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Instruction {
    /// Operation.
    pub code: u8,
    /// Destination register in the low half, source register in the high half.
    pub registers: u8,
    /// Displacement of a load, or distance of a jump.
    pub offset: i16,
    /// Immediate operand.
    pub immediate: i32,
}

/// Registers: 0 results, 1 to 5 arguments (lost by a call), 6 to 9 kept.
type Register = u8;

/// `r = *(u8 *)(s + offset)`
pub(super) const LOAD_8: u8 = 0x71;
/// `r = *(u16 *)(s + offset)`
pub(super) const LOAD_16: u8 = 0x69;
/// `r = *(u32 *)(s + offset)`
pub(super) const LOAD_32: u8 = 0x61;
/// `r = immediate`, 64 bits, of this instruction and the next; with source register 1: the map with that descriptor.
pub(super) const LOAD_MAP: u8 = 0x18;
/// `r = s`
pub(super) const MOVE: u8 = 0xbf;
/// `r = immediate`
pub(super) const SET: u8 = 0xb7;
/// `r += s`
pub(super) const ADD: u8 = 0x0f;
/// `r += immediate`
pub(super) const ADD_NUMBER: u8 = 0x07;
/// `r &= immediate`
pub(super) const AND_NUMBER: u8 = 0x57;
/// `r <<= immediate`
pub(super) const SHIFT_LEFT: u8 = 0x67;
/// Jump.
pub(super) const JUMP: u8 = 0x05;
/// Jump if `r == immediate`.
pub(super) const JUMP_EQUAL: u8 = 0x15;
/// Jump if `r != immediate`.
pub(super) const JUMP_NOT: u8 = 0x55;
/// Jump if `r > s`.
pub(super) const JUMP_ABOVE: u8 = 0x2d;
/// Call of the kernel function `immediate`.
pub(super) const CALL: u8 = 0x85;
/// End, with the result in register 0.
pub(super) const EXIT: u8 = 0x95;

/// `bpf_redirect_map(map, key, action when the key has no socket)`
pub(super) const REDIRECT_MAP: i32 = 51;
/// The frame goes on to the kernel.
pub(super) const XDP_PASS: i32 = 2;
/// The frame was taken off.
#[cfg(test)]
pub(super) const XDP_REDIRECT: i32 = 4;

/// Offsets in `struct xdp_md`, the context that the program gets.
const DATA: i16 = 0;
const DATA_END: i16 = 4;
const RX_QUEUE: i16 = 16;

const UDP: i32 = 17;

/// Where a jump goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Tag(u8),
    Network,
    Ipv6,
    Port,
    Pass,
}

#[derive(Default)]
struct Assembler {
    code: Vec<Instruction>,
    jumps: Vec<(usize, Label)>,
    labels: Vec<(Label, usize)>,
}

impl Assembler {
    fn add(&mut self, code: u8, to: Register, from: Register, offset: i16, immediate: i32) {
        self.code.push(Instruction { code, registers: from << 4 | to, offset, immediate });
    }

    fn jump(&mut self, code: u8, to: Register, from: Register, immediate: i32, label: Label) {
        self.jumps.push((self.code.len(), label));
        self.add(code, to, from, 0, immediate);
    }

    fn label(&mut self, label: Label) {
        self.labels.push((label, self.code.len()));
    }

    /// Ends here unless `len` bytes lie behind the pointer in register 2. The kernel insists on it before loads.
    fn need(&mut self, len: i32) {
        self.add(MOVE, 4, 2, 0, 0);
        self.add(ADD_NUMBER, 4, 0, 0, len);
        self.jump(JUMP_ABOVE, 4, 3, 0, Label::Pass);
    }

    fn finish(mut self) -> Vec<Instruction> {
        for (at, label) in self.jumps {
            let target = self.labels.iter().find(|(known, _)| *known == label).expect("every label is set").1;
            self.code[at].offset = (target - at - 1) as i16;
        }
        self.code
    }
}

/// A number as a little- or big-endian machine loads it from a frame.
fn wire(value: u16) -> i32 {
    u16::from_ne_bytes(value.to_be_bytes()) as i32
}

/// The program for `steer`; `map` is the descriptor of the map from queue to socket.
pub(super) fn program(steer: Steer, map: i32) -> Vec<Instruction> {
    let mut a = Assembler::default();
    match steer {
        Steer::All => redirect(&mut a, 1, map),
        Steer::UdpPort(port) => {
            udp(&mut a, port);
            redirect(&mut a, 6, map);
            a.label(Label::Pass);
            a.add(SET, 0, 0, 0, XDP_PASS);
            a.add(EXIT, 0, 0, 0, 0);
        }
    }
    a.finish()
}

/// To the socket of the frame's queue; to the kernel when that queue has none.
fn redirect(a: &mut Assembler, context: Register, map: i32) {
    a.add(LOAD_32, 2, context, RX_QUEUE, 0);
    a.add(LOAD_MAP, 1, 1, 0, map);
    a.add(0, 0, 0, 0, 0);
    a.add(SET, 3, 0, 0, XDP_PASS);
    a.add(CALL, 0, 0, 0, REDIRECT_MAP);
    a.add(EXIT, 0, 0, 0, 0);
}

/// Goes on when the frame is UDP to `port`, else to `Pass`. Register 2 points to the frame, less the tags so far, and 5
/// holds the Ethernet type.
fn udp(a: &mut Assembler, port: u16) {
    a.add(MOVE, 6, 1, 0, 0);
    a.add(LOAD_32, 2, 6, DATA, 0);
    a.add(LOAD_32, 3, 6, DATA_END, 0);
    a.need(14);
    a.add(LOAD_16, 5, 2, 12, 0);
    for tag in [1, 2] {
        a.jump(JUMP_EQUAL, 5, 0, wire(0x8100), Label::Tag(tag));
        a.jump(JUMP_NOT, 5, 0, wire(0x88a8), Label::Network);
        a.label(Label::Tag(tag));
        a.add(ADD_NUMBER, 2, 0, 0, 4);
        a.need(14);
        a.add(LOAD_16, 5, 2, 12, 0);
    }
    a.label(Label::Network);
    a.jump(JUMP_NOT, 5, 0, wire(0x0800), Label::Ipv6);
    a.need(34);
    a.add(LOAD_8, 0, 2, 23, 0);
    a.jump(JUMP_NOT, 0, 0, UDP, Label::Pass);
    // Any fragment: the first has ports, but the datagram is not whole.
    a.add(LOAD_16, 0, 2, 20, 0);
    a.add(AND_NUMBER, 0, 0, 0, wire(0x3fff));
    a.jump(JUMP_NOT, 0, 0, 0, Label::Pass);
    a.add(LOAD_8, 0, 2, 14, 0);
    a.add(AND_NUMBER, 0, 0, 0, 0x0f);
    a.add(SHIFT_LEFT, 0, 0, 0, 2);
    a.add(ADD, 2, 0, 0, 0);
    a.need(14 + 8);
    a.add(LOAD_16, 0, 2, 14 + 2, 0);
    a.jump(JUMP, 0, 0, 0, Label::Port);
    a.label(Label::Ipv6);
    a.jump(JUMP_NOT, 5, 0, wire(0x86dd), Label::Pass);
    a.need(14 + 40 + 8);
    a.add(LOAD_8, 0, 2, 20, 0);
    a.jump(JUMP_NOT, 0, 0, UDP, Label::Pass);
    a.add(LOAD_16, 0, 2, 14 + 40 + 2, 0);
    a.label(Label::Port);
    a.jump(JUMP_NOT, 0, 0, wire(port), Label::Pass);
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;
