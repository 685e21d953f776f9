//! What went wrong with TLS, in words that say whose file to look at.

use rustls::{AlertDescription, CertificateError, Error};

use super::TlsFiles;
use crate::error::ChannelError;

/// Content types of TLS records: change cipher spec, alert, handshake, application data.
const RECORDS: std::ops::RangeInclusive<u8> = 20..=23;
const PLAIN_PEER: &str = "set the switch to ssl: or pssl:, or use an address without TLS here";
const TLS_PEER: &str =
    "use ssl: or pssl: with key, certificate and CA here, or set the switch to tcp: or ptcp:";
const THEIR_CERTIFICATE: &str = "the CA file must hold the authority of the other side: with ovs-pki, switchca/cacert.pem for a controller";
const OUR_CERTIFICATE: &str = "the other side must trust the authority of our certificate: with ovs-pki, controllerca/cacert.pem for a switch";
const PARAMETERS: &str = "TLS 1.2 and 1.3 are spoken here; allow one of them on the other side";

/// Whether bytes can be the start of TLS.
pub fn speaks_tls(bytes: &[u8]) -> bool {
    matches!(bytes, [kind, 3, ..] if RECORDS.contains(kind))
}

/// A peer without TLS where we speak it. `bytes`: how it began.
pub fn plain_peer(bytes: &[u8]) -> ChannelError {
    let hex: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
    let what = match bytes {
        [1..=6, 0, ..] => "plain OpenFlow",
        _ => "no TLS",
    };
    tls(format!("the peer speaks {what} (it begins with {})", hex.join(" ")), PLAIN_PEER)
}

/// A peer with TLS where we don't speak it.
pub fn tls_peer() -> ChannelError {
    tls("the peer speaks TLS, and this address is without".to_owned(), TLS_PEER)
}

/// The peer went away before the handshake was complete.
pub fn cut_off() -> ChannelError {
    tls(
        "the peer closed the connection during the handshake".to_owned(),
        "a peer without TLS does that, or one that refuses our certificate: see its log",
    )
}

/// What rustls says.
pub fn failed(error: &Error, files: &TlsFiles) -> ChannelError {
    let ca = files.ca.display();
    match error {
        Error::NoCertificatesPresented => tls(
            "the peer showed no certificate".to_owned(),
            "give the other side a private key and a certificate (ovs-vsctl set-ssl)",
        ),
        Error::InvalidCertificate(why) => match why {
            CertificateError::UnknownIssuer => {
                tls(format!("no authority in {ca} has signed the peer's certificate"), THEIR_CERTIFICATE)
            }
            CertificateError::BadSignature => tls(
                format!(
                    "an authority in {ca} bears the name of the peer's authority, but has not signed its certificate"
                ),
                THEIR_CERTIFICATE,
            ),
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => tls(
                "the peer's certificate has expired".to_owned(),
                "check the clocks on both sides, or make a new one",
            ),
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                tls("the peer's certificate is not valid yet".to_owned(), "check the clocks on both sides")
            }
            CertificateError::UnsupportedSignatureAlgorithmContext { .. } => tls(
                "the peer's certificate is signed in a way that is not supported".to_owned(),
                "sign by RSA with SHA-256 to SHA-512, ECDSA with SHA-256 or SHA-384, or Ed25519",
            ),
            other => tls(format!("the peer's certificate does not serve: {other}"), THEIR_CERTIFICATE),
        },
        Error::AlertReceived(alert) => refused(*alert, files),
        Error::PeerIncompatible(why) => tls(format!("nothing in common with the peer: {why:?}"), PARAMETERS),
        other => tls(other.to_string(), "check what is at the other end"),
    }
}

/// The peer has told why it ends.
fn refused(alert: AlertDescription, files: &TlsFiles) -> ChannelError {
    let certificate = files.certificate.display();
    match alert {
        AlertDescription::UnknownCA => tls(
            format!("the peer does not know the authority of our certificate {certificate}"),
            OUR_CERTIFICATE,
        ),
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateExpired
        | AlertDescription::CertificateUnknown
        | AlertDescription::CertificateRequired
        | AlertDescription::DecryptError
        | AlertDescription::AccessDenied => {
            tls(format!("the peer refuses our certificate {certificate}: {alert:?}"), OUR_CERTIFICATE)
        }
        AlertDescription::HandshakeFailure
        | AlertDescription::ProtocolVersion
        | AlertDescription::InsufficientSecurity => {
            tls(format!("the peer has nothing in common with us: {alert:?}"), PARAMETERS)
        }
        other => tls(format!("the peer ends it: {other:?}"), "see the other side's log"),
    }
}

fn tls(reason: String, advice: &'static str) -> ChannelError {
    ChannelError::Tls { reason, advice }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_tls_by_its_first_bytes() {
        assert!(speaks_tls(&[0x16, 3, 1, 2, 0]) && speaks_tls(&[0x15, 3]));
        assert!(!speaks_tls(&[4, 0, 0, 16]) && !speaks_tls(b"GET /") && !speaks_tls(&[0x16]));
        assert!(
            plain_peer(&[4, 0, 0, 8]).to_string().contains("plain OpenFlow (it begins with 04 00 00 08)")
        );
        assert!(plain_peer(b"SSH-").to_string().contains("speaks no TLS"));
    }
}
