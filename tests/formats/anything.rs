//! Anything at all gets an answer: a charge, a rejection or a refusal, and never a panic.

use std::io::Cursor;

use gpuledger::billing::{self, Manifest};
use proptest::prelude::*;

use super::read;
use crate::support::files::{self, gzip};

/// Opens and reads to the end; what it came to does not matter, only that it came to something.
fn survives(bytes: Vec<u8>) {
    if let Ok(export) = billing::open("anything", Cursor::new(bytes), &billing::ReadAs::any()) {
        let _ = read(export);
    }
}

/// Our own exports, as seeds.
fn exports() -> Vec<Vec<u8>> {
    files::our_exports().into_iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// One change to a file: at a place, some bytes are replaced by others.
fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, usize, Vec<u8>)>> {
    let nasty = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..8),
        prop::sample::select(vec![
            b"\"".to_vec(),
            b",".to_vec(),
            b"\n".to_vec(),
            b"\r\n".to_vec(),
            b"\0".to_vec(),
            b"\"\"".to_vec(),
            b"NULL".to_vec(),
            b"1e999".to_vec(),
            b"-".to_vec(),
            b"{\"".to_vec(),
            "é".as_bytes().to_vec(),
            b"\xff".to_vec(),
            b"9999-12-31T23:59:59Z".to_vec(),
            b"99999999999999999999999999999999999999999999".to_vec(),
        ]),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), 0usize..20, nasty), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_get_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..2000), magic in 0usize..6) {
        let magics: [&[u8]; 6] = [b"", b"\x1f\x8b\x08", b"PK\x03\x04", b"\xef\xbb\xbf", b"BilledCost,", b"{\"reportKeys\":"];
        let bytes = [magics[magic], &bytes].concat();
        let _ = Manifest::parse(&bytes);
        survives(bytes);
    }

    #[test]
    fn changed_exports_get_an_answer(export in any::<prop::sample::Index>(), changes in changes(), packed: bool) {
        let mut bytes = export.get::<Vec<u8>>(&exports()).clone();
        for (place, cut, new) in changes {
            let at = place.index(bytes.len().max(1)).min(bytes.len());
            let end = (at + cut).min(bytes.len());
            bytes.splice(at..end, new);
        }
        survives(if packed { gzip(&bytes) } else { bytes });
    }

    #[test]
    fn cut_and_damaged_archives_get_an_answer(export in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>(), flip: u8) {
        let mut bytes = gzip(export.get::<Vec<u8>>(&exports()));
        let at = cut.index(bytes.len());
        bytes[at] ^= flip;
        survives(bytes.clone());
        bytes.truncate(at);
        survives(bytes);
    }

    #[test]
    fn any_values_in_any_cells_get_an_answer(cells in prop::collection::vec(prop::string::string_regex("[ -~é\n]{0,12}").unwrap(), 1..400)) {
        let header = exports().into_iter().next().unwrap();
        let header = String::from_utf8_lossy(&header).lines().next().unwrap().to_owned();
        let columns = header.split(',').count();
        let quoted: Vec<String> = cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
        let rows: Vec<String> = quoted.chunks(columns).map(|row| row.join(",")).collect();
        survives(format!("{header}\n{}", rows.join("\n")).into_bytes());
    }
}
