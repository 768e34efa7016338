//! Gives the crate a digest of the sources that decide the results of a run: two programs with the same digest write the
//! same results.

use std::hash::Hasher as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use siphasher::sip::SipHasher24;

/// The sources, seen from this crate. A published crate is alone, and its version number says which they are.
const SOURCES: [&str; 5] = ["../Cargo.lock", "../gf/src", "../core/src", "../lab/src", "src"];

fn main() -> io::Result<()> {
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut hasher = SipHasher24::new();
    for source in SOURCES {
        let path = own.join(source);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
            hash(&path, Path::new(source), &mut hasher)?;
        }
    }
    println!("cargo::rustc-env=THALWEG_SOURCES={:016x}", hasher.finish());
    Ok(())
}

/// Hashes the names and the texts of all files under `path`, in the order of their names.
fn hash(path: &Path, name: &Path, hasher: &mut SipHasher24) -> io::Result<()> {
    if path.is_dir() {
        let mut entries = fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
        entries.sort();
        return entries.iter().try_for_each(|entry| hash(&path.join(entry), &name.join(entry), hasher));
    }
    let text = fs::read(path)?;
    hasher.write(name.as_os_str().as_encoded_bytes());
    hasher.write_u64(text.len() as u64);
    hasher.write(&text);
    Ok(())
}
