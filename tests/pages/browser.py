# SPDX-License-Identifier: Apache-2.0
"""Drives headless Chromium by its debugging pipe, with the standard library alone.

    with Browser("chromium") as browser:
        page = browser.open("/path/page.html", width=1280)
        page.value("document.title")
        page.problems  # what the console and exceptions said

Messages are JSON texts that end in NUL, on the browser's descriptors 3 (to it) and 4 (from it). Pages have no network.
"""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE_S = 300  # of a browser that says nothing: it may share its processor with many


class BrowserError(Exception):
    """The browser said no, or nothing."""


def find():
    """The path of a Chromium, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


class Browser:
    """A browser process, with a profile of its own that is removed at the end."""

    def __init__(self, program=None):
        self.program = program or find()
        self.number, self.buffer, self.replies, self.pages = 0, b"", {}, {}

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix="heddle-browser-")
        here_in, there_out = os.pipe()
        there_in, here_out = os.pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--hide-scrollbars",
                   "--no-first-run", "--disable-extensions", "--disable-background-networking", "--mute-audio",
                   "--disable-dev-shm-usage", f"--user-data-dir={self.profile}", "about:blank"]

        def descriptors():
            # Both ends are moved away from 3 and 4 first, so that neither replaces the other.
            read, write = os.dup2(there_in, 13), os.dup2(there_out, 14)
            os.dup2(read, 3)
            os.dup2(write, 4)

        # One child at a time, and no threads here: preexec_fn is safe.
        self.process = subprocess.Popen([self.program, *options], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=descriptors)
        os.close(there_in)
        os.close(there_out)
        self.read_end, self.write_end = here_in, here_out
        return self

    def __exit__(self, *unused):
        try:
            self.send("Browser.close")
            self.process.wait(10)
        except (BrowserError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.read_end)
        os.close(self.write_end)
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self):
        """The next message; waits for it."""
        end = time.monotonic() + PATIENCE_S
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0, end - time.monotonic()))
            more = os.read(self.read_end, 1 << 20) if ready else b""
            if not more:
                raise BrowserError("the browser says nothing")
            self.buffer += more
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def take(self, message):
        if "id" in message:
            self.replies[message["id"]] = message
        elif message.get("sessionId") in self.pages:
            self.pages[message["sessionId"]].event(message)

    def post(self, method, session=None, **parameters):
        """Sends a command; returns its number."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if session:
            command["sessionId"] = session
        data = json.dumps(command).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        return self.number

    def send(self, method, session=None, **parameters):
        """Sends a command, and returns its result."""
        number = self.post(method, session, **parameters)
        while number not in self.replies:
            self.take(self.message())
        reply = self.replies.pop(number)
        if "error" in reply:
            raise BrowserError(f"{method}: {reply['error'].get('message')}")
        return reply["result"]

    def open(self, path, **options):
        return Page(self, path, **options)


class Page:
    """A tab with one page. `problems` collects what the console and exceptions said."""

    def __init__(self, browser, path, width=1280, height=900, dark=False, still=False):
        self.browser, self.problems, self.loaded, self.requests = browser, [], False, []
        self.target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.send("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        self.look(dark, still)
        self.resize(width, height)
        self.send("Page.navigate", url=path if "://" in str(path) else pathlib.Path(path).resolve().as_uri())
        while not self.loaded:
            browser.take(browser.message())

    def send(self, method, **parameters):
        return self.browser.send(method, self.session, **parameters)

    def event(self, message):
        method, of = message["method"], message["params"]
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            details = of["exceptionDetails"]
            self.problems.append("exception: " + details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and of["type"] in ("error", "warning", "assert"):
            self.problems.append("console: " + " ".join(str(a.get("value", a.get("description"))) for a in of["args"]))
        elif method == "Log.entryAdded" and of["entry"]["level"] in ("error", "warning"):
            self.problems.append("log: " + of["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(of["request"]["url"])

    def look(self, dark=False, still=False):
        """The reader's wishes: colours, and whether things may move."""
        self.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"}])

    def resize(self, width, height=900):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def value(self, expression):
        """The value of a JavaScript expression. A promise is waited for."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    KEYS = {" ": ("Space", 32), "ArrowLeft": ("ArrowLeft", 37), "ArrowRight": ("ArrowRight", 39), "Home": ("Home", 36),
            "End": ("End", 35), "Tab": ("Tab", 9), "Enter": ("Enter", 13), "?": ("Slash", 191), "/": ("Slash", 191),
            "ArrowDown": ("ArrowDown", 40)}

    def key(self, key):
        """Presses and releases a key, as a keyboard does."""
        code, number = self.KEYS[key]
        text = {"text": "\r" if key == "Enter" else key} if len(key) == 1 or key == "Enter" else {}
        common = {"key": key, "code": code, "windowsVirtualKeyCode": number}
        self.send("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def screenshot(self, path, whole=True):
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        self.browser.pages.pop(self.session, None)
        self.browser.send("Target.closeTarget", targetId=self.target)
