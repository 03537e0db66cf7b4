//! What a person does in a browser, as verbs. Things are found as people find them: by their role and words.
//!
//! Every verb waits for what it needs, so that no test sleeps.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::cdp::Cdp;
use crate::support::app::PASSWORD;

/// How long a page may take to show what it should; for a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
const TICK: Duration = Duration::from_millis(20);

/// Functions that stand before every expression: how people find things.
const FINDING: &str = r#"
const words = (text) => (text || "").replace(/\s+/g, " ").trim();
const named = (element) => words(element.getAttribute("aria-label") || element.innerText || element.value);
const best = (all, name) => all.find((e) => named(e) === name)
    || all.find((e) => named(e).startsWith(name)) || all.find((e) => named(e).includes(name));
const shown = (css) => [...document.querySelectorAll(css)].filter((e) => e.checkVisibility());
// What opens a confirmation is often called like the button inside, which is shown only then.
const ROLES = { link: ["a[href]"], button: ["button, input[type=submit]", "summary"] };
const byRole = (role, name) => ROLES[role].map((css) => best(shown(css), name)).find((e) => e);
const byLabel = (name) => best([...document.querySelectorAll("label")], name)?.control;
"#;

pub struct Page {
    cdp: Cdp,
    session: String,
    site: String,
}

impl Page {
    pub async fn open(mut cdp: Cdp, site: &str) -> Self {
        let target = cdp.call(None, "Target.createTarget", json!({ "url": "about:blank" })).await;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = cdp.call(None, "Target.attachToTarget", attach).await;
        let session = session["sessionId"].as_str().unwrap().to_owned();
        let mut page = Self { cdp, session, site: site.to_owned() };
        for domain in ["Page", "Runtime", "Log", "DOM", "Network"] {
            page.call(&format!("{domain}.enable"), json!({})).await;
        }
        page.set_width(1280).await;
        page
    }

    /// Goes to an address of the site and waits until it is all there.
    pub async fn go(&mut self, path: &str) {
        let url = if path.starts_with('/') { format!("{}{path}", self.site) } else { path.to_owned() };
        let gone = self.call("Page.navigate", json!({ "url": url })).await;
        assert_eq!(gone["errorText"], Value::Null, "{path}");
        self.until("document.readyState === 'complete'", &format!("{path} is loaded")).await;
    }

    pub async fn sign_in(&mut self, email: &str) {
        self.go("/sign-in").await;
        self.fill("Email", email).await;
        self.fill("Password", PASSWORD).await;
        self.click("button", "Sign in").await;
        self.until("!location.pathname.startsWith('/sign-in')", "one is signed in").await;
    }

