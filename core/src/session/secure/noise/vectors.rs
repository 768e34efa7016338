//! Test vectors published with the Haskell implementation cacophony: our use of snow is compatible with other
//! implementations of Noise.

use super::*;
use crate::session::secure::public::public_key;

struct Vector {
    initiator: Key,
    responder: Key,
    hash: &'static str,
    /// Ciphertexts: both messages of the handshake, then one in each direction, twice.
    messages: [&'static str; 6],
}

const PAYLOADS: [&str; 6] = [
    "4c756477696720766f6e204d69736573",
    "4d757272617920526f746862617264",
    "462e20412e20486179656b",
    "4361726c204d656e676572",
    "4a65616e2d426170746973746520536179",
    "457567656e2042f6686d20766f6e2042617765726b",
];
const EPHEMERALS: [&str; 2] = [
    "893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a",
    "bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b",
];

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn key(hex: &str) -> [u8; 32] {
    bytes(hex).try_into().unwrap()
}

/// `Noise_NNpsk0_25519_AESGCM_BLAKE2s`.
fn shared() -> Vector {
    let secret = Key::Shared(key("54686973206973206d7920417573747269616e20706572737065637469766521"));
    Vector {
        initiator: secret.clone(),
        responder: secret,
        hash: "63e1c64d39feda97f01112d2883b13753413cbf2184e1657dcf21a9ed49963c9",
        messages: [
            "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c79448cd29a503f5d165832aa8bec5c23165496dc9cc76681e2401dbf6266b8fcba5b",
            "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f1448088430f46f97198fff3885eb5d3abe46aef90e8f6dcd5007d4daa93317069e634ee",
            "a7d888f419cc6fb45c0cea1fd1b74c33217337fcdbe823ad9dfea8",
            "e43ae5bc1ace948f71a2875f781dc75277a4a98f60e9a175902cca",
            "889bbc831c45b2168a910164d2f5b8cda488584526d53499c53755572469bbe852",
            "e7091fab6faeb14559bc1df688cc4589d8476da9f2fac2e71dc5a51bab4038b30f4b54ddab",
        ],
    }
}

/// `Noise_IK_25519_AESGCM_BLAKE2s`.
fn own() -> Vector {
    let responder = key("4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893");
    let initiator = key("e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1");
    let theirs = key("31e0303fd6418d2f8c0e78b91f22e8caed0fbe48656dcf4767e4834f701b8f62");
    assert_eq!(public_key(&responder), theirs);
    Vector {
        initiator: Key::Static { secret: initiator, peers: vec![theirs] },
        responder: Key::Static { secret: responder, peers: vec![public_key(&initiator)] },
        hash: "af51ccef548b5277ae7120c78750de6ad146ead3565b67ae43551ca4dfa962a3",
        messages: [
            "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944fc16af5edc066c93c77be147f8e6785cd6bd7b27e0f660d02a6a566ceb61b22af4d0dcc8560bce79b2a1fb55f68bc34017319936516ae9ce0862fe172c77a883f241700cb26d145dc8f8c9fe80a29008",
            "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f14480884319679a2f2fae0ee3700b9d1f532eb77fcf485567e810eaf95b2f9eeca858fe",
            "daf849a4f4bd8b0276f120b017b9dfdbc9ed667ee98316e95de1cc",
            "cdf2321b9584498d0ce313cb0c995c3ee2d679c1f3c22576ff1e90",
            "abc41aa7b17f5d7c5b8454c203668718a15020b72729f1243490ab54150338293a",
            "59bafe529215e376187e06fcfb6772d6ca7f0946877e77aafb4a90a5fc6c4cf82344d5c949",
        ],
    }
}

#[test]
fn both_patterns_match_the_cacophony_vectors() {
    for vector in [shared(), own()] {
        let mut entropy = Entropy::new([0; 32]);
        let (prologue, [ours, theirs]) = (bytes("4a6f686e2047616c74"), EPHEMERALS.map(bytes));
        let initiator = builder(&vector.initiator, Role::Initiator, &prologue, &mut entropy);
        let mut initiator = initiator.fixed_ephemeral_key_for_testing_only(&ours).build_initiator().unwrap();
        let responder = builder(&vector.responder, Role::Responder, &prologue, &mut entropy);
        let mut responder = responder.fixed_ephemeral_key_for_testing_only(&theirs).build_responder().unwrap();

        let payloads = PAYLOADS.map(bytes);
        let messages = vector.messages.map(bytes);
        assert_eq!(write(&mut initiator, &payloads[0]), messages[0]);
        assert_eq!(read(&mut responder, &messages[0]), Ok(payloads[0].clone()));
        assert_eq!(write(&mut responder, &payloads[1]), messages[1]);
        assert_eq!(read(&mut initiator, &messages[1]), Ok(payloads[1].clone()));

        let ends = [Keys::new(initiator), Keys::new(responder)];
        assert_eq!(ends[0].hash()[..], bytes(vector.hash));
        assert_eq!(ends[1].hash()[..], bytes(vector.hash));
        for at in 2..6 {
            let (from, to, nonce) = (&ends[at % 2], &ends[(at + 1) % 2], at as u64 / 2 - 1);
            let mut out = [0; 64];
            let len = from.seal(nonce, &payloads[at], &mut out);
            assert_eq!(out[..len], messages[at]);
            let len = to.open(nonce, &messages[at], &mut out).unwrap();
            assert_eq!(out[..len], payloads[at]);
        }
    }
}
