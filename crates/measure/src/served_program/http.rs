//! As much of HTTP/1.1 as tells where a response ends (RFC 9112, §6).

use super::error::ServedProgramError;
use httparse::{EMPTY_HEADER, Response, Status, parse_chunk_size};

/// Headers of a response at most.
const HEADERS: usize = 100;

/// The request for `path` at `host`.
pub(crate) fn get(path: &str, host: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: warmcore\r\nAccept: */*\r\n\r\n").into_bytes()
}

/// The length of the response at the start of `bytes`; `None` if it is not complete.
///
/// # Errors
/// If it is no response, an error, or the last of its connection.
pub(crate) fn complete(bytes: &[u8], path: &str) -> Result<Option<usize>, ServedProgramError> {
    let mut headers = [EMPTY_HEADER; HEADERS];
    let mut response = Response::new(&mut headers);
    let not_http = |reason: String| ServedProgramError::NotHttp { reason };
    let start = match response.parse(bytes).map_err(|error| not_http(error.to_string()))? {
        Status::Complete(start) => start,
        Status::Partial => return Ok(None),
    };
    let status = response.code.unwrap_or_default();
    // Such as 100 Continue: the response follows.
    if (100..200).contains(&status) {
        return complete(&bytes[start..], path).map(|end| end.map(|end| start + end));
    }
    if !(200..400).contains(&status) {
        return Err(ServedProgramError::Status { status, path: path.to_owned() });
    }
    let value = |name: &str| {
        let header = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
        Some(String::from_utf8_lossy(header.value).trim().to_ascii_lowercase())
    };
    // HTTP/1.0 closes unless it says otherwise.
    let connection = value("connection").unwrap_or_default();
    if connection.contains("close") || response.version == Some(0) && !connection.contains("keep-alive") {
        return Err(ServedProgramError::Closes);
    }
    if matches!(status, 204 | 304) {
        return Ok(Some(start));
    }
    if value("transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
        return chunks(&bytes[start..]).map(|end| end.map(|end| start + end)).map_err(not_http);
    }
    let lengths = response.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("content-length"));
    if lengths.count() > 1 {
        return Err(not_http("it has more than one Content-Length".to_owned()));
    }
    let Some(length) = value("content-length") else { return Err(ServedProgramError::Closes) };
    let length: usize = length.parse().map_err(|_| not_http(format!("its Content-Length is `{length}`")))?;
    Ok(start.checked_add(length).filter(|end| *end <= bytes.len()))
}

/// The length of a body in chunks; `None` if it is not complete. Trailers must be empty.
fn chunks(bytes: &[u8]) -> Result<Option<usize>, String> {
    let mut at = 0;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let (header, size) = match parse_chunk_size(rest).map_err(|error| error.to_string())? {
            Status::Complete(found) => found,
            Status::Partial => return Ok(None),
        };
        let end = usize::try_from(size).ok().and_then(|size| (at + header + 2).checked_add(size));
        at = end.ok_or_else(|| format!("a chunk of {size} bytes"))?;
        if at > bytes.len() {
            return Ok(None);
        }
        if size == 0 {
            return Ok(Some(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_of(text: &str) -> Result<Option<usize>, String> {
        complete(text.as_bytes(), "/").map_err(|error| error.to_string())
    }

    #[test]
    fn a_response_ends_after_its_length_or_its_last_chunk() {
        let with_length = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
        let empty = "HTTP/1.1 204 No Content\r\n\r\n";
        let informed = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        for whole in [with_length, chunked, empty, informed] {
            assert_eq!(end_of(whole), Ok(Some(whole.len())), "{whole}");
            for short in 0..whole.len() {
                assert_eq!(end_of(&whole[..short]), Ok(None), "{}", &whole[..short]);
            }
            assert_eq!(end_of(&format!("{whole}more")), Ok(Some(whole.len())));
        }
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        for (text, named) in [
            ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "answered 404 to GET /"),
            ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "closes the connection"),
            ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "closes the connection"),
            ("HTTP/1.1 200 OK\r\n\r\n", "closes the connection"),
            ("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "`many`"),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                "more than one Content-Length",
            ),
            ("SSH-2.0-OpenSSH\r\n", "no HTTP/1.1 response"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "no HTTP/1.1 response"),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
                "no HTTP/1.1 response",
            ),
        ] {
            let error = end_of(text).unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
