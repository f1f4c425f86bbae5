// SPDX-License-Identifier: MIT
// What the data says of dispatches and kernels, and the views of a kernel: assembly, source and figures.

// ---- what the data says ----

function kernelName(kernel, index) {
  return kernel.name || (kernel.hash ? kernel.hash.slice(0, 8) : "kernel " + (index + 1));
}
function dispatchRows(capture) {
  return capture.dispatches.map((it, index) => {
    const kernel = capture.kernels[it[3]], name = kernelName(kernel, it[3]);
    const grid = it.slice(4, 7).join("×"), group = it.slice(7, 10).join("×"), launch = it.slice(0, 3).join(".");
    const sum = it[10] || COLD, bound = sum.bound < 0 ? "" : data.terms[sum.bound];
    const count = from => it[from] * it[from + 1] * it[from + 2];
    return {index, submission: it[0], size: count(4), groupSize: count(7), launch, kernel: it[3], name, grid, group, sum, bound, counted: Boolean(it[10]),
      text: [launch, name, kernel.hash, kernel.label, grid, group, bound].join(" ").toLowerCase()};
  });
}
function kernelRows(capture) {
  return capture.kernels.map((kernel, index) => {
    const name = kernelName(kernel, index), sum = kernel.sum, bound = sum.count ? data.terms[sum.bound] : "";
    return {index, kernel: index, name, sum, bound, counted: sum.count > 0, dispatches: kernel.dispatches,
      text: [name, kernel.hash, kernel.label, bound].join(" ").toLowerCase()};
  });
}
const launchOrder = row => row.submission * 1e9 + row.index;
function figureColumns(total) {
  const figure = (key, title, show) => ({key, title, number: true, value: row => row.sum[key],
    show: row => row.counted ? (show || whole)(row.sum[key]) : "–"});
  return [
    {key: "cycles", title: "modelled cycles; the bar is the share of all", number: true, value: row => row.sum.cycles, show: row => {
      if (!row.counted) return "–";
      const fill = el("i");
      fill.style.width = 100 * row.sum.cycles / (total || 1) + "%";
      return [whole(row.sum.cycles), el("span", {class: "share", title: percent(row.sum.cycles / (total || 1))}, fill)];
    }},
    {key: "bound", title: "the largest term of the model", value: row => row.bound},
    figure("instructions", "executed by SIMD-groups"),
    figure("divergence", "lanes that had a thread and did nothing, of all that had one", value => percent(value)),
    figure("waits", "waits that met an outstanding operation"),
    figure("bytes", "bytes that active lanes named in memory"),
    figure("occupancy", "SIMD-groups resident on a core"),
    figure("registers", "16-bit halves of registers"),
    figure("threads", "threads of the grid"),
  ];
}
const totalCycles = rows => rows.reduce((sum, row) => sum + row.sum.cycles, 0);

// ---- code ----

// What heat may count, of an instruction as write.c has it. Each execution issues for a cycle, and may stall.
const MEASURES = [["executed + stalled", "cycles, executed + stalled", it => it[3] + it[4]], ["load-store", "load-store cycles", it => it[6]],
  ["complex pipe", "cycles of the complex pipe", it => it[8]], ["code fetch", "cycles of fetching code", it => it[7]], ["executed", "executed instructions", it => it[3]]];
const MEASURE_OF = {lsu: 1, complex: 2, refetch: 3, issue: 4};
// The measure of the term that binds the kernel.
const binding = kernel => kernel.sum.count ? MEASURE_OF[data.terms[kernel.sum.bound]] || 0 : 0;
const heatOf = share => share < 0.001 ? "" : share < 0.01 ? "h1" : share < 0.05 ? "h2" : share < 0.1 ? "h3" : share < 0.25 ? "h4" : "h5";
const parts = kernel => [["Code", kernel.code], ["Preamble", kernel.preamble]];
const costOfKernel = (kernel, measure) => parts(kernel).reduce((sum, part) => sum + part[1].reduce((own, it) => own + MEASURES[measure][2](it), 0), 0);
const REGISTER = /(\bd?[ru]\d+(?:_[ru]?\d+|[lh]|\.\.\w+)*)/;

