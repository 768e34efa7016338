//! Compiles the congestion control, for the feature `bpf` alone.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=bpf");
    println!("cargo:rerun-if-env-changed=CLANG");
    if env::var_os("CARGO_FEATURE_BPF").is_some() {
        compile();
    }
}

fn compile() {
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let object = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where")).join("tcp_stream.bpf.o");
    // libbpf's headers come from libbpf-sys; the kernel's for user space are kept by architecture on Debian.
    let libbpf = env::var("DEP_BPF_INCLUDE").expect("libbpf-sys says where");
    let architecture = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo says which");
    let mut command = Command::new(&clang);
    command.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Wno-unused-function"]);
    command.args(["-I", &libbpf, "-idirafter", &format!("/usr/include/{architecture}-linux-gnu")]);
    command.args(["-c", "bpf/tcp_stream.bpf.c", "-o"]).arg(object);
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(_) => panic!("{clang} cannot compile kernel/bpf/tcp_stream.bpf.c"),
        Err(error) => panic!("{clang}: {error}; on Debian: apt-get install clang"),
    }
}
