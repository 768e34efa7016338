//! A self-signed certificate, generated for one run.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::{cipher_suite, default_provider};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use crate::scrap::Scrap;

/// The host name of the certificate.
pub const NAME: &str = "localhost";

/// A certificate, its key, and a root store that trusts it.
#[derive(Debug)]
pub struct Certificate {
    /// The certificate.
    pub own: CertificateDer<'static>,
    /// Its key.
    pub key: PrivateKeyDer<'static>,
    /// A root store with this certificate only.
    pub roots: RootCertStore,
    pem: [String; 2],
}

/// The files of a certificate and its key, and the configuration of a client that trusts them.
#[derive(Debug)]
pub struct Secret {
    /// The certificate and the key, in PEM.
    pub files: [Scrap; 2],
    /// A client configuration with TLS 1.3 and AES-128-GCM only.
    pub client: Arc<ClientConfig>,
}

impl Certificate {
    /// Generates a certificate.
    pub fn make() -> Result<Certificate, Box<dyn std::error::Error>> {
        let made = rcgen::generate_simple_self_signed([NAME.to_owned()])?;
        let own = made.cert.der().clone();
        let mut roots = RootCertStore::empty();
        roots.add(own.clone())?;
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        Ok(Certificate { own, key, roots, pem: [made.cert.pem(), made.signing_key.serialize_pem()] })
    }
}

impl Secret {
    /// Generates a certificate and writes its files.
    pub fn make() -> Result<Secret, String> {
        let Certificate { roots, pem, .. } = Certificate::make().map_err(|error| format!("a certificate: {error}"))?;
        let [own, key] = pem;
        let provider =
            CryptoProvider { cipher_suites: vec![cipher_suite::TLS13_AES_128_GCM_SHA256], ..default_provider() };
        let builder =
            ClientConfig::builder_with_provider(provider.into()).with_protocol_versions(&[&rustls::version::TLS13]);
        let client =
            builder.map_err(|error| format!("TLS: {error}"))?.with_root_certificates(roots).with_no_client_auth();
        Ok(Secret { files: [Scrap::write(&own)?, Scrap::write(&key)?], client: client.into() })
    }
}