function legend(what) {
  const steps = ["0.1 to 1 %", "1 to 5 %", "5 to 10 %", "10 to 25 %", "25 % and more"];
  return el("div", {class: "legend"}, el("span", {}, "Heat is the share of the kernel’s " + what + ":"),
    steps.map((text, i) => el("span", {}, el("i", {class: "h" + (i + 1)}), text)));
}
// As deep as the control flow around it, where that is known.
function instrText(text, depth) {
  return (depth ? ["\u2003".repeat(Math.min(depth, 8))] : []).concat(text.split(REGISTER).map((piece, i) => i % 2 ? el("span", {class: "reg"}, piece) : piece));
}
function sourceOf(line) {
  const file = line && data.files[line[0]];
  if (!file) return null;
  return {name: file.name, line: line[1], text: file.lines ? file.lines[line[1] - 1] : undefined};
}
const baseName = name => name.slice(name.lastIndexOf("/") + 1);

function codeTable(kernel, measure) {
  const total = costOfKernel(kernel, measure), cost = MEASURES[measure][2], hasLines = parts(kernel).some(part => part[1].some(it => it[9])), body = el("tbody");
  const files = new Set(parts(kernel).flatMap(part => part[1].map(it => it[9] && it[9][0])).filter(it => it !== 0));
  const names = ["heat", "executed", "stalled", "load-store", "offset", "instruction"].concat(hasLines ? ["line", "source"] : [], "waits ←, jumps →");
  const makers = [];
  for (const [name, code] of parts(kernel)) {
    if (!code.length) continue;
    makers.push(() => el("tr", {class: "part"}, el("td", {colspan: String(names.length)}, name === "Preamble" ? "Preamble: runs once a dispatch, and is not counted by instruction" : name)));
    const rows = [];
    let before = "";
    code.forEach(it => makers.push(() => {
      const share = total ? cost(it) / total : 0, source = sourceOf(it[9]), place = source ? source.name + ":" + source.line : "";
      const row = el("tr", {tabindex: "-1", class: place && place !== before ? "here" : ""},
        el("td", {class: "heat " + heatOf(share)}, share > 0 ? percent(share) : ""),
        el("td", {class: "number minor"}, it[3] ? whole(it[3]) : ""), el("td", {class: "number minor"}, it[4] ? whole(it[4]) : ""),
        el("td", {class: "number minor"}, it[6] ? whole(it[6]) : ""), el("td", {class: "offset number", title: it[1]}, it[0].toString(16)), el("td", {class: "text"}, instrText(it[2], it[11])),
        hasLines ? [el("td", {class: "line number", title: place}, source ? (files.size > 1 ? baseName(source.name) + ":" : "") + source.line : ""),
          el("td", {class: "source"}, place !== before && source && source.text !== undefined ? source.text.trimStart() : "")] : null,
        el("td", {class: "wait"}, it[10] ? "← " + it[10].map(i => code[i][0].toString(16)).join(" ") : it[12] >= 0 ? "→ " + it[12].toString(16) : ""));
      before = place;
      row.share = share;
      row.awaited = it[10];
      row.place = place;
      row.siblings = rows;
      rows.push(row);
      return row;
    }));
  }
  grow(body, makers, names.length);
  const table = el("table", {class: hasLines ? "code lined" : "code", role: "grid", "aria-label": "Instructions"},
    el("thead", {}, el("tr", {}, names.map((name, i) => el("th", {scope: "col", class: (i < 5 || name === "line" ? "number" : "") + (i > 0 && i < 4 ? " minor" : "")}, name)))), body);
  const go = rove(body, "tr[tabindex]", "y");
  body.addEventListener("focusin", event => {
    body.querySelectorAll(".awaited").forEach(row => row.classList.remove("awaited"));
    const row = event.target.closest("tr");
    (row && row.awaited || []).forEach(i => row.siblings[i].classList.add("awaited"));
  });
  body.addEventListener("click", event => { const row = event.target.closest("tr[tabindex]"); if (row) row.focus(); });
  body.addEventListener("keydown", event => {
    if (event.key !== "n" && event.key !== "p") return;
    event.preventDefault();
    body.fill();
    const rows = [...body.querySelectorAll("tr[tabindex]")], at = rows.indexOf(document.activeElement), hot = rows.filter(it => it.share >= 0.05);
    const next = event.key === "n" ? hot.find(it => rows.indexOf(it) > at) || hot[0] : hot.filter(it => rows.indexOf(it) < at).pop() || hot[hot.length - 1];
    go(document.activeElement, next);
  });
  return table;
}

