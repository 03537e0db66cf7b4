//! A browser that measures: one connection, kept open, and cookies.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A connection that was idle for longer may have been closed by the server, which browsers notice.
const IDLE: Duration = Duration::from_secs(5);
/// Until a page is loaded again that was not ready.
const BETWEEN_LOADS: Duration = Duration::from_millis(50);
/// Whoever has waited for so long goes away.
const PATIENCE: Duration = Duration::from_mins(2);

#[derive(Debug)]
pub struct Browser {
    address: SocketAddr,
    connection: Option<BufReader<TcpStream>>,
    used: Instant,
    cookies: BTreeMap<String, String>,
}

pub struct Page {
    pub status: u16,
    /// Where it sends one on; empty where it does not.
    pub location: String,
    pub body: String,
}

impl Browser {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, connection: None, used: Instant::now(), cookies: BTreeMap::new() }
    }

    /// The same person on another connection.
    pub fn another(&self) -> Self {
        Self { cookies: self.cookies.clone(), ..Self::new(self.address) }
    }

    /// Opens a page. One that is not ready says so and loads again by itself.
    pub fn get(&mut self, path: &str) -> io::Result<Page> {
        let asked = Instant::now();
        loop {
            let page = self.send("GET", path, "")?;
            if page.status != 503 || asked.elapsed() > PATIENCE {
                return Ok(page);
            }
            sleep(BETWEEN_LOADS);
        }
    }

    /// Loads a page as browsers do, compressed, and answers its status.
    pub fn load(&mut self, path: &str) -> io::Result<u16> {
        let (status, _, _) = self.exchange("GET", path, "", "Accept-Encoding: gzip\r\n")?;
        Ok(status)
    }

    /// Signs in with the form of the page.
    pub fn sign_in(&mut self, email: &str, password: &str) {
        let form = self.get("/sign-in").unwrap().body;
        let (_, rest) = form.split_once("name=\"csrf\" value=\"").expect("a form with a token");
        let token = rest.split('"').next().unwrap();
        let fields = format!(
            "csrf={token}&email={}&password={}",
            email.replace('@', "%40"),
            password.replace(' ', "+")
        );
        let answer = self.send("POST", "/sign-in", &fields).unwrap();
        assert_eq!(answer.status, 303, "signing in: {}", answer.body);
    }

    /// Sends a form; its token is that of this page.
    pub fn submit(&mut self, page: &str, action: &str, fields: &[(&str, &str)]) -> Page {
        let form = self.get(page).unwrap().body;
        let (_, rest) = form.split_once("name=\"csrf\" value=\"").expect("a form with a token");
        let mut body = format!("csrf={}", rest.split('"').next().unwrap());
        for (name, value) in fields {
            body.extend(["&", name, "=", &value.replace(':', "%3A").replace(' ', "+")]);
        }
        let answer = self.send("POST", action, &body).unwrap();
        assert_eq!(answer.status, 303, "{action}: {}", answer.body);
        answer
    }

    fn send(&mut self, method: &str, path: &str, body: &str) -> io::Result<Page> {
        let (status, location, body) = self.exchange(method, path, body, "")?;
        Ok(Page { status, location, body: String::from_utf8(body).map_err(io::Error::other)? })
    }

    /// Status, location and body. Each of `headers` ends its line.
    fn exchange(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
        headers: &str,
    ) -> io::Result<(u16, String, Vec<u8>)> {
        if self.connection.is_none() || self.used.elapsed() > IDLE {
            let stream = TcpStream::connect(self.address)?;
            stream.set_nodelay(true)?;
            self.connection = Some(BufReader::new(stream));
        }
        let connection = self.connection.as_mut().expect("it was just made");
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\nAccept: text/html\r\n\
             {headers}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            cookies.join("; "),
            body.len()
        );
        connection.get_mut().write_all(request.as_bytes())?;
        let status = line(connection)?.split(' ').nth(1).and_then(|status| status.parse().ok());
        let (mut length, mut is_chunked, mut location) = (0, false, String::new());
        loop {
            let line = line(connection)?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(": ").unwrap_or((&line, ""));
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap(),
                "transfer-encoding" => is_chunked = true,
                "location" => value.clone_into(&mut location),
                "set-cookie" => {
                    let (name, value) = value.split(';').next().unwrap().split_once('=').unwrap();
                    self.cookies.insert(name.to_owned(), value.to_owned());
                }
                _ => {}
            }
        }
        let body = if is_chunked { chunks(connection)? } else { bytes(connection, length)? };
        self.used = Instant::now();
        Ok((status.ok_or_else(|| io::Error::other("no status"))?, location, body))
    }
}

fn line(connection: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    if connection.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}

fn bytes(connection: &mut BufReader<TcpStream>, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    connection.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn chunks(connection: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let length = usize::from_str_radix(&line(connection)?, 16).map_err(io::Error::other)?;
        whole.extend(bytes(connection, length)?);
        line(connection)?;
        if length == 0 {
            return Ok(whole);
        }
    }
}
