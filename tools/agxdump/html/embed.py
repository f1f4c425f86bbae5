#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts page.html, page.css and the scripts together, as bytes for command.c. Usage:

    embed.py page.html page.css SCRIPT.js... page.inc

The scripts become one strict function, in their order. In page.html, {{style}} and {{script}} stand for the files, {{style-hash}} and {{script-hash}} for what
the page's content security policy calls them by, and {{data}} for where the data comes between.
"""
import base64
import hashlib
import sys


def policy_hash(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def c_bytes(name, text):
    data = text.encode()
    rows = [", ".join(map(str, data[i:i + 24])) for i in range(0, len(data), 24)]
    return "static const unsigned char %s[] = {\n   %s};\n" % (name, ",\n   ".join(rows))


def main(argv):
    page, style, *scripts = (open(path, encoding="utf-8").read() for path in argv[1:-1])
    script = '"use strict";\n(() => {\n%s})();\n' % "".join(scripts)
    for name, text in (("</style", style), ("</script", script), ("<!--", script)):
        if name in text:
            raise SystemExit("%s would end its element" % name)
    for name, text in (("style-hash", policy_hash(style)), ("script-hash", policy_hash(script)),
                       ("style", style), ("script", script)):
        if page.count("{{%s}}" % name) != 1:
            raise SystemExit("page.html has not one {{%s}}" % name)
        page = page.replace("{{%s}}" % name, text)
    begin, end = page.split("{{data}}")
    with open(argv[-1], "w", encoding="utf-8") as out:
        out.write("/* Made by embed.py. */\n" + c_bytes("page_begin", begin) + c_bytes("page_end", end))


if __name__ == "__main__":
    main(sys.argv)
