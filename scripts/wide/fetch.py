# SPDX-License-Identifier: MIT
"""Collects other people's compute modules out of packages of Debian and PyPI.

Each row of SOURCES names a package; fetch() gets it by the ordinary package manager, takes all
SPIR-V compute modules out of it and writes them to the folder `kernels`, each once. index.tsv says
where each came from. Packages that compile their kernels when they run are installed into a folder
of their own (MAKERS): a script of makers/ makes them compile, and tests/mesa/module_layer.c keeps what
they give to the driver, which is Honeykrisp on the virtual AGX.
"""
import base64
import csv
import hashlib
import json
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
# family, script, its first arguments, how many numbers at a time, packages; the first one's version
# counts. A process that a driver or package ends takes along what it had still to do.
MAKERS = [
    ("taichi", "taichi_kernels.py", [], 1, ["taichi==1.7.4"]),
    ("tint", "onnx_models.py", ["webgpu"], 20, ["onnxruntime-webgpu==1.27.0", "onnx==1.23.2"]),
    ("naga", "onnx_models.py", ["wonnx"], 10, ["wonnx==0.5.1", "onnx==1.23.2"]),
    ("ncnn", "ncnn_layers.py", [], 10, ["ncnn==1.0.20261020"]),
    ("iree", "iree_programs.py", [], 40, ["iree-base-compiler==3.13.0"]),
]
MOST_STEPS, STEP_SECONDS = 200, 300
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


def python_paths():
    """What Python needs of this machine, so that it runs in the folder of mesa.sh, too."""
    base = os.path.realpath(sys.base_prefix)
    if base != "/usr":
        return [base]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return [f"/usr/lib/{version}", "/usr/lib/python3", f"/usr/bin/{version}"]


def build_layer(cache, top):
    """The folder of the Vulkan layer that keeps modules."""
    folder = os.path.join(cache, "layer")
    os.makedirs(folder, exist_ok=True)
    run(["gcc", "-std=gnu11", "-O2", "-fvisibility=hidden", "-shared", "-fPIC", "-o",
         os.path.join(folder, "libagx_modules.so"),
         os.path.join(top, "tests", "mesa", "module_layer.c"), "-lpthread"])
    with open(os.path.join(folder, "agx_modules.json"), "w") as file:
        json.dump({"file_format_version": "1.2.0", "layer": {
            "name": "VK_LAYER_AGX_modules", "type": "GLOBAL", "api_version": "1.3.0",
            "library_path": "./libagx_modules.so", "implementation_version": "1",
            "description": "keeps shader modules"}}, file)
    return folder


def make(row, cache, mesa, out):
    """Runs a maker to its end; the folder with what it left."""
    family, script, arguments, step, packages = row
    venv = os.path.join(cache, "venv")
    python = os.path.join(venv, "bin", "python")
    if not os.path.exists(python):
        run([sys.executable, "-m", "venv", venv])
    run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check"] + packages)
    top = os.path.dirname(os.path.dirname(os.path.abspath(mesa)))
    made = os.path.join(cache, "made", f"{family}-{packages[0]}")
    layer = build_layer(cache, top)
    for number in range(MOST_STEPS):
        folder = os.path.join(made, str(number * step))
        finished = os.path.join(folder, "finished")
        if not os.path.exists(finished):
            os.makedirs(folder, exist_ok=True)
            inside = os.path.join("/agxhal/source/scripts/wide/makers", script)
            command = [mesa, "run", "env", "-u", "VK_DRIVER_FILES", "-u", "VK_ICD_FILENAMES",
                       "VK_LOADER_DRIVERS_SELECT=*asahi*", "VK_INSTANCE_LAYERS=VK_LAYER_AGX_modules",
                       f"VK_LAYER_PATH={layer}", f"AGX_MODULES={folder}", "/agxhal/out/bin/agx",
                       "virtual", "--", "timeout", str(STEP_SECONDS), python, inside]
            command += arguments + [str(number * step), str((number + 1) * step)]
            environment = dict(os.environ, OUT=out,
                               MESA_BIND=" ".join(python_paths() + [os.path.realpath(cache)]))
            done = subprocess.run(["nice", "-n", "19"] + command, env=environment,
                                  capture_output=True, text=True)
            with open(finished, "w") as file:
                file.write(f"{done.returncode}\n{done.stderr}")
            print(f"wide: {family}: {number * step}", file=sys.stderr, flush=True)
        with open(finished) as file:
            if file.readline().strip() == "3":
                break
    return made


def made_modules(made):
    """(name, module) of what a maker left, with the specialization constants that were given."""
    for parent, folders, names in os.walk(made):
        folders.sort()
        for name in sorted(names):
            if not name.endswith(".spv"):
                continue
            with open(os.path.join(parent, name), "rb") as file:
                data = file.read()
            stem = name[:-4] + "."
            specs = [other for other in sorted(names)
                     if other.startswith(stem) and other.endswith(".spec")]
            for spec in specs or [None]:
                module = data
                if spec:
                    with open(os.path.join(parent, spec)) as file:
                        values = {int(line.split()[0]): int(line.split()[1], 16) for line in file}
                    module = spirv.specialized(spirv.words_of(data), values)
                yield ("made", module) if name[0].isdigit() and name[:-4].replace(".", "").isdigit() \
                    else (name.split("_dispatch_0_")[-1], module)


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
    rows = []
    family, package = row[0], row[2]
    files = made_modules(path) if os.path.isdir(path) else files_of(path)
    for file, data in files:
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


def fetch(cache, mesa, out, families):
    """Completes the folder; packages that the index has are not looked at again."""
    kernels = os.path.join(cache, "kernels")
    os.makedirs(kernels, exist_ok=True)
    everything = SOURCES + [(row[0], "made", row[4][0].split("==")[0], row[4][0].split("==")[1], row)
                            for row in MAKERS]
    for source in everything:
        family, kind, package, version, *maker = source
        have = {(row["family"], row["package"]) for row in read_index(cache)}
        if (family, package) in have or (families and family not in families):
            continue
        if kind == "made":
            path, got = make(maker[0], cache, mesa, out), version
        elif kind == "deb":
            path, got = download_deb(cache, package, version, mesa)
        else:
            path, got = download_pypi(cache, package, version)
        rows = [[row[name] for name in COLUMNS] for row in read_index(cache)]
        new = collect(source, path, got, kernels, {row[6] for row in rows})
        print(f"wide: {family}: {len(new)} modules of {package} {got}", file=sys.stderr, flush=True)
        write_index(cache, rows + new)
