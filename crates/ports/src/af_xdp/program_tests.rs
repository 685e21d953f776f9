//! The program, run by a small machine of our own.

use super::*;

const MAP: i32 = 77;

/// Runs the program on a frame that arrives at `queue`: its verdict, and the key that it looked up.
fn run(code: &[Instruction], frame: &[u8], queue: u32) -> (i32, Option<u32>) {
    const FRAME: u64 = 1 << 32;
    const CONTEXT: u64 = 1 << 40;
    let mut r = [0u64; 10];
    r[1] = CONTEXT;
    let load = |address: u64, len: u64| -> u64 {
        match address {
            a if a == CONTEXT + DATA as u64 => FRAME,
            a if a == CONTEXT + DATA_END as u64 => FRAME + frame.len() as u64,
            a if a == CONTEXT + RX_QUEUE as u64 => queue as u64,
            a => {
                let at = (a - FRAME) as usize;
                let mut bytes = [0; 8];
                bytes[..len as usize].copy_from_slice(&frame[at..at + len as usize]);
                u64::from_le_bytes(bytes)
            }
        }
    };
    let (mut at, mut key) = (0usize, None);
    loop {
        let i = code[at];
        let (to, from) = (i.registers as usize & 15, i.registers as usize >> 4);
        let (number, beside) =
            (i.immediate as i64 as u64, |base: u64| base.wrapping_add_signed(i.offset as i64));
        let mut jumps = false;
        match i.code {
            LOAD_8 => r[to] = load(beside(r[from]), 1),
            LOAD_16 => r[to] = load(beside(r[from]), 2),
            LOAD_32 => r[to] = load(beside(r[from]), 4),
            LOAD_MAP => {
                assert_eq!(
                    (i.registers, i.immediate, code[at + 1].code),
                    (0x11, MAP, 0),
                    "a map by descriptor"
                );
                r[to] = u64::MAX;
                at += 1;
            }
            MOVE => r[to] = r[from],
            SET => r[to] = number,
            ADD => r[to] += r[from],
            ADD_NUMBER => r[to] += number,
            AND_NUMBER => r[to] &= number,
            SHIFT_LEFT => r[to] <<= number,
            JUMP => jumps = true,
            JUMP_EQUAL => jumps = r[to] == number,
            JUMP_NOT => jumps = r[to] != number,
            JUMP_ABOVE => jumps = r[to] > r[from],
            CALL => {
                assert_eq!((i.immediate, r[1], r[3] as i32), (REDIRECT_MAP, u64::MAX, XDP_PASS));
                key = Some(r[2] as u32);
                r[0] = XDP_REDIRECT as u64;
            }
            EXIT => return (r[0] as i32, key),
            other => panic!("unknown opcode {other:#x}"),
        }
        if jumps {
            at = at.wrapping_add_signed(i.offset as isize);
        }
        at += 1;
    }
}

/// A frame with that many tags, then IPv4 with `options` words of options, or IPv6, then UDP.
fn frame(tags: usize, version: u8, options: usize, port: u16) -> Vec<u8> {
    let mut frame = vec![0x11; 12];
    [[0x88, 0xa8, 0, 5], [0x81, 0, 0, 6]][2 - tags..].iter().for_each(|tag| frame.extend(tag));
    if version == 4 {
        frame.extend([0x08, 0x00, 0x45 + options as u8, 0, 0, 40, 0, 1, 0x40, 0, 64, 17, 0, 0]);
        frame.extend([10; 8]);
        frame.extend(std::iter::repeat_n(1, 4 * options));
    } else {
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, 17, 64]);
        frame.extend([0xfd; 32]);
    }
    frame.extend([0x30, 0x39]);
    frame.extend(port.to_be_bytes());
    frame.extend([0, 8, 0, 0]);
    frame
}

const OURS: (i32, Option<u32>) = (XDP_REDIRECT, Some(3));
const OTHERS: (i32, Option<u32>) = (XDP_PASS, None);

#[test]
fn all_frames_go_to_the_socket_of_their_queue_in_six_instructions() {
    let code = program(Steer::All, MAP);
    assert_eq!(code.len(), 6);
    assert_eq!(run(&code, &[], 3), OURS);
    assert_eq!(run(&code, &frame(0, 4, 0, 9), 0), (XDP_REDIRECT, Some(0)));
}

#[test]
fn only_udp_to_the_port_is_ours_behind_tags_and_options_too() {
    let code = program(Steer::UdpPort(0xfa57), MAP);
    for tags in 0..=2 {
        for (version, options) in [(4, 0), (4, 1), (4, 10), (6, 0)] {
            assert_eq!(
                run(&code, &frame(tags, version, options, 0xfa57), 3),
                OURS,
                "{tags} {version} {options}"
            );
            assert_eq!(run(&code, &frame(tags, version, options, 0x57fa), 3), OTHERS);
        }
    }
}

#[test]
fn what_is_not_udp_or_not_whole_is_the_kernels() {
    let code = program(Steer::UdpPort(9), MAP);
    for (version, protocol_at) in [(4, 23), (6, 20)] {
        let whole = frame(0, version, 0, 9);
        (0..whole.len()).for_each(|len| assert_eq!(run(&code, &whole[..len], 3), OTHERS, "{len} bytes"));
        let mut tcp = whole.clone();
        tcp[protocol_at] = 6;
        assert_eq!(run(&code, &tcp, 3), OTHERS);
    }
    for fragment in [[0x20, 0x00], [0x00, 0x01], [0x1f, 0xff]] {
        let mut part = frame(0, 4, 0, 9);
        part[20..22].copy_from_slice(&fragment);
        assert_eq!(run(&code, &part, 3), OTHERS);
    }
    let mut arp = frame(0, 4, 0, 9);
    arp[13] = 6;
    assert_eq!(run(&code, &arp, 3), OTHERS);
}
