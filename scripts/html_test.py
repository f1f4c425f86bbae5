#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens pages of `agxdump html` in Chromium without a screen and uses them: rows, filters, keys, widths and colours.

    html_test.py [--out OUT] [--pictures DIR]

`make test-html` calls it. The captures are of docs/agxdump's kernels, made here on the virtual AGX, and of
a capture whose names are hostile. --pictures writes the pictures of docs/agxdump.md instead. It speaks to the
browser through the DevTools protocol on a pipe, for which Python's own library is enough.
"""
import argparse
import base64
import fcntl
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS = ("row_sums", "row_sums_by_column")
HOSTILE = "</script><img src=x onerror=document.title='bad'>"
out = ROOT / "out"
work = None


class Browser:
    """A Chromium with one tab."""

    def __init__(self):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if not program:
            sys.exit("There is no chromium; scripts/install-deps.sh html installs it.")
        to_browser, from_browser = os.pipe(), os.pipe()
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (to_browser[0], from_browser[1])]

        def give_ends():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.profile = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--hide-scrollbars",
             "--disable-background-networking", "--no-first-run", "--disable-dev-shm-usage",
             "--user-data-dir=" + self.profile.name, "about:blank"],
            preexec_fn=give_ends, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in ends + [to_browser[0], from_browser[1]]:
            os.close(fd)
        self.pipe, self.answers = to_browser[1], os.fdopen(from_browser[0], "rb", 0)
        self.rest, self.number, self.session, self.events = b"", 0, None, []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.answers.fileno(), 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.pipe, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            self.events.append(answer)

    def open(self, page, width=1280, height=900, dark=False):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events.clear()
        self.ask("Page.navigate", url=page.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.read())

    def run(self, expression):
        answer = self.ask("Runtime.evaluate", expression="(() => { %s })()" % expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def press(self, *keys):
        for key in keys:
            event = {"key": key, "code": key if len(key) > 1 else ""}
            if len(key) == 1:
                event["text"] = key
            elif key == "Enter":
                event.update(text="\r", windowsVirtualKeyCode=13)
            codes = {"Tab": 9, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
            if key in codes:
                event["windowsVirtualKeyCode"] = codes[key]
            self.ask("Input.dispatchKeyEvent", type="keyDown", **event)
            self.ask("Input.dispatchKeyEvent", type="keyUp", **{name: event[name] for name in event if name != "text"})

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        os.close(self.pipe)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.answers.close()
        shutil.rmtree(self.profile.name, ignore_errors=True)


# ---- captures ----

def call(*arguments, **environment):
    """In the folder of the captures, so that no path of this machine gets into them."""
    environment["PATH"] = str(out / "bin") + ":" + os.environ["PATH"]
    done = subprocess.run([str(it) for it in arguments], env={**os.environ, **environment}, cwd=work, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s: %s" % (" ".join(map(str, arguments)), done.stdout + done.stderr))


def make_captures():
    """A capture and an executable of each kernel, with lines, and the pages."""
    for kernel in KERNELS:
        for suffix in (".comp", ".txt"):
            shutil.copy(ROOT / "docs/agxdump" / (kernel + suffix), work)
        call("glslangValidator", "-V", "--target-env", "vulkan1.1", "-g", "-o", kernel + ".spv", kernel + ".comp")
        call("agx", "compile", kernel + ".spv", "-o", kernel + ".elf")
        call("agx", "run", kernel + ".spv", "--manifest", kernel + ".txt", "--device", "virtual", AGX_CAPTURE=kernel + ".capture")
    programs = [it for kernel in KERNELS for it in ("--program", kernel + ".elf")]
    one, two = (kernel + ".capture" for kernel in KERNELS)
    call("agxdump", "html", *programs, "-o", "one", one)
    call("agxdump", "html", *programs, "-o", "two", one, two)
    make_hostile(work / "hostile.capture")
    call("agxdump", "html", "-o", "hostile", "hostile.capture")


def make_hostile(path):
    """Version 1, which has the simpler records: 400 buffers with a label, and no submission."""
    label, data = HOSTILE.encode()[:31], b"AGXCAP\r\n" + struct.pack("<4I64s", 1, 88, 16384, 0, b"virtual:<b>g13g</b>")
    for handle in range(1, 401):
        argument = struct.pack("<QIIII", 16384, 0, 0, handle, 0)
        request = struct.pack("<IiII", 3 << 30 | 24 << 16 | 0x64 << 8 | 0x45, 0, 24, 0) + argument * 2
        for kind, payload in ((1, request), (3, struct.pack("<II", handle, 0) + label), (4, HOSTILE.encode())):
            data += struct.pack("<IIQ", kind, 0, len(payload)) + payload + bytes(-len(payload) % 8)
    path.write_bytes(data)


# ---- what the tests ask ----

ROWS = "[...document.querySelectorAll('table.rows tbody tr')]"
# What reaches beyond the screen, but for what a box scrolls.
TOO_WIDE = """
const width = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth > width) return ['the page: ' + document.documentElement.scrollWidth];
return [...document.body.querySelectorAll('*')].filter(it => !it.closest('.box, .track, .skip') || it.matches('.box, .track'))
  .filter(it => it.getBoundingClientRect().right > width + 0.5).map(it => it.tagName + '.' + it.className);
