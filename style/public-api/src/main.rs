//! Lists the public items of a crate, one a line, from the JSON of rustdoc: `thalweg-public-api FILE`.
//!
//! Items of blanket and automatic traits, and of derived ones, are left out.

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("usage: thalweg-public-api FILE");
        return ExitCode::from(2);
    };
    let items = public_api::Builder::from_rustdoc_json(file)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build();
    match items {
        Ok(items) => {
            items.items().for_each(|item| println!("{item}"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
