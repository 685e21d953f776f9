//! Reads keys and certificates; every error names the file and the option that gave it.

use std::path::Path;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use super::TlsFiles;
use crate::certificate::Certificate;
use crate::error::ChannelError;

/// Our key with our certificate, which fit each other.
pub fn own(files: &TlsFiles, provider: &CryptoProvider) -> Result<CertifiedKey, ChannelError> {
    let key_file = &files.private_key;
    let no_key = |reason: &str| wrong("private_key", key_file, reason.to_owned());
    let bytes = read("private_key", key_file)?;
    let key = PrivateKeyDer::from_pem_slice(&bytes).map_err(|_| {
        let is_encrypted = bytes.windows(9).any(|w| w == b"ENCRYPTED");
        no_key(if is_encrypted {
            "the key is protected by a password; store it without (openssl pkey -in ... -out ...)"
        } else {
            "holds no private key (RSA, ECDSA or Ed25519, in PEM)"
        })
    })?;
    let key = provider.key_provider.load_private_key(key).map_err(|_| {
        no_key("not a key that serves: RSA of 2048 bits or more, ECDSA P-256 or P-384, or Ed25519")
    })?;
    let chain = certificates("certificate", &files.certificate)?;
    let leaf = parsed("certificate", &files.certificate, &chain[0])?;
    if key.public_key().is_none_or(|public| public.as_ref() != leaf.key_info) {
        let reason = format!("is not the key of the certificate in {}", files.certificate.display());
        return Err(no_key(&reason));
    }
    Ok(CertifiedKey::new(chain, key))
}

/// The certificates of those whom we trust.
pub fn authorities(files: &TlsFiles) -> Result<Vec<CertificateDer<'static>>, ChannelError> {
    let found = certificates("ca", &files.ca)?;
    for certificate in &found {
        parsed("ca", &files.ca, certificate)?;
    }
    Ok(found)
}

/// The error for a file that doesn't serve.
pub fn wrong(key: &'static str, file: &Path, reason: String) -> ChannelError {
    ChannelError::TlsFile { key, file: file.to_owned(), reason }
}

fn parsed<'a>(
    key: &'static str,
    file: &Path,
    certificate: &'a CertificateDer<'_>,
) -> Result<Certificate<'a>, ChannelError> {
    Certificate::parse(certificate)
        .ok_or_else(|| wrong(key, file, "holds a malformed certificate".to_owned()))
}

fn certificates(key: &'static str, file: &Path) -> Result<Vec<CertificateDer<'static>>, ChannelError> {
    let bytes = read(key, file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let found = found.map_err(|e| wrong(key, file, format!("is no PEM: {e}")))?;
    if found.is_empty() {
        return Err(wrong(key, file, "holds no certificate (in PEM)".to_owned()));
    }
    Ok(found)
}

fn read(key: &'static str, file: &Path) -> Result<Vec<u8>, ChannelError> {
    std::fs::read(file).map_err(|e| wrong(key, file, e.to_string()))
}
