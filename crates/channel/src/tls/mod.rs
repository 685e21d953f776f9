//! TLS as Open vSwitch's PKI does it: both sides show a certificate, and each trusts what the other's authority has signed.
//!
//! Open vSwitch's certificates name a switch or a controller, not a host, and it looks at no name; nor do we: whoever holds a key
//! that the authority has certified is the peer. The authority's file should therefore hold the authority of the *other* side
//! alone: for a controller `switchca/cacert.pem`, for a switch `controllerca/cacert.pem`.
//!
//! TLS 1.2 and 1.3, by rustls with `ring`. Sessions are not resumed, so that each connection proves itself anew.

mod files;
mod stream;
mod verifier;
mod words;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::server::NoServerSessionStorage;
use rustls::sign::SingleCertAndKey;
use rustls::{ClientConfig, ClientConnection, ServerConfig, ServerConnection};

use crate::error::ChannelError;
pub(crate) use stream::TlsStream;
use verifier::ChainVerifier;
pub(crate) use words::{speaks_tls, tls_peer};

/// The files that say who we are and whom we trust, in PEM; text around it is skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Our private key: RSA (2048 bits or more), ECDSA (P-256, P-384) or Ed25519, not protected by a password.
    pub private_key: PathBuf,
    /// Our certificate, and those between it and the authority that the peer trusts.
    pub certificate: PathBuf,
    /// The certificates of the authorities that sign our peers' certificates; or a peer's own certificate.
    pub ca: PathBuf,
}

/// Who we are and whom we trust: read once, used for any number of connections in both roles.
#[derive(Clone)]
pub struct Tls {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    files: Arc<TlsFiles>,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// [`ChannelError::TlsFile`], which names the file: it is missing, holds something else, or the key is not the
    /// certificate's.
    pub fn load(files: &TlsFiles) -> Result<Tls, ChannelError> {
        let provider = Arc::new(ring::default_provider());
        let ours = SingleCertAndKey::from(files::own(files, &provider)?);
        let ours = Arc::new(ours);
        let verifier = Arc::new(ChainVerifier::new(files::authorities(files)?, &provider, files)?);
        let unusable = |e: rustls::Error| files::wrong("certificate", &files.certificate, e.to_string());
        let mut client = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .dangerous()
            .with_custom_certificate_verifier(verifier.clone())
            .with_client_cert_resolver(ours.clone());
        client.resumption = Resumption::disabled();
        client.enable_sni = false;
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_client_cert_verifier(verifier)
            .with_cert_resolver(ours);
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
        Ok(Tls { client: Arc::new(client), server: Arc::new(server), files: Arc::new(files.clone()) })
    }

    /// The files that it was read from.
    pub fn files(&self) -> &TlsFiles {
        &self.files
    }

    /// The side that opened the TCP connection.
    pub(crate) fn client(&self, peer: SocketAddr) -> Result<TlsStream, ChannelError> {
        // rustls wants a name to look for; our verifier does not look.
        let name = ServerName::from(peer.ip());
        let connection =
            ClientConnection::new(self.client.clone(), name).map_err(|e| words::failed(&e, &self.files))?;
        Ok(TlsStream::new(connection.into(), self.files.clone()))
    }

    /// The side that accepted the TCP connection.
    pub(crate) fn server(&self) -> Result<TlsStream, ChannelError> {
        let connection =
            ServerConnection::new(self.server.clone()).map_err(|e| words::failed(&e, &self.files))?;
        Ok(TlsStream::new(connection.into(), self.files.clone()))
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tls({:?})", self.files)
    }
}
