//! A rendered answer: compressed once, in pieces between which its blanks are filled in.

use std::io::{self, Read as _};

use axum::body::{Body, HttpBody as _, to_bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use flate2::{Compress, Compression, Crc, FlushCompress, Status};

use super::blank::{Blank, Filled, split};
use crate::cache::SizeInCache;

/// Longer answers are files: they are made anew.
const LONGEST: u64 = 1 << 20;
const VARY: HeaderValue = HeaderValue::from_static("Accept-Encoding");
/// RFC 1952, 2.3: deflated, without a name or a time, on any system.
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// RFC 1951, 3.2.4: a stored block holds no more.
const LONGEST_BLOCK: usize = 0xffff;

pub(super) struct Kept {
    headers: HeaderMap,
    pieces: Vec<Piece>,
    /// Of the text with its blanks.
    hash: blake3::Hash,
}

/// Text up to a blank.
struct Piece {
    /// Ends at a whole byte, and refers to nothing before it: what stands in a blank, which may be secret, is never
    /// compressed together with what others wrote into the page (BREACH).
    deflated: Vec<u8>,
    sum: Crc,
    blank: Option<Blank>,
}

/// What of a request decides how an answer is sent, and not what it says.
pub(super) struct Wanted {
    takes_gzip: bool,
    known: Option<HeaderValue>,
}

impl Kept {
    /// Keeps what can be kept: all is well, it is a page or a file of some length, and nothing is set in the browser.
    ///
    /// # Errors
    /// Gives back what cannot.
    pub async fn of(answer: Response) -> Result<Self, Response> {
        let is_short = answer.body().size_hint().exact().is_some_and(|bytes| bytes <= LONGEST);
        let sets_cookies = answer.headers().contains_key(header::SET_COOKIE);
        if answer.status() != StatusCode::OK || !is_short || sets_cookies {
            return Err(answer);
        }
        let (parts, body) = answer.into_parts();
        let text = match to_bytes(body, LONGEST as usize).await {
            Ok(text) => text,
            Err(error) => {
                tracing::error!(%error, "an answer in memory could not be read");
                return Err(StatusCode::INTERNAL_SERVER_ERROR.into_response());
            }
        };
        let split = split(&text);
        let last = split.len() - 1;
        let pieces =
            split.iter().enumerate().map(|(at, (text, blank))| Piece::of(text, *blank, at == last)).collect();
        let mut headers = parts.headers;
        headers.remove(header::CONTENT_LENGTH);
        headers.append(header::VARY, VARY);
        Ok(Self { headers, pieces, hash: blake3::hash(&text) })
    }

    /// The answer to somebody.
    pub fn send(&self, filled: &Filled, wanted: &Wanted) -> Response {
        let tag = self.tag(filled);
        let mut response = if wanted.knows(&tag) {
            // What a cache decides by is said of both.
            let mut response = StatusCode::NOT_MODIFIED.into_response();
            response.headers_mut().append(header::VARY, VARY);
            response
        } else {
            self.whole(filled, wanted.takes_gzip)
        };
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            response.headers_mut().insert(header::ETAG, tag);
        }
        response
    }

    fn whole(&self, filled: &Filled, takes_gzip: bool) -> Response {
        let gzip = self.gzip(filled);
        let body = if takes_gzip { Ok(gzip) } else { plain(&gzip) };
        let body = match body {
            Ok(body) => Body::from(body),
            Err(error) => {
                tracing::error!(%error, "a kept answer cannot be read");
                return StatusCode::INTERNAL_SERVER_ERROR.into_response();
            }
        };
        let mut response = Response::new(body);
        *response.headers_mut() = self.headers.clone();
        if takes_gzip {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }

    /// Weak, since the same answer is sent compressed and plain.
    fn tag(&self, filled: &Filled) -> String {
        let mut hash = blake3::Hasher::new();
        hash.update(self.hash.as_bytes());
        for blank in self.pieces.iter().filter_map(|piece| piece.blank) {
            hash.update(filled.text(blank)).update(&[0]);
        }
        format!("W/\"{}\"", &hash.finalize().to_hex()[..32])
    }

    fn gzip(&self, filled: &Filled) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.size_in_cache());
        let mut sum = Crc::new();
        out.extend(GZIP_HEAD);
        for piece in &self.pieces {
            out.extend(&piece.deflated);
            sum.combine(&piece.sum);
            let text = piece.blank.map_or(&[][..], |blank| filled.text(blank));
            for block in text.chunks(LONGEST_BLOCK) {
                let length = block.len() as u16;
                out.push(0);
                out.extend(length.to_le_bytes());
                out.extend((!length).to_le_bytes());
                out.extend(block);
                sum.update(block);
            }
        }
        out.extend(sum.sum().to_le_bytes());
        out.extend(sum.amount().to_le_bytes());
        out
    }
}