// The files that a kernel's lines name, each line with what its instructions add up to.
function sourceTable(kernel, measure, jump) {
  const total = costOfKernel(kernel, measure), cost = MEASURES[measure][2], sums = new Map();
  for (const [, code] of parts(kernel))
    for (const it of code) {
      if (!it[9]) continue;
      const file = sums.get(it[9][0]) || new Map(), sum = file.get(it[9][1]) || [0, 0, 0, 0, 0];
      sum[0] += it[3]; sum[1] += it[4]; sum[2] += it[6]; sum[3]++; sum[4] += cost(it);
      file.set(it[9][1], sum);
      sums.set(it[9][0], file);
    }
  if (!sums.size) return el("p", {class: "empty"}, "No source lines are known of this kernel. Compile it with debug lines (glslang -g), and name ",
    "the executable: agxdump html --program FILE.elf.");
  const body = el("tbody"), makers = [];
  for (const [index, lines] of sums) {
    const file = data.files[index], text = file.lines, numbers = text ? text.map((it, i) => i + 1) : [...lines.keys()].sort((a, b) => a - b);
    makers.push(() => el("tr", {class: "part"}, el("td", {colspan: "7"}, file.name + (text ? "" : ": its text is not in the module; --source DIR finds it"))));
    numbers.forEach(line => makers.push(() => {
      const sum = lines.get(line), share = sum && total ? sum[4] / total : 0;
      const row = el("tr", {tabindex: "-1"}, el("td", {class: "heat " + heatOf(share)}, share > 0 ? percent(share) : ""),
        el("td", {class: "number minor"}, sum && sum[0] ? whole(sum[0]) : ""), el("td", {class: "number minor"}, sum && sum[1] ? whole(sum[1]) : ""),
        el("td", {class: "number minor"}, sum && sum[2] ? whole(sum[2]) : ""), el("td", {class: "number minor"}, sum ? String(sum[3]) : ""), el("td", {class: "offset number"}, String(line)),
        el("td", {class: "source"}, text ? text[line - 1] : ""));
      const place = file.name + ":" + line;
      if (sum) row.addEventListener("keydown", event => { if (event.key === "Enter") { event.preventDefault(); jump(place); } });
      if (sum) row.addEventListener("dblclick", () => jump(place));
      return row;
    }));
  }
  grow(body, makers, 7);
  rove(body, "tr[tabindex]", "y");
  body.addEventListener("click", event => { const row = event.target.closest("tr[tabindex]"); if (row) row.focus(); });
  return el("table", {class: "code", role: "grid", "aria-label": "Source lines"}, el("thead", {}, el("tr", {},
    ["heat", "executed", "stalled", "load-store", "instrs", "line", "source"].map((name, i) => el("th", {scope: "col", class: (i < 6 ? "number" : "") + (i > 0 && i < 5 ? " minor" : "")}, name)))), body);
}

