//! Whether a peer's certificate is signed by an authority that we trust. Names are not looked at: see the module above.
//!
//! Certificates of version 3 are judged by webpki, as in any TLS client or server of rustls: path to a trust anchor, signatures,
//! validity, basic constraints, key usage. Two things that webpki refuses and Open vSwitch (OpenSSL) takes are judged here:
//!
//! - a certificate of *version 1*, as older `ovs-pki` made them. It has no extensions, so it can't be an authority, and nothing
//!   restricts what it is for; it must be valid now and signed *directly* by one of the authorities.
//! - a certificate that *is* one of those in the authorities' file, byte for byte (`ovs-pki self-sign`): it must be valid now.
//!
//! Both still prove, in the handshake, that they hold the certificate's key: that signature is verified like any other.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
    verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{
    CertificateDer, ServerName, SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, PeerMisbehaved, RootCertStore,
    SignatureScheme,
};

use super::{TlsFiles, files};
use crate::certificate::Certificate;
use crate::error::ChannelError;

/// Trusts what these authorities have signed.
#[derive(Debug)]
pub struct ChainVerifier {
    authorities: Vec<CertificateDer<'static>>,
    roots: Arc<RootCertStore>,
    clients: Arc<dyn ClientCertVerifier>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ChainVerifier {
    pub fn new(
        authorities: Vec<CertificateDer<'static>>,
        provider: &Arc<CryptoProvider>,
        files: &TlsFiles,
    ) -> Result<ChainVerifier, ChannelError> {
        let unusable = |e: String| files::wrong("ca", &files.ca, format!("holds no usable authority: {e}"));
        let mut roots = RootCertStore::empty();
        for authority in &authorities {
            roots.add(authority.clone()).map_err(|e| unusable(e.to_string()))?;
        }
        let roots = Arc::new(roots);
        let clients = WebPkiClientVerifier::builder_with_provider(roots.clone(), provider.clone())
            .build()
            .map_err(|e| unusable(e.to_string()))?;
        let algorithms = provider.signature_verification_algorithms;
        Ok(ChainVerifier { authorities, roots, clients, algorithms })
    }

    /// Judges a peer's certificate; `by_webpki` does it for version 3.
    fn judge(
        &self,
        leaf: &CertificateDer<'_>,
        now: UnixTime,
        by_webpki: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let certificate = parse(leaf)?;
        if self.authorities.iter().any(|known| known == leaf) {
            return is_current(&certificate, now);
        }
        if certificate.version != 1 {
            return by_webpki();
        }
        is_current(&certificate, now)?;
        let named = self.authorities.iter().filter_map(|known| Certificate::parse(known));
        let mut verdict = Err(CertificateError::UnknownIssuer);
        for authority in named.filter(|authority| authority.subject == certificate.issuer) {
            verdict = self.is_signed_by(&authority, &certificate);
            if verdict.is_ok() {
                break;
            }
        }
        verdict.map_err(Error::from)
    }

    fn is_signed_by(
        &self,
        authority: &Certificate<'_>,
        leaf: &Certificate<'_>,
    ) -> Result<(), CertificateError> {
        let fitting = |algorithm: &&&dyn SignatureVerificationAlgorithm| {
            algorithm.signature_alg_id().as_ref() == leaf.algorithm
                && algorithm.public_key_alg_id().as_ref() == authority.key_algorithm
        };
        let mut candidates = self.algorithms.all.iter().filter(fitting);
        let is_signed = candidates
            .any(|algorithm| algorithm.verify_signature(authority.key, leaf.signed, leaf.signature).is_ok());
        if is_signed { Ok(()) } else { Err(CertificateError::BadSignature) }
    }

    /// The handshake's signature in TLS 1.2 by a certificate that webpki does not read.
    fn signed_by_version_1(
        &self,
        message: &[u8],
        leaf: &Certificate<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let offered = self.algorithms.mapping.iter().find(|(scheme, _)| *scheme == signed.scheme);
        let (_, candidates) = offered.ok_or(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme)?;
        let mut fitting = candidates
            .iter()
            .filter(|algorithm| algorithm.public_key_alg_id().as_ref() == leaf.key_algorithm);
        if fitting.any(|algorithm| algorithm.verify_signature(leaf.key, message, signed.signature()).is_ok())
        {
            Ok(HandshakeSignatureValid::assertion())
        } else {
            Err(CertificateError::BadSignature.into())
        }
    }

    fn tls12(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let leaf = parse(cert)?;
        if leaf.version == 1 {
            return self.signed_by_version_1(message, &leaf, signed);
        }
        verify_tls12_signature(message, cert, signed, &self.algorithms)
    }

    fn tls13(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let leaf = parse(cert)?;
        if leaf.version == 1 {
            let key = SubjectPublicKeyInfoDer::from(leaf.key_info);
            return verify_tls13_signature_with_raw_key(message, &key, signed, &self.algorithms);
        }
        verify_tls13_signature(message, cert, signed, &self.algorithms)
    }
}

impl ServerCertVerifier for ChainVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.judge(end_entity, now, || {
            let parsed = ParsedCertificate::try_from(end_entity)?;
            let (roots, all) = (&self.roots, self.algorithms.all);
            verify_server_cert_signed_by_trust_anchor(&parsed, roots, intermediates, now, all)
        })?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.tls12(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.tls13(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

impl ClientCertVerifier for ChainVerifier {
    /// No hints: Open vSwitch has one certificate and shows it.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.judge(end_entity, now, || {
            self.clients.verify_client_cert(end_entity, intermediates, now).map(|_| ())
        })?;
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.tls12(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.tls13(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

fn parse<'a>(certificate: &'a CertificateDer<'_>) -> Result<Certificate<'a>, Error> {
    Certificate::parse(certificate).ok_or_else(|| CertificateError::BadEncoding.into())
}

fn is_current(certificate: &Certificate<'_>, now: UnixTime) -> Result<(), Error> {
    if now.as_secs() < certificate.not_before {
        return Err(CertificateError::NotValidYet.into());
    }
    if now.as_secs() > certificate.not_after {
        return Err(CertificateError::Expired.into());
    }
    Ok(())
}
