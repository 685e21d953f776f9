//! Keys and certificates as Open vSwitch's PKI has them, made with `openssl` once per test program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use flowgauge_channel::{Tls, TlsFiles};

const RSA: &str = "rsa:2048";
const EC: &str = "ec -pkeyopt ec_paramgen_curve:P-256";

/// A directory of PEM files, under cargo's own.
pub struct Pki(PathBuf);

/// The PKI of this test program; `None`, with the reason printed, without `openssl`.
pub fn pki() -> Option<&'static Pki> {
    static PKI: OnceLock<Option<Pki>> = OnceLock::new();
    PKI.get_or_init(Pki::make).as_ref()
}

impl Pki {
    fn make() -> Option<Pki> {
        if Command::new("openssl").arg("version").output().is_err() {
            println!("skipped: no openssl");
            return None;
        }
        let program = std::env::current_exe().unwrap();
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program.file_stem().unwrap());
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        let pki = Pki(directory);
        std::fs::write(pki.path("leaf.ext"), "basicConstraints=CA:false\nsubjectAltName=DNS:sc id:no host\n")
            .unwrap();
        // As ovs-pki makes it, and the quicker kind.
        pki.authority("controllerca", "controllerca", RSA);
        pki.authority("switchca", "switchca", EC);
        pki.authority("strangerca", "strangerca", EC);
        // A second authority of the same name, with another key.
        pki.authority("impostor", "switchca", EC);
        pki.leaf("controller", "controllerca", EC, true);
        pki.leaf("switch", "switchca", EC, true);
        pki.leaf("stranger", "strangerca", EC, true);
        pki.leaf("forged", "impostor", EC, true);
        pki.leaf("old-controller", "controllerca", RSA, false);
        pki.leaf("old-switch", "switchca", RSA, false);
        pki.leaf("old-forged", "impostor", EC, false);
        Some(pki)
    }

    /// The path of a file in it.
    pub fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    /// `name`'s key and certificate, trusting `ca`.
    pub fn files(&self, name: &str, ca: &str) -> TlsFiles {
        let path = |end: &str| self.path(&format!("{name}-{end}.pem"));
        let ca = self.path(&format!("{ca}-cert.pem"));
        TlsFiles { private_key: path("privkey"), certificate: path("cert"), ca }
    }

    /// The same, read.
    pub fn tls(&self, name: &str, ca: &str) -> Tls {
        Tls::load(&self.files(name, ca)).unwrap()
    }

    fn authority(&self, file: &str, name: &str, key: &str) {
        self.openssl(&format!(
            "req -x509 -newkey {key} -nodes -days 30 -keyout {file}-privkey.pem -out {file}-cert.pem \
             -subj /O=Fg/CN={name} {}",
            digest(key)
        ));
    }

    /// Version 3 with a useless name, or version 1 without any extension.
    fn leaf(&self, name: &str, ca: &str, key: &str, version_3: bool) {
        self.openssl(&format!(
            "req -newkey {key} -nodes -keyout {name}-privkey.pem -out {name}.csr -subj /O=Fg/CN={name}"
        ));
        let digest = digest(if ca == "controllerca" { RSA } else { EC });
        let extensions = if version_3 { "-extfile leaf.ext" } else { "" };
        self.openssl(&format!(
            "x509 -req -in {name}.csr -CA {ca}-cert.pem -CAkey {ca}-privkey.pem -CAcreateserial -days 30 {digest} \
             -out {name}-cert.pem {extensions}"
        ));
    }

    fn openssl(&self, arguments: &str) {
        run(&self.0, arguments);
    }
}

/// RSA as ovs-pki has it signs SHA-512, which ECDSA with P-256 does not go with.
fn digest(key: &str) -> &'static str {
    if key == RSA { "-sha512" } else { "-sha256" }
}

fn run(directory: &Path, arguments: &str) {
    let output =
        Command::new("openssl").current_dir(directory).args(arguments.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}