function figureList(row, kernel) {
  const sum = row.sum, list = [["cycles", whole(sum.cycles)], ["bound by", row.bound], ["instructions", whole(sum.instructions)],
    ["threads", whole(sum.threads)], ["divergence", percent(sum.divergence)], ["waits met", whole(sum.waits)], ["bytes named", bytesOf(sum.bytes)],
    ["SIMD-groups a core", whole(sum.occupancy)], ["register halves", whole(sum.registers)], ["threadgroup memory", bytesOf(sum.shared)]];
  if (!row.counted) return el("p", {class: "empty"}, "This was not executed in the replay, so there are no figures.");
  const bars = (names, values, bind) => {
    const most = Math.max(...values, 1);
    return el("div", {class: "bars"}, names.map((name, i) => {
      const fill = el("i");
      fill.style.width = 100 * values[i] / most + "%";
      return [el("span", {class: i === bind ? "binds" : ""}, name), el("span", {class: "rail"}, fill), el("span", {class: "value"}, whole(values[i]))];
    }));
  };
  return el("div", {}, el("dl", {class: "figures"}, list.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    el("h3", {}, "Terms of the model, cycles: the largest binds"), bars(data.terms, sum.terms, sum.bound),
    el("h3", {}, "Executed instructions by class"), bars(data.classes, sum.classes, -1),
    kernel.elsewhere ? el("p", {class: "hint"}, whole(kernel.elsewhere) + " cycles were spent in code behind the first stop, which is not shown.") : null);
}

class Detail {
  constructor() { this.view = 0; this.measure = null; this.host = el("section", {class: "pane", "aria-label": "The chosen row"}); }
  show(capture, row) {
    this.capture = capture;
    this.row = row;
    if (!row) { this.host.replaceChildren(el("p", {class: "empty"}, "Choose a row to see its code.")); return; }
    const kernel = capture.kernels[row.kernel];
    const binds = binding(kernel), pick = el("select", {onchange: () => { this.measure = pick.value === "" ? null : Number(pick.value); this.draw(); }},
      el("option", {value: ""}, "what binds: " + MEASURES[binds][0]), MEASURES.map((it, i) => el("option", {value: String(i)}, it[0])));
    pick.value = this.measure === null ? "" : String(this.measure);
    this.area = el("div");
    this.host.replaceChildren(el("div", {class: "head"}, el("h2", {}, el("span", {class: "text"}, row.name), row.launch ? " in " + row.launch : ""),
      el("span", {class: "hint"}, el("span", {class: "mono"}, kernel.hash), kernel.label ? [" in ", el("bdi", {}, "“" + kernel.label + "”")] : "")),
    el("div", {class: "tools"}, choice("View", ["Assembly", "Source", "Figures"], this.view, view => { this.view = view; this.draw(); }), el("label", {class: "hint"}, "Heat ", pick)), this.area);
    this.draw();
  }
  draw() {
    const kernel = this.capture.kernels[this.row.kernel];
    if (this.view === 2) { this.area.replaceChildren(figureList(this.row, kernel)); return; }
    if (!kernel.code.length) {
      this.area.replaceChildren(el("p", {class: "empty"}, kernel.instrs ? "This kernel’s code was left out to keep the page small." : "There is no code at the address that was launched."));
      return;
    }
    const measure = this.measure === null ? binding(kernel) : this.measure;
    const table = this.view ? sourceTable(kernel, measure, place => this.jump(place)) : codeTable(kernel, measure);
    const said = kernel.dispatches > 1 ? "Heat is the sum of " + plural(kernel.sum.count, "execution") + " of this kernel. " : "";
    this.area.replaceChildren(legend(MEASURES[measure][1]), el("div", {class: "box", role: "region", "aria-label": this.view ? "Source" : "Assembly"}, table),
      el("p", {class: "hint"}, said + (this.view ? "Enter on a line shows its hottest instruction." :
        "By offset: what a wait waits for, in the order of the code, and where a jump leads.") + (kernel.cut ? " The code could not be decoded to its end." : "")));
  }
  jump(place) {
    this.view = 0;
    this.show(this.capture, this.row);
    this.area.querySelector("tbody").fill();
    const rows = [...this.area.querySelectorAll("tr[tabindex]")].filter(it => it.place === place);
    const row = rows.find(it => it.share === Math.max(...rows.map(other => other.share)));
    if (row) { row.focus(); row.scrollIntoView({block: "center"}); }
  }
  focus() { const row = this.host.querySelector('tr[tabindex="0"]'); if (row) row.focus(); }
}
