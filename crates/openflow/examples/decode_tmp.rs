//! tmp
use flowgauge_openflow::*;
use std::io::BufRead;
fn main() {
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let (name, hex) = line.split_once(' ').unwrap();
        let bytes: Vec<u8> =
            (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect();
        match decode(&bytes) {
            Ok((v, m)) => {
                let mut again = vec![];
                let r = encode(&m, v, &mut again);
                let verdict = match r {
                    Ok(()) if again == bytes => "SAME".to_string(),
                    Ok(()) => {
                        format!("DIFF {}", again.iter().map(|b| format!("{b:02x}")).collect::<String>())
                    }
                    Err(e) => format!("ENC {e}"),
                };
                println!("{name} {verdict} {:?}", m.body);
            }
            Err(e) => println!("{name} ERR {e}"),
        }
    }
}
