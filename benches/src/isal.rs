//! Intel's ISA-L, loaded at run time.

use core::ffi::c_int;

use libloading::{Library, Symbol};

/// Expands `rows * k` factors to 32 bytes each.
type InitTables = unsafe extern "C" fn(k: c_int, rows: c_int, factors: *const u8, tables: *mut u8);

/// Writes `rows` outputs of `len` bytes.
type EncodeData = unsafe extern "C" fn(
    len: c_int,
    k: c_int,
    rows: c_int,
    tables: *const u8,
    inputs: *const *const u8,
    outputs: *const *mut u8,
);

/// The library.
#[derive(Debug)]
pub struct IsaL(Library);

/// A matrix in the library's expanded form.
#[derive(Debug)]
pub struct Matrix<'a> {
    encode_data: Symbol<'a, EncodeData>,
    tables: Vec<u8>,
    inputs: usize,
    outputs: usize,
}

impl IsaL {
    /// Loads the library, or returns an error that says how to install it.
    pub fn load() -> Result<IsaL, String> {
        // SAFETY: loading ISA-L runs no code but the C library's own.
        unsafe { Library::new("libisal.so.2") }.map(IsaL).map_err(|error| {
            format!("cannot load ISA-L, the rival here ({error}); install it: sudo apt-get install libisal-dev")
        })
    }

    /// Expands a matrix that is stored output by output.
    pub fn matrix(&self, factors: &[u8], inputs: usize) -> Result<Matrix<'_>, String> {
        let outputs = factors.len() / inputs;
        assert_eq!(factors.len(), outputs * inputs);
        let mut tables = vec![0; 32 * factors.len()];
        // SAFETY: these are the functions' types in erasure_code.h.
        let (init_tables, encode_data) = unsafe {
            let init_tables: Symbol<'_, InitTables> = self.0.get(b"ec_init_tables").map_err(|e| e.to_string())?;
            (init_tables, self.0.get(b"ec_encode_data").map_err(|e| e.to_string())?)
        };
        // SAFETY: the function reads `outputs * inputs` factors and writes 32 bytes for each.
        unsafe { init_tables(inputs as c_int, outputs as c_int, factors.as_ptr(), tables.as_mut_ptr()) };
        Ok(Matrix { encode_data, tables, inputs, outputs })
    }
}

impl Matrix<'_> {
    /// Writes the product of the matrix and `inputs`, all of one length, to `outputs`.
    pub fn multiply(&self, inputs: &[&[u8]], outputs: &mut [Vec<u8>]) {
        let len = inputs[0].len();
        assert!(inputs.len() == self.inputs && outputs.len() == self.outputs);
        assert!(inputs.iter().all(|input| input.len() == len) && outputs.iter().all(|output| output.len() == len));
        let inputs: Vec<*const u8> = inputs.iter().map(|input| input.as_ptr()).collect();
        let outputs: Vec<*mut u8> = outputs.iter_mut().map(|output| output.as_mut_ptr()).collect();
        let [len, k, rows] = [len, inputs.len(), outputs.len()].map(|n| n as c_int);
        // SAFETY: the tables are for `k` and `rows`; all slices are `len` long, as asserted.
        unsafe { (self.encode_data)(len, k, rows, self.tables.as_ptr(), inputs.as_ptr(), outputs.as_ptr()) };
    }
}
