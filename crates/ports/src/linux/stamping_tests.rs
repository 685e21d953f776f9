use super::*;

/// `struct ethtool_ts_info` with these words.
fn info(abilities: u32, clock: i32, tx_types: u32, rx_filters: u32) -> [u8; 44] {
    let words = [ETHTOOL_GET_TS_INFO, abilities, clock as u32, tx_types, 0, 0, 0, rx_filters, 0, 0, 0];
    let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
    bytes.try_into().expect("44 bytes")
}

/// What `ethtool -T` says of an Intel E810: all that there is.
const CARD: u32 = 0x5f;

#[test]
fn a_card_with_a_clock_stamps_both_ways() {
    let found = parse(info(CARD, 3, 0b11, 0b11));
    let all = StampAbilities { rx_hardware: true, tx_hardware: true, tx_software: true, clock: Some(3) };
    assert_eq!(found, all);
}

#[test]
fn a_card_that_stamps_ptp_frames_alone_is_no_use() {
    let ptp_only = 1 << 12;
    assert!(!parse(info(CARD, 0, 0b11, 1 | ptp_only)).rx_hardware);
    assert!(!parse(info(CARD, -1, 0b11, 0b11)).rx_hardware, "nor is one without a clock");
    assert!(!parse(info(CARD, 0, 0b01, 0b11)).tx_hardware, "off is all that it can");
}

#[test]
fn a_veth_has_the_kernels_stamps() {
    let veth = 0b11010;
    let found = parse(info(veth, -1, 0, 0));
    assert_eq!(found, StampAbilities { tx_software: true, ..Default::default() });
}

#[test]
fn what_a_veth_says_itself() {
    let Some(lab) = crate::linux::Lab::new("stamps", 1) else { return };
    let found = crate::linux::within(Some(lab.netns()), || {
        let socket = Socket::packet("test")?;
        let interface = Interface::find(&socket, "va", None)?;
        let abilities = StampAbilities::of(&socket, &interface);
        Ok((abilities, CardStamps::enable(socket, &interface, abilities).is_none()))
    });
    let expected = StampAbilities { tx_software: true, ..Default::default() };
    assert_eq!(found.unwrap(), (expected, true));
}

/// A control message: header, data, padding.
fn message(level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
    let mut bytes = (HEADER + data.len()).to_ne_bytes().to_vec();
    bytes.extend(level.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0xee);
    bytes
}

fn timestamping(stamps: [(u64, u64); 3]) -> Vec<u8> {
    let data: Vec<u8> = stamps.iter().flat_map(|&(s, ns)| [s, ns]).flat_map(u64::to_ne_bytes).collect();
    message(libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, &data)
}

#[test]
fn stamps_are_found_among_other_messages() {
    let other = message(libc::SOL_PACKET, 16, &[7; 13]);
    let software = timestamping([(1_800_000_000, 5), (0, 0), (0, 0)]);
    let both = timestamping([(0, 0), (9, 9), (4, 2)]);
    let expected = Some(1_800_000_000_000_000_005);
    let of = |parts: &[&[u8]]| stamps(&parts.concat());
    assert_eq!(of(&[&other, &software]), Stamps { software: expected, hardware: None });
    assert_eq!(of(&[&software, &other, &both]), Stamps { software: expected, hardware: Some(4_000_000_002) });
    assert_eq!(of(&[&other]), Stamps::default());
}

#[test]
fn messages_that_are_cut_short_or_absurd_are_passed_over() {
    let whole = timestamping([(1, 1), (0, 0), (2, 2)]);
    for len in 0..whole.len() {
        assert_eq!(stamps(&whole[..len]), Stamps::default(), "{len} bytes");
    }
    for len in [0usize, 3, usize::MAX] {
        let mut absurd = whole.clone();
        absurd[..8].copy_from_slice(&len.to_ne_bytes());
        assert_eq!(stamps(&absurd), Stamps::default());
    }
}