    pub async fn click(&mut self, role: &str, name: &str) {
        let element = format!("byRole({}, {})", json!(role), json!(name));
        self.until_ready(&element, &format!("there is a {role} “{name}”")).await;
        let place = self
            .ask(&format!(
                "(() => {{ const e = {element}; e.scrollIntoView({{ block: 'center', behavior: 'instant' }}); \
                 const {{ x, y, width, height }} = e.getClientRects()[0]; return [x + width / 2, y + height / 2]; }})()"
            ))
            .await;
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let event =
                json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event).await;
        }
    }

    /// Types into the field with this label, in place of what it holds.
    pub async fn fill(&mut self, label: &str, text: &str) {
        let field = format!("byLabel({})", json!(label));
        self.until_ready(&field, &format!("there is a field “{label}”")).await;
        self.ask(&format!("(({field}).focus(), ({field}).select?.(), true)")).await;
        self.call("Input.insertText", json!({ "text": text })).await;
    }

    /// Chooses a file in the page's file field, as through the dialog of the system.
    pub async fn choose_file(&mut self, path: &Path) {
        self.choose_files(&[path.to_owned()]).await;
    }

    pub async fn choose_files(&mut self, paths: &[PathBuf]) {
        let field = self.evaluate("document.querySelector('input[type=file]')", false).await;
        let object = field.expect("the page is there")["objectId"].clone();
        let files = json!({ "files": paths, "objectId": object });
        self.call("DOM.setFileInputFiles", files).await;
    }

    /// Drags a file from outside the browser onto what this selector finds.
    pub async fn drop_file(&mut self, onto: &str, path: &Path) {
        let place = self
            .ask(&format!(
                "(() => {{ const e = document.querySelector({}); e.scrollIntoView({{ block: 'center' }}); \
                 const {{ x, y }} = e.getBoundingClientRect(); return [x + 15, y + 15]; }})()",
                json!(onto)
            ))
            .await;
        for kind in ["dragEnter", "dragOver", "drop"] {
            let data = json!({ "items": [], "files": [path], "dragOperationsMask": 1 });
            let event = json!({ "type": kind, "x": place[0], "y": place[1], "data": data });
            self.call("Input.dispatchDragEvent", event).await;
        }
    }

    /// Waits until the page shows this text.
    pub async fn see(&mut self, text: &str) {
        let is_shown =
            format!("words(document.body?.innerText).toLowerCase().includes({})", json!(text.to_lowercase()));
        self.until(&is_shown, &format!("the page says “{text}”")).await;
    }

    pub async fn is_shown(&mut self, text: &str) -> bool {
        self.text().await.contains(text)
    }

    pub async fn text(&mut self) -> String {
        self.ask("words(document.body.innerText)").await.as_str().unwrap().to_owned()
    }

    pub async fn path(&mut self) -> String {
        self.ask("location.pathname").await.as_str().unwrap().to_owned()
    }

    /// Waits for a page whose address begins like this.
    pub async fn arrive(&mut self, path: &str) {
        let claim =
            format!("location.pathname.startsWith({}) && document.readyState === 'complete'", json!(path));
        self.until(&claim, &format!("the browser is at {path}")).await;
    }

    pub async fn set_width(&mut self, width: u32) {
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    pub async fn set_theme(&mut self, theme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": theme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features })).await;
    }

    /// A connection that is lost, or that takes so many bytes a second.
    pub async fn set_network(&mut self, is_lost: bool, bytes: Option<u32>) {
        let rate = bytes.map_or(json!(-1), |bytes| json!(bytes));
        let conditions =
            json!({ "offline": is_lost, "latency": 0, "downloadThroughput": -1, "uploadThroughput": rate });
        self.call("Network.emulateNetworkConditions", conditions).await;
    }

    /// `print`, or nothing for the screen.
    pub async fn set_media(&mut self, media: &str) {
        self.call("Emulation.setEmulatedMedia", json!({ "media": media })).await;
    }

    /// How many sheets of A4 the page is printed on.
    pub async fn sheets(&mut self) -> u64 {
        let paper = json!({ "paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": true });
        let printed = self.call("Page.printToPDF", paper).await;
        // "/Type /Pages" is the list of them.
        let count = format!("atob({}).match(/\\/Type\\s*\\/Page\\b/g).length", printed["data"]);
        self.ask(&count).await.as_u64().unwrap()
    }

    pub async fn without_javascript(&mut self) {
        self.call("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
    }

    /// What the browser complained about since it was last asked: scripts, policies, files that were not there.
    pub async fn complaints(&mut self) -> Vec<String> {
        // What was said before this answer has arrived with it.
        self.ask("1").await;
        let events = std::mem::take(&mut self.cdp.events);
        let complaint = |event: Value| match event["method"].as_str()? {
            "Runtime.exceptionThrown" => Some(event["params"]["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled" if event["params"]["type"] == "error" => {
                Some(event["params"]["args"].to_string())
            }
            "Log.entryAdded" if event["params"]["entry"]["level"] == "error" => {
                Some(event["params"]["entry"].to_string())
            }
            _ => None,
        };
        events.into_iter().filter_map(complaint).collect()
    }

    /// The value of an expression of JavaScript; a promise is waited for.
    pub async fn ask(&mut self, expression: &str) -> Value {
        let answer = self.evaluate(expression, true).await;
        answer.unwrap_or_else(|error| panic!("{expression}: {error}"))["value"].take()
    }

    /// Waits until an expression is true. A page that is just being replaced is asked again.
    pub async fn until(&mut self, claim: &str, what: &str) {
        let began = Instant::now();
        while !self.evaluate(claim, true).await.is_ok_and(|answer| answer["value"] == true) {
            if began.elapsed() > PATIENCE {
                let page = self.evaluate("location.href + ': ' + document.body.innerText", true).await;
                panic!("waited in vain until {what}. The page: {page:?}");
            }
            tokio::time::sleep(TICK).await;
        }
    }

    /// Waits until there is such an element, and its page has its scripts: what is done before, they do not notice.
    async fn until_ready(&mut self, element: &str, what: &str) {
        self.until(&format!("document.readyState === 'complete' && !!{element}"), what).await;
    }

    async fn evaluate(&mut self, expression: &str, by_value: bool) -> Result<Value, String> {
        let expression = format!("{{{FINDING}\n{expression}}}");
        let params = json!({ "expression": expression, "returnByValue": by_value, "awaitPromise": true });
        let mut answer = self.cdp.try_call(Some(&self.session), "Runtime.evaluate", params).await?;
        match answer.get("exceptionDetails") {
            Some(problem) => Err(problem.to_string()),
            None => Ok(answer["result"].take()),
        }
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        self.cdp.call(Some(&self.session), method, params).await
    }
}
