//! Requests to a server that runs as a process: each on a connection of its own, with cookies.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

pub struct Http {
    address: String,
    pub cookies: BTreeMap<String, String>,
}

pub struct Reply {
    pub status: u16,
    pub body: String,
}

impl Http {
    pub fn new(address: &str) -> Self {
        let address = address.trim_start_matches("http://").to_owned();
        Self { address, cookies: BTreeMap::new() }
    }

    pub fn get(&mut self, path: &str) -> Reply {
        self.send("GET", path, "", "")
    }

    /// Sends a form of a page, with the page's token.
    pub fn submit(&mut self, page: &str, action: &str, fields: &str) -> Reply {
        let token = self.token(page);
        let kind = "Content-Type: application/x-www-form-urlencoded\r\n";
        self.send("POST", action, kind, &format!("csrf={token}&{fields}"))
    }

    /// Sends a file as the form of the imports page does.
    pub fn upload(&mut self, name: &str, content: &str) -> Reply {
        let token = self.token("/imports");
        let head = super::app::file_head(name);
        let body = format!(
            "--B\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{token}\r\n{head}{content}\r\n--B--\r\n"
        );
        self.send("POST", "/imports", "Content-Type: multipart/form-data; boundary=B\r\n", &body)
    }

    /// The token of a page's forms.
    fn token(&mut self, page: &str) -> String {
        let page = self.get(page).body;
        let (_, rest) = page.split_once("name=\"csrf\" value=\"").expect("a form with a token");
        rest.split('"').next().unwrap().to_owned()
    }

    /// Opens a connection and sends a request, without waiting for the answer.
    pub fn begin(&self, method: &str, path: &str, headers: &str, body: &str) -> TcpStream {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAccept: text/html\r\nCookie: {}\r\n\
             {headers}Content-Length: {}\r\n\r\n{body}",
            self.address,
            cookies.join("; "),
            body.len()
        )
        .unwrap();
        stream
    }

    fn send(&mut self, method: &str, path: &str, headers: &str, body: &str) -> Reply {
        let mut answer = Vec::new();
        self.begin(method, path, headers, body).read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
        for line in head.lines() {
            let Some((name, value)) = line.split_once(": ") else { continue };
            if name.eq_ignore_ascii_case("set-cookie") {
                let (name, value) = value.split(';').next().unwrap().split_once('=').unwrap();
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Reply { status, body: body.to_owned() }
    }
}