impl Piece {
    fn of(text: &[u8], blank: Option<Blank>, is_last: bool) -> Self {
        let mut sum = Crc::new();
        sum.update(text);
        Self { deflated: deflate(text, is_last), sum, blank }
    }
}

fn deflate(text: &[u8], is_last: bool) -> Vec<u8> {
    let flush = if is_last { FlushCompress::Finish } else { FlushCompress::Sync };
    let mut compress = Compress::new(Compression::default(), false);
    let mut out = Vec::with_capacity(text.len() / 4 + 64);
    loop {
        let read = compress.total_in() as usize;
        // In memory only: the state cannot be wrong, and more room is given until everything fits.
        let status = compress.compress_vec(&text[read..], &mut out, flush);
        let is_done = match status {
            Ok(Status::StreamEnd) | Err(_) => true,
            Ok(_) => !is_last && out.len() < out.capacity(),
        };
        if is_done {
            return out;
        }
        out.reserve(out.capacity().max(64));
    }
}

fn plain(gzip: &[u8]) -> io::Result<Vec<u8>> {
    let mut text = Vec::with_capacity(gzip.len() * 4);
    flate2::read::GzDecoder::new(gzip).read_to_end(&mut text)?;
    Ok(text)
}

impl SizeInCache for Kept {
    fn size_in_cache(&self) -> usize {
        let of_pieces = |piece: &Piece| size_of::<Piece>() + piece.deflated.len();
        size_of::<Self>() + 256 + self.pieces.iter().map(of_pieces).sum::<usize>()
    }
}

impl Wanted {
    pub fn of(headers: &HeaderMap) -> Self {
        let codings = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        let takes_gzip = codings.flat_map(|list| list.split(',')).any(|coding| {
            let (name, rest) = coding.split_once(';').unwrap_or((coding, ""));
            let is_refused = rest.trim().strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0));
            name.trim().eq_ignore_ascii_case("gzip") && !is_refused
        });
        Self { takes_gzip, known: headers.get(header::IF_NONE_MATCH).cloned() }
    }

    fn knows(&self, tag: &str) -> bool {
        let known = self.known.as_ref().and_then(|known| known.to_str().ok()).unwrap_or_default();
        known.split(',').any(|known| known.trim() == tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_taken_where_it_is_named_and_not_refused() {
        for (accepted, expected) in [
            (&["gzip, deflate, br"][..], true),
            (&["br", "GZIP;q=0.5"], true),
            (&["gzip;q=0"], false),
            (&["gzip; q=0.0"], false),
            (&["identity"], false),
            (&[], false),
        ] {
            let mut headers = HeaderMap::new();
            for value in accepted {
                headers.append(header::ACCEPT_ENCODING, value.parse().unwrap());
            }
            assert_eq!(Wanted::of(&headers).takes_gzip, expected, "{accepted:?}");
        }
    }

    #[test]
    fn pieces_and_blocks_between_them_are_one_stream() {
        let long = "0123456789abcdef".repeat(9000);
        for (texts, fill) in [
            (vec!["before ", " between ", " after"], "blank"),
            (vec!["", "", ""], ""),
            (vec!["alone"], "unused"),
            (vec!["x", &long, "y", ""], &long),
        ] {
            let last = texts.len() - 1;
            let piece = |(at, text): (usize, &&str)| {
                Piece::of(text.as_bytes(), (at < last).then_some(Blank::Name), at == last)
            };
            let kept = Kept {
                headers: HeaderMap::new(),
                pieces: texts.iter().enumerate().map(piece).collect(),
                hash: blake3::hash(b""),
            };
            let filled = Filled::with(fill);
            assert_eq!(plain(&kept.gzip(&filled)).unwrap(), texts.join(fill).as_bytes());
        }
    }
}