"""
# Text whose contrast with its ground is below WCAG's 4.5.
TOO_PALE = """
const parse = text => { const it = text.match(/[0-9.]+/g).map(Number); return it.length < 4 ? [...it, 1] : it; };
const light = it => { const [r, g, b] = it.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const ground = node => { for (let at = node; at; at = at.parentElement) { const it = parse(getComputedStyle(at).backgroundColor); if (it[3] > 0.99) return it; } return [255, 255, 255, 1]; };
const bad = new Set();
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const node = walk.currentNode.parentElement;
  if (!walk.currentNode.data.trim() || !node.getClientRects().length || node.closest('script, style')) continue;
  let opacity = 1;
  for (let at = node; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
  const back = ground(node), front = parse(getComputedStyle(node).color).map((v, i) => i < 3 ? v * opacity + back[i] * (1 - opacity) : v);
  const [a, b] = [light(front), light(back)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) bad.add(node.tagName + '.' + node.className + ' ' + ratio.toFixed(2) + ' "' + walk.currentNode.data.trim().slice(0, 20) + '"');
}
return [...bad];
"""


class Pages(unittest.TestCase):
    browser = None

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def open(self, name, **view):
        self.browser.open(work / name / "index.html", **view)

    def ask(self, expression):
        return self.browser.run("return " + expression)

    def focused(self):
        return self.ask("document.activeElement.textContent")

    def column(self, name):
        return self.ask("(at => %s.map(tr => tr.cells[at].textContent))([...document.querySelectorAll('table.rows th')]"
                        ".findIndex(th => th.textContent === %s))" % (ROWS, json.dumps(name)))

    def click(self, selector, text):
        self.assertTrue(self.ask("(it => it && (it.focus(), it.click(), true))([...document.querySelectorAll(%s)].find(it => it.textContent === %s))"
                                 % (json.dumps(selector), json.dumps(text))), text)

    def test_nothing_comes_from_outside_and_nothing_is_refused(self):
        for name in ("one", "two", "hostile"):
            self.open(name)
            urls = {event["params"]["request"]["url"].split(":")[0] for event in self.browser.events
                    if event.get("method") == "Network.requestWillBeSent"}
            self.assertEqual(urls, {"file"})
            said = [event for event in self.browser.events if event.get("method") in
                    ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")]
            self.assertEqual(said, [])

    def test_rows_are_sorted_by_their_heads(self):
        self.open("one")
        self.assertEqual(self.column("cycles"), sorted(self.column("cycles"), key=lambda it: -float(it.replace(",", ""))))
        self.assertEqual(self.ask("document.querySelector('th[aria-sort=descending]').textContent"), "cycles")
        self.click("th button", "cycles")
        self.assertEqual(self.ask("document.querySelector('th[aria-sort=ascending]').textContent"), "cycles")
        cycles = [float(it.replace(",", "")) for it in self.column("cycles")]
        self.assertEqual(cycles, sorted(cycles))
        self.click("th button", "launch")
        self.assertEqual(self.column("launch"), ["1.0.0", "1.0.1"])

    def test_rows_are_filtered_from_the_keyboard(self):
        self.open("one")
        self.browser.press("/", *"main cycles>1000")
        self.assertEqual(self.column("launch"), ["1.0.0"])
        self.assertEqual(self.ask("document.querySelector('.count').textContent"), "1 of 2 rows")
        self.browser.press("Escape", *"nothing-has-this")
        self.assertEqual(self.ask(ROWS + "[0].textContent"), "No row passes this filter.")
        self.browser.press("Escape", "ArrowDown")
        self.assertEqual(self.ask("document.activeElement.tagName"), "TR")
        self.assertEqual(len(self.column("launch")), 2)

    def test_panes_are_reached_from_the_keyboard(self):
        self.open("one")
        self.browser.press("/", "ArrowDown", "ArrowDown")
        self.assertEqual(self.ask("document.querySelector('tr[aria-selected=true]') === document.activeElement"), True)
        self.assertIn("1.0.1", self.focused())
        self.assertEqual(self.ask("document.querySelector('.head h2').textContent.includes('1.0.1')"), True)
        self.browser.press("Home", "Enter")
        self.assertEqual(self.ask("Boolean(document.activeElement.closest('table.code'))"), True)
        self.assertEqual(self.ask("getComputedStyle(document.activeElement).outlineStyle"), "solid")
        self.browser.press("n")
        self.assertIn("load ", self.focused())
        self.browser.press("Escape")
        self.assertEqual(self.ask("Boolean(document.activeElement.closest('table.rows'))"), True)
        self.browser.press("2")
        self.assertEqual(self.ask("document.querySelector('[role=tab][aria-selected=true]').textContent"), "Buffers")
        self.browser.press("ArrowLeft")
        self.assertEqual(self.ask("document.querySelector('[role=tab][aria-selected=true]').textContent"), "Dispatches")

    def test_every_stop_of_the_tab_key_is_seen(self):
        self.open("one")
        stops = set()
        for _ in range(60):
            self.browser.press("Tab")
            stop = self.ask("(it => it === document.body ? '' : it.tagName + '.' + it.className + it.id + it.textContent.slice(0, 30))(document.activeElement)")
            if not stop:
                break
            stops.add(stop)
            self.assertNotEqual(self.ask("getComputedStyle(document.activeElement).outlineStyle"), "none", stop)
        self.assertGreater(len(stops), 15)

    def test_a_wait_marks_what_it_waits_for(self):
        self.open("one")
        self.assertEqual(self.ask("(row => { row.focus(); return [...document.querySelectorAll('.awaited')].map(it => it.cells[5].textContent.split(' ')[0]); })"
                                  "([...document.querySelectorAll('.code tr')].find(it => it.textContent.includes('wait group')))"), ["load"])

    def test_source_lines_stand_beside_their_heat(self):
        self.open("one")
        self.assertEqual(self.ask("[...new Set([...document.querySelectorAll('.code td.line')].map(it => it.textContent))].filter(Boolean).sort().join(' ')"),
                         "10 12 13 14")
        self.click(".choice button", "Source")
        hottest = self.ask("[...document.querySelectorAll('.code .h5')].map(it => it.parentElement.cells[6].textContent.trim())")
        self.assertEqual(hottest, ["sum += matrix[row * columns + column];"])
        self.browser.run("document.querySelector('.code .h5').parentElement.focus()")
        self.browser.press("Enter")
        self.assertEqual(self.ask("document.querySelector('[aria-label=View] [aria-pressed=true]').textContent"), "Assembly")
        self.assertRegex(self.ask("document.activeElement.querySelector('.line').title"), "row_sums.comp:13$")
        self.assertIn("load ", self.focused())

    def test_a_phone_has_instruction_and_source_beside_heat(self):
        self.open("one", width=360)
        self.assertEqual(self.ask("document.querySelectorAll('.code .minor')[0].getClientRects().length"), 0)
        self.assertLess(self.ask("document.querySelector('.code td.text').getBoundingClientRect().left"), 180)

    def test_a_submission_leads_to_its_dispatches(self):
        self.open("two")
        self.browser.press("1")
        self.assertIn("2 dispatches", self.ask("(it => { it.focus(); return document.querySelector('.said').textContent; })(document.querySelector('.lanes button'))"))
        self.browser.press("Enter")
        self.assertEqual(self.ask("document.querySelector('input[type=search]').value"), "submission=1")
        self.assertEqual(self.ask("document.activeElement.tagName"), "TR")

    def test_two_captures_stand_beside_each_other(self):
        self.open("two")
        self.assertEqual(self.ask("document.querySelector('[role=tab][aria-selected=true]').textContent"), "Comparison")
        self.assertEqual(self.column("code"), ["differs", "same code"])
        self.assertEqual(self.column("A"), self.column("B"))
        changed = self.ask("document.querySelectorAll('.both tr.changed, .both tr.only').length")
        self.assertGreater(changed, 3)
        self.click(".choice button", "Differences")
        self.assertEqual(self.ask("document.querySelectorAll('.both tr.same').length"), 0)
        self.click(".choice button", "Figures")
        self.assertIn("×", self.ask("document.querySelector('[aria-label=\"Figures of both\"]').textContent"))

    def test_hostile_names_are_text(self):
        self.open("hostile")
        self.browser.press("2")
        self.assertEqual(self.column("label")[0], HOSTILE[:31])
        self.assertEqual(self.ask("document.querySelectorAll('img').length"), 0)
        self.assertNotEqual(self.ask("document.title"), "bad")
        self.assertEqual(len(self.column("label")), 300)
        self.click(".below button", "Show more rows")
        self.assertEqual(len(self.column("label")), 400)
        self.browser.press("1")
        self.assertEqual(self.ask(ROWS + "[0].textContent"), "There is nothing here.")

    def test_nothing_is_wider_than_the_screen_or_pale(self):
        for name in ("one", "two", "hostile"):
            for width, dark in ((360, False), (360, True), (768, False), (1440, True)):
                self.open(name, width=width, dark=dark)
                self.browser.run("document.getElementById('keys').open = true")
                for tab in range(self.ask("document.querySelectorAll('[role=tab]').length")):
                    self.browser.run("document.querySelectorAll('[role=tab]')[%d].click()" % tab)
                    for view in range(self.ask("document.querySelectorAll('[aria-label=View] button').length") or 1):
                        self.browser.run("const it = document.querySelectorAll('[aria-label=View] button')[%d]; if (it) it.click()" % view)
                        with self.subTest(page=name, width=width, dark=dark, tab=tab, view=view):
                            self.assertEqual(self.browser.run(TOO_WIDE), [])
                            self.assertEqual(self.browser.run(TOO_PALE), [])


def take_pictures(folder):
    browser = Browser()
    folder.mkdir(exist_ok=True)
    for name, dark in (("light", False), ("dark", True)):
        browser.open(work / "one" / "index.html", width=1640, height=800, dark=dark)
        browser.press("/", "Enter", "Enter", "n")
        browser.run("document.querySelector('.code').closest('.box').scrollTop -= 40; document.activeElement.blur(); window.scrollTo(0, 0)")
        browser.picture(folder / ("page-%s.png" % name))
    browser.open(work / "two" / "index.html", width=1640, height=680)
    browser.picture(folder / "page-comparison.png")
    browser.close()


def main():
    global out, work
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=out)
    parser.add_argument("--pictures", type=pathlib.Path)
    arguments, rest = parser.parse_known_args()
    out = arguments.out.resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        make_captures()
        if arguments.pictures:
            take_pictures(arguments.pictures)
        else:
            unittest.main(argv=sys.argv[:1] + rest)


if __name__ == "__main__":
    main()
