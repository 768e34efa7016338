//! The identity of this server over TLS: a given certificate, or one of its own.

mod accept;
mod text;
mod validity;

pub(crate) use self::accept::{Accepted, accept, wants_tls};

use std::fmt;
use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ring::digest::{SHA256, digest};
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;

use self::text::{base64, hex};
use self::validity::{Validity, is_of_version_1};
use crate::error::plain;
use crate::machine;

/// Validity of an own certificate, which begins a day before it is made: clocks differ.
const GOOD: Duration = Duration::from_secs(365 * 86_400);
const DAY: Duration = Duration::from_secs(86_400);
/// The keys with which `ring` signs.
const KEYS: &str = "ECDSA P-256 or P-384, Ed25519, or RSA of 2048 to 4096 bits";
/// Limit in bytes on a file: more than a chain of certificates needs.
const LONGEST: u64 = 1 << 20;

/// A certificate, those that vouch for it, and its private key.
pub struct Identity {
    key: Arc<CertifiedKey>,
    provider: Arc<CryptoProvider>,
}

impl Identity {
    /// Reads a chain of certificates, the server's own first, and the private key of that, both as PEM.
    ///
    /// # Errors
    /// A file cannot be read, has none, or the key is that of another certificate. The text says which.
    pub fn read(certificate: &Path, key: &Path) -> Result<Identity, String> {
        let bad = |path: &Path, why: &dyn fmt::Display| format!("{}: {why}", path.display());
        let pem = text(certificate)?;
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
        let chain = chain.map_err(|_| bad(certificate, &"it has a certificate that is not valid PEM"))?;
        if chain.is_empty() {
            return Err(bad(certificate, &"it has no PEM certificate"));
        }
        let pem = text(key)?;
        let secret = PrivateKeyDer::from_pem_slice(&pem).map_err(|_| match is_locked(&pem) {
            true => bad(key, &"the key is encrypted; remove its password with `openssl pkey -in OLD -out NEW`"),
            false => bad(key, &"it has no PEM private key"),
        })?;
        let unfit = match is_of_version_1(&chain[0]) {
            true => {
                "the first certificate has X.509 version 1, not 3; one with an extension such as subjectAltName has 3"
            }
            false => "the first certificate cannot be parsed",
        };
        Identity::of(chain, secret).map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => {
                format!("the key in {} does not belong to {}", key.display(), certificate.display())
            }
            rustls::Error::InvalidCertificate(_) => bad(certificate, &unfit),
            _ => bad(key, &format_args!("unsupported key; supported are {KEYS}")),
        })
    }

    /// A warning if the certificate is not valid yet, not any more, or not for long.
    pub fn warning(&self, now: SystemTime) -> Option<String> {
        Validity::of(self.key.cert.first()?)?.warning(now)
    }

    /// Makes a key and signs its certificate with it: valid for a year, for this machine by its name and as
    /// `localhost`, and for `host`, a name or an address; if that means any address, for those from which this machine
    /// reaches others.
    ///
    /// # Errors
    /// The system has no randomness.
    pub fn own(host: &str) -> Result<Identity, String> {
        Identity::made(host).map_err(|error| format!("creating a certificate: {error}"))
    }

    fn made(host: &str) -> Result<Identity, Box<dyn std::error::Error>> {
        let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
        // An address without its interface.
        let host = host.split('%').next().unwrap_or_default();
        let any = host.is_empty() || host.parse().is_ok_and(|address: IpAddr| address.is_unspecified());
        let own =
            if any { machine::addresses().iter().map(ToString::to_string).collect() } else { vec![host.to_owned()] };
        let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
        for name in own.into_iter().chain([machine]) {
            if !name.is_empty() && name.is_ascii() && !names.contains(&name) {
                names.push(name);
            }
        }
        let mut params = rcgen::CertificateParams::new(names)?;
        params.distinguished_name.push(rcgen::DnType::CommonName, "thalweg serve");
        params.not_before = (SystemTime::now() - DAY).into();
        params.not_after = (SystemTime::now() + GOOD).into();
        params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
        let key = rcgen::KeyPair::generate()?;
        let certificate = params.self_signed(&key)?;
        let secret = PrivatePkcs8KeyDer::from(key.serialize_der());
        Ok(Identity::of(vec![certificate.der().clone()], secret.into())?)
    }

    fn of(chain: Vec<CertificateDer<'static>>, secret: PrivateKeyDer<'static>) -> Result<Identity, rustls::Error> {
        let provider = Arc::new(default_provider());
        let key = CertifiedKey::from_der(chain, secret, &provider)?;
        // Parsed once here, so that later uses of it cannot fail.
        ParsedCertificate::try_from(key.end_entity_cert()?)?;
        Ok(Identity { key: Arc::new(key), provider })
    }

    /// The SHA-256 of the certificate, as browsers show it.
    pub fn fingerprint(&self) -> String {
        let certificate = self.key.cert.first().map_or(&[][..], |certificate| certificate.as_ref());
        hex(digest(&SHA256, certificate).as_ref())
    }

    /// The SHA-256 of its public key in base64, as curl and browsers pin it (RFC 7469 §2.4).
    pub fn pin(&self) -> String {
        let certificate = self.key.end_entity_cert().and_then(ParsedCertificate::try_from);
        let key = certificate.map_or_else(|_| Vec::new(), |own| own.subject_public_key_info().as_ref().to_vec());
        base64(digest(&SHA256, &key).as_ref())
    }

    /// The configuration for TLS over TCP.
    pub(crate) fn over_tcp(&self) -> Result<ServerConfig, rustls::Error> {
        let versions =
            ServerConfig::builder_with_provider(self.provider.clone()).with_safe_default_protocol_versions()?;
        Ok(self.config(versions, b"http/1.1"))
    }

    /// The configuration for QUIC: TLS 1.3 alone.
    pub(crate) fn over_quic(&self) -> Result<ServerConfig, rustls::Error> {
        let builder = ServerConfig::builder_with_provider(self.provider.clone());
        Ok(self.config(builder.with_protocol_versions(&[&rustls::version::TLS13])?, b"h3"))
    }

    fn config(
        &self,
        builder: rustls::ConfigBuilder<ServerConfig, rustls::WantsVerifier>,
        speaks: &[u8],
    ) -> ServerConfig {
        let resolver = rustls::sign::SingleCertAndKey::from(self.key.clone());
        let mut config = builder.with_no_client_auth().with_cert_resolver(Arc::new(resolver));
        config.alpn_protocols = vec![speaks.to_vec()];
        config
    }
}

impl fmt::Debug for Identity {
    /// Formats without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("fingerprint", &self.fingerprint()).finish_non_exhaustive()
    }
}

/// True if a key is encrypted (RFC 7468 §11, or the older form of OpenSSL).
fn is_locked(pem: &[u8]) -> bool {
    let pem = String::from_utf8_lossy(pem);
    pem.contains("BEGIN ENCRYPTED PRIVATE KEY") || pem.contains("Proc-Type: 4,ENCRYPTED")
}

fn text(path: &Path) -> Result<Vec<u8>, String> {
    let read = || {
        let about = fs::metadata(path)?;
        if !about.is_file() {
            return Err(std::io::Error::other("not a regular file"));
        }
        if about.len() > LONGEST {
            return Err(std::io::Error::other("too long for a certificate or a key"));
        }
        fs::read(path)
    };
    read().map_err(|error| format!("{}: {}", path.display(), plain(&error)))
}

#[cfg(test)]
mod tests;
