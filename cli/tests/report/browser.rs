//! Chromium, driven through its DevTools protocol: JSON over a WebSocket.

use libtest_mimic::Failed;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

/// How long to wait for an answer, or for something to appear.
const PATIENCE: Duration = Duration::from_secs(60);

/// A page in a browser of its own.
pub(crate) struct Browser {
    child: Child,
    socket: WebSocket<TcpStream>,
    session: Option<String>,
    last: u64,
    /// What the page complained about.
    complaints: Vec<String>,
}

impl Browser {
    /// Whether there is a browser.
    pub(crate) fn exists() -> bool {
        Command::new("chromium")
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success())
    }

    /// Opens a file, in a window of this size.
    pub(crate) fn open(file: &Path, width: u32, height: u32) -> Result<Self, Failed> {
        let profile = file.with_extension("profile");
        let mut child = Command::new("chromium")
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
            .args(["--remote-debugging-port=0", "about:blank"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(child.stderr.take().ok_or("no standard error")?).lines();
        let address = loop {
            let line = lines.next().ok_or("chromium has ended")??;
            if let Some((_, address)) = line.split_once("DevTools listening on ") {
                break address.to_owned();
            }
        };
        // What it says later is of no interest, but must not block it.
        std::thread::spawn(move || lines.for_each(drop));
        let host = address.split('/').nth(2).ok_or("no address")?.to_owned();
        let stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let (socket, _) = tungstenite::client(address, stream).map_err(|e| e.to_string())?;
        let mut own = Self { child, socket, session: None, last: 0, complaints: Vec::new() };
        let target = own.call("Target.createTarget", json!({"url": "about:blank"}))?;
        let how = json!({"targetId": target["targetId"], "flatten": true});
        let session = own.call("Target.attachToTarget", how)?;
        own.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Runtime.enable", "Log.enable", "Page.enable"] {
            own.call(domain, json!({}))?;
        }
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        own.call("Emulation.setDeviceMetricsOverride", size)?;
        let url = format!("file://{}", file.canonicalize()?.display());
        own.call("Page.navigate", json!({"url": url}))?;
        own.until("document.readyState === 'complete' && location.protocol === 'file:'")?;
        Ok(own)
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value, Failed> {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(message.to_string()))?;
        loop {
            let answer: Value = serde_json::from_str(self.socket.read()?.to_text()?)?;
            if answer["id"] == self.last {
                if let Some(error) = answer.get("error") {
                    return Err(format!("{method}: {error}").into());
                }
                return Ok(answer["result"].clone());
            }
            if ["Runtime.exceptionThrown", "Log.entryAdded"].iter().any(|m| answer["method"] == *m)
            {
                self.complaints.push(answer["params"].to_string());
            }
        }
    }

    /// The value of an expression.
    pub(crate) fn value(&mut self, expression: &str) -> Result<Value, Failed> {
        let how = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", how)?;
        if let Some(error) = answer.get("exceptionDetails") {
            return Err(format!("{expression}: {error}").into());
        }
        Ok(answer["result"]["value"].clone())
    }

    /// The text of an element.
    pub(crate) fn text(&mut self, selector: &str) -> Result<String, Failed> {
        let value =
            self.value(&format!("document.querySelector({}).textContent", json!(selector)))?;
        Ok(value.as_str().ok_or("no text")?.to_owned())
    }

    /// Waits until an expression is true.
    pub(crate) fn until(&mut self, expression: &str) -> Result<(), Failed> {
        let start = Instant::now();
        while self.value(expression)? != true {
            if start.elapsed() > PATIENCE {
                return Err(format!("still not so: {expression}").into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Waits until what was changed is drawn.
    pub(crate) fn drawn(&mut self) -> Result<(), Failed> {
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")?;
        Ok(())
    }

    /// Presses a key, and waits until its effect is drawn.
    pub(crate) fn key(&mut self, key: &str) -> Result<(), Failed> {
        let text = if key == "Enter" { "\r" } else { key };
        let mut down = json!({"type": "keyDown", "key": key, "code": key});
        if text.chars().count() == 1 {
            down["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", down)?;
        self.call("Input.dispatchKeyEvent", json!({"type": "keyUp", "key": key, "code": key}))?;
        self.drawn()
    }

    /// Types into the field that has the focus.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failed> {
        self.call("Input.insertText", json!({"text": text}))?;
        self.drawn()
    }

    /// Where a place in an element is in the window, as shares of its width and height.
    fn place(&mut self, selector: &str, x: f64, y: f64) -> Result<(f64, f64), Failed> {
        let found = format!("document.querySelector({})", json!(selector));
        self.value(&format!("{found}.scrollIntoView({{block: 'center', behavior: 'instant'}})"))?;
        let place = self.value(&format!(
            "(() => {{ const b = {found}.getBoundingClientRect(); \
             return [b.left + {x} * b.width, b.top + {y} * b.height]; }})()"
        ))?;
        let of = |index: usize| place[index].as_f64().ok_or("no place");
        Ok((of(0)?, of(1)?))
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64), more: Value) -> Result<(), Failed> {
        let mut event = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
        for (key, value) in more.as_object().into_iter().flatten() {
            event[key] = value.clone();
        }
        self.call("Input.dispatchMouseEvent", event)?;
        Ok(())
    }

    /// Clicks into an element.
    pub(crate) fn click(&mut self, selector: &str, x: f64, y: f64) -> Result<(), Failed> {
        let place = self.place(selector, x, y)?;
        self.mouse("mouseMoved", place, json!({"button": "none"}))?;
        self.mouse("mousePressed", place, json!({}))?;
        self.mouse("mouseReleased", place, json!({}))?;
        self.drawn()
    }

    /// Turns the wheel over the middle of an element.
    pub(crate) fn wheel(&mut self, selector: &str, by: i32) -> Result<(), Failed> {
        let place = self.place(selector, 0.5, 0.5)?;
        let how = json!({"button": "none", "clickCount": 0, "deltaX": 0, "deltaY": by});
        self.mouse("mouseWheel", place, how)?;
        self.drawn()
    }

    /// Drags an element to the left, by a quarter of its width.
    pub(crate) fn drag(&mut self, selector: &str) -> Result<(), Failed> {
        let (from, to) = (self.place(selector, 0.6, 0.5)?, self.place(selector, 0.35, 0.5)?);
        self.mouse("mousePressed", from, json!({}))?;
        self.mouse("mouseMoved", to, json!({"buttons": 1}))?;
        self.mouse("mouseReleased", to, json!({}))?;
        self.drawn()
    }

    /// Sets the colours that the user prefers: `light` or `dark`.
    pub(crate) fn prefer(&mut self, scheme: &str) -> Result<(), Failed> {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}))?;
        self.drawn()
    }

    /// Ends the visit: an error if the page complained about anything, or loaded anything.
    pub(crate) fn end(mut self) -> Result<(), Failed> {
        let loaded = self.value("performance.getEntriesByType('resource').length")?;
        if loaded != 0 || !self.complaints.is_empty() {
            return Err(format!("{loaded} resources; {}", self.complaints.join("\n")).into());
        }
        Ok(())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.call("Browser.close", json!({}));
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
