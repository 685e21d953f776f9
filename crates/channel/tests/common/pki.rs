//! Keys and certificates as Open vSwitch's PKI has them, made with `openssl` once per test program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use flowgauge_channel::{Tls, TlsFiles};

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
        std::fs::write(pki.path("leaf.ext"), "basicConstraints=CA:false\nsubjectAltName=DNS:sc id:no host\n").unwrap();
        for ca in ["controllerca", "switchca", "strangerca"] {
            pki.authority(ca);
        }
        // A second authority of the same name, with another key.
        pki.authority_named("impostor", "switchca");
        pki.leaf("controller", "controllerca", "ec", true);
        pki.leaf("switch", "switchca", "ec", true);
        pki.leaf("stranger", "strangerca", "ec", true);
        pki.leaf("forged", "impostor", "ec", true);
        pki.leaf("old-controller", "controllerca", "rsa", false);
        pki.leaf("old-switch", "switchca", "rsa", false);
        pki.leaf("old-forged", "impostor", "ec", false);
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

    fn authority(&self, name: &str) {
        self.authority_named(name, name);
    }

    fn authority_named(&self, file: &str, name: &str) {
        self.openssl(&format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -sha512 \
             -keyout {file}-privkey.pem -out {file}-cert.pem -subj /O=Fg/CN={name}"
        ));
    }

    /// Version 3 with a useless name, or version 1 without any extension.
    fn leaf(&self, name: &str, ca: &str, key: &str, version_3: bool) {
        let key = if key == "rsa" { "rsa:2048" } else { "ec -pkeyopt ec_paramgen_curve:P-256" };
        self.openssl(&format!(
            "req -newkey {key} -nodes -keyout {name}-privkey.pem -out {name}.csr -subj /O=Fg/CN={name}"
        ));
        let extensions = if version_3 { "-extfile leaf.ext" } else { "" };
        self.openssl(&format!(
            "x509 -req -in {name}.csr -CA {ca}-cert.pem -CAkey {ca}-privkey.pem -CAcreateserial -days 30 -sha512 \
             -out {name}-cert.pem {extensions}"
        ));
    }

    fn openssl(&self, arguments: &str) {
        run(&self.0, arguments);
    }
}

fn run(directory: &Path, arguments: &str) {
    let output = Command::new("openssl")
        .current_dir(directory)
        .args(arguments.split_whitespace())
        .output()
        .unwrap();
    assert!(output.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}
