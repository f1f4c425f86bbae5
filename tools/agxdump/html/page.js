// SPDX-License-Identifier: MIT
// The page of `agxdump html`: reads the data that write.c wrote and builds what is seen. Names come
// out of captures, so they only ever become text nodes.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const captures = data.captures, PAGE_ROWS = 300, CODE_ROWS = 3000, MAX_COLUMNS = 600;
const COLD = {count: 0, cycles: 0, instructions: 0, threads: 0, waits: 0, bytes: 0, occupancy: 0,
  registers: 0, shared: 0, divergence: 0, bound: -1, terms: [], classes: []};

// ---- small helpers ----

function el(tag, options, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(options || {})) {
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
  return node;
}
const whole = value => Math.round(value).toLocaleString("en-US");
const percent = value => value > 0 && value < 0.001 ? "< 0.1 %" : (100 * value).toFixed(value < 0.0995 ? 1 : 0) + " %";
const plural = (count, word) => whole(count) + " " + word + (count === 1 ? "" : word.endsWith("ch") ? "es" : "s");
const hex = value => "0x" + value.toString(16);
function bytesOf(value) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (value >= 1024 && unit < 3) { value /= 1024; unit++; }
  return (value < 10 && unit ? value.toFixed(1) : whole(value)) + " " + units[unit];
}
function choice(label, names, current, on) {
  const buttons = names.map((name, i) => el("button", {type: "button", "aria-pressed": String(i === current),
    onclick: () => { buttons.forEach((b, j) => b.setAttribute("aria-pressed", String(i === j))); on(i); }}, name));
  return el("div", {class: "choice", role: "group", "aria-label": label}, buttons);
}

// Arrow keys among elements of which one is in the tab order.
function rove(host, selector, axis) {
  const [back, forth] = axis === "x" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  const go = (from, to) => {
    if (!to || to === from) return;
    if (from) from.tabIndex = -1;
    to.tabIndex = 0;
    to.focus({preventScroll: false});
    to.scrollIntoView({block: "nearest", inline: "nearest"});
  };
  host.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const items = [...host.querySelectorAll(selector)], from = document.activeElement, at = items.indexOf(from);
    if (at < 0) return;
    const steps = {[back]: at - 1, [forth]: at + 1, Home: 0, End: items.length - 1, PageUp: at - 20, PageDown: at + 20};
    if (!(event.key in steps)) return;
    event.preventDefault();
    go(from, items[Math.max(0, Math.min(items.length - 1, steps[event.key]))]);
  });
  host.addEventListener("focusin", event => {
    const item = event.target.closest(selector);
    if (!item || item.tabIndex === 0) return;
    host.querySelectorAll(selector + '[tabindex="0"]').forEach(other => { other.tabIndex = -1; });
    item.tabIndex = 0;
  });
  return go;
}

// Rows of a long table are made when they are asked for: makers give them in order. body.fill makes all.
function grow(body, makers, columns) {
  let at = 0;
  const button = el("button", {type: "button", class: "push", onclick: () => {
    const before = body.rows.length - 1;
    make(CODE_ROWS);
    body.rows[before].focus();
  }}), more = el("tr", {class: "part"}, el("td", {colspan: String(columns)}, button));
  function make(count) {
    const end = Math.min(makers.length, at + count), rows = [];
    while (at < end) rows.push(makers[at++]());
    more.remove();
    body.append(...rows);
    button.textContent = "Show " + whole(Math.min(CODE_ROWS, makers.length - at)) + " of " + whole(makers.length - at) + " more";
    if (at < makers.length) body.append(more);
  }
  body.fill = () => make(makers.length);
  make(CODE_ROWS);
  const first = body.querySelector("tr[tabindex]");
  if (first) first.tabIndex = 0;
}

// ---- tables that sort and filter ----

// "softmax cycles>1000 submission=3": words that a row's text has, and comparisons with its columns.
function parseFilter(text) {
  return text.trim().toLowerCase().split(/\s+/).filter(Boolean).map(word => {
    const parts = word.match(/^([a-z]+)(<=|>=|<|>|=)([0-9.]+)$/);
    return parts ? {column: parts[1], op: parts[2], value: Number(parts[3])} : {word};
  });
}
function passes(row, terms, columns) {
  const compare = {"<": (a, b) => a < b, ">": (a, b) => a > b, "=": (a, b) => a === b,
    "<=": (a, b) => a <= b, ">=": (a, b) => a >= b};
  return terms.every(term => {
    if (term.word) return row.text.includes(term.word);
    const column = columns.find(it => it.key === term.column);
    return column ? compare[term.op](Number(column.value(row)), term.value) : false;
  });
}

class Table {
  // columns: {key, title, value(row), show(row), number, hidden: only filters know it}; on: select(row), open(row)
  constructor(label, columns, rows, on, sort, example) {
    Object.assign(this, {label, known: columns, columns: columns.filter(it => !it.hidden), rows, on, sort: sort || null, filter: "", limit: PAGE_ROWS, chosen: null});
    this.body = el("tbody");
    this.heads = this.columns.map(column => el("th", {scope: "col", class: "sorts" + (column.number ? " number" : ""), title: column.title},
      el("button", {type: "button", onclick: () => this.sortBy(column.key)}, column.name || column.key)));
    this.table = el("table", {class: "rows", role: "grid", "aria-label": label}, el("thead", {}, el("tr", {}, this.heads)), this.body);
    this.more = el("div", {class: "below", hidden: true}, el("button", {type: "button", class: "push", onclick: () => {
      const first = this.limit;
      this.limit += PAGE_ROWS;
      this.draw();
      this.body.rows[first] && this.body.rows[first].focus();
    }}, "Show more rows"));
    this.count = el("span", {class: "count", role: "status"});
    this.input = el("input", {type: "search", "aria-label": "Filter " + label, placeholder: "Filter: words, " + (example || "cycles>1000"),
      spellcheck: "false", autocomplete: "off", oninput: () => { this.filter = this.input.value; this.limit = PAGE_ROWS; this.draw(); }});
    this.box = el("div", {class: "box"}, this.table, this.more);
    rove(this.body, "tr", "y");
    this.body.addEventListener("focusin", event => this.choose(event.target.closest("tr")));
    this.body.addEventListener("click", event => { const tr = event.target.closest("tr"); if (tr && tr.item) tr.focus(); });
    this.body.addEventListener("keydown", event => { if (event.key === "Enter" && this.on.open) { event.preventDefault(); this.on.open(this.chosen); } });
    this.input.addEventListener("keydown", event => {
      if (event.key === "ArrowDown" || event.key === "Enter") { event.preventDefault(); this.focus(); }
      if (event.key === "Escape") { this.setFilter(""); event.stopPropagation(); }
    });
    this.draw();
  }
  setFilter(text) { this.input.value = this.filter = text; this.limit = PAGE_ROWS; this.draw(); }
  sortBy(key) {
    const column = this.columns.find(it => it.key === key);
    const first = column.number ? "descending" : "ascending", other = column.number ? "ascending" : "descending";
    this.sort = {key, way: this.sort && this.sort.key === key && this.sort.way === first ? other : first};
    this.draw();
  }
  focus() { const tr = this.body.querySelector('tr[tabindex="0"]'); if (tr) tr.focus(); }
  choose(tr) {
    if (!tr || !tr.item) return;
    const changed = this.chosen !== tr.item;
    this.chosen = tr.item;
    this.body.querySelectorAll('tr[aria-selected="true"]').forEach(it => it.setAttribute("aria-selected", "false"));
    tr.setAttribute("aria-selected", "true");
    if (changed && this.on.select) this.on.select(tr.item);
  }
  visible() {
    const terms = parseFilter(this.filter), rows = this.rows.filter(row => passes(row, terms, this.known));
    const column = this.sort && this.columns.find(it => it.key === this.sort.key);
    if (!column) return rows;
    const sign = this.sort.way === "ascending" ? 1 : -1;
    const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
    return rows.map((row, i) => [row, i]).sort((a, b) => sign * order(column.value(a[0]), column.value(b[0])) || a[1] - b[1]).map(it => it[0]);
  }
  draw() {
    const rows = this.visible();
    this.heads.forEach((head, i) => head.setAttribute("aria-sort",
      this.sort && this.sort.key === this.columns[i].key ? this.sort.way : "none"));
    this.body.replaceChildren(...rows.slice(0, this.limit).map(row => {
      const tr = el("tr", {tabindex: "-1", "aria-selected": String(row === this.chosen)}, this.columns.map(column =>
        el("td", {class: (column.number ? "number " : "") + (column.mono ? "mono" : "")}, column.show ? column.show(row) : String(column.value(row)))));
      tr.item = row;
      return tr;
    }));
    if (this.body.rows.length) ([...this.body.rows].find(tr => tr.item === this.chosen) || this.body.rows[0]).tabIndex = 0;
    else this.body.append(el("tr", {}, el("td", {class: "empty", colspan: String(this.columns.length)},
      this.rows.length ? "No row passes this filter." : "There is nothing here.")));
    this.more.hidden = rows.length <= this.limit;
    this.count.textContent = (rows.length === this.rows.length ? "" : whole(rows.length) + " of ") + plural(this.rows.length, "row") +
      (rows.length > this.limit ? ", the first " + this.limit + " shown" : "");
  }
  // Chooses a row without moving the focus.
  start(row) { const tr = [...this.body.rows].find(it => it.item === row) || this.body.rows[0]; if (tr) this.choose(tr); }
}

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

// ---- the timeline ----

// The lane of each queue. Where there are many queues, one takes the lane of another that has ended.
function packLanes(capture, all) {
  const spans = capture.queues.map(() => [Infinity, -1]), ends = [];
  all.forEach((it, i) => { spans[it[1]] = [Math.min(spans[it[1]][0], i), i]; });
  return spans.map(([from, to], queue) => {
    let lane = capture.queues.length > 6 ? ends.findIndex(end => end < from) : queue;
    if (lane < 0) lane = ends.length;
    ends[lane] = to;
    return lane;
  });
}
// Submissions stand beside each other in the file's order; where there are many, neighbours share a column.
function timeline(capture, onOpen) {
  const all = capture.submissions, total = all.reduce((sum, it) => sum + it[5], 0), each = Math.ceil(all.length / MAX_COLUMNS) || 1;
  const said = el("p", {class: "said", role: "status"}), lanes = el("div", {class: "lanes", role: "group", "aria-label": "Submissions by queue"});
  if (!all.length) return el("p", {class: "empty"}, "The capture has no submissions.");
  const columns = [];
  for (let i = 0; i < all.length; i += each) columns.push(all.slice(i, i + each));
  function draw(byOrder) {
    lanes.style.gridTemplateColumns = "max-content " + columns.map(column =>
      "minmax(5px, " + (byOrder ? 1 : Math.max(0.001, 1000 * column.reduce((sum, it) => sum + it[5], 0) / (total || 1))) + "fr)").join(" ");
  }
  const laneOf = packLanes(capture, all), laneCount = Math.max(...laneOf) + 1;
  for (let lane = 0; lane < laneCount; lane++) {
    const queues = capture.queues.filter((queue, i) => laneOf[i] === lane), queue = queues[0];
    const name = el("span", {class: "lane"}, queues.length > 1 ? whole(queues.length) + " queues, one after another" :
      (queue[0] ? "process " + queue[0] + " · " : "") + "queue " + queue[2]);
    name.style.gridArea = lane + 1 + " / 1";
    lanes.append(name);
  }
  columns.forEach((column, at) => new Set(column.map(it => laneOf[it[1]])).forEach(lane => {
    const mine = column.filter(it => laneOf[it[1]] === lane), queues = new Set(mine.map(it => it[1])), queue = capture.queues[mine[0][1]];
    const cycles = mine.reduce((sum, it) => sum + it[5], 0), dispatches = mine.reduce((sum, it) => sum + it[4], 0);
    const renders = mine.reduce((sum, it) => sum + it[7], 0), refused = mine.filter(it => it[2] !== 0), numbers = mine.map(it => it[0]).filter(Boolean);
    const first = numbers[0], last = numbers[numbers.length - 1];
    const text = (first === undefined ? "refused submission" : first === last ? "submission " + first : "submissions " + first + " to " + last) +
      (queues.size > 1 ? ", " + queues.size + " queues: " : (queue[0] ? ", process " + queue[0] : "") + ", queue " + queue[2] + ": ") + plural(dispatches, "dispatch") + (renders ? ", " + plural(renders, "render command") : "") +
      ", " + whole(cycles) + " cycles" + (total ? " (" + percent(cycles / total) + ")" : "") + (refused.length ? "; refused with errno " + -refused[0][2] : "");
    const block = el("button", {type: "button", tabindex: "-1", "aria-label": text, title: text, class: refused.length ? "refused" : cycles ? "" : "blank",
      onclick: () => { if (first !== undefined) onOpen(first, last); }, onfocus: () => { said.textContent = text; }, onmouseenter: () => { said.textContent = text; }});
    block.style.gridArea = lane + 1 + " / " + (at + 2);
    lanes.append(block);
  }));
  const start = lanes.querySelector("button");
  if (start) start.tabIndex = 0;
  rove(lanes, "button", "x");
  draw(total === 0);
  return el("section", {class: "timeline", "aria-label": "Timeline"}, el("div", {class: "tools"}, el("h2", {}, "Submissions"),
    choice("Width of a submission", ["Cycles", "Order"], total ? 0 : 1, i => draw(i === 1)),
    el("span", {class: "hint"}, "In the order of the file, one behind the other" + (each > 1 ? ", " + each + " to a column" : "") + "; " +
      "widths are modelled cycles, not times. " + whole(total) + " cycles in all.")), el("div", {class: "track"}, lanes), said);
}

// ---- parts of the page ----

const detail = new Detail();
let mode = 0, table = null, current = 0;

function showDispatches(host) {
  const capture = captures[current], area = el("div", {class: "pane"});
  function draw(filter) {
    const rows = mode ? kernelRows(capture) : dispatchRows(capture);
    const own = mode ? [{key: "kernel", title: "by a hash of its code, or its name", value: row => row.name, show: row => el("span", {class: "text"}, row.name), mono: true},
      {key: "dispatches", title: "of this kernel", number: true, value: row => row.dispatches, show: row => whole(row.dispatches)}] :
      [{key: "launch", title: "submission.command.dispatch", value: launchOrder, show: row => row.launch, mono: true},
        {key: "kernel", title: "by a hash of its code, or its name", value: row => row.name, show: row => el("span", {class: "text"}, row.name), mono: true},
        {key: "grid", title: "threads", value: row => row.size, show: row => row.grid}, {key: "group", title: "threads of a workgroup", value: row => row.groupSize, show: row => row.group}];
    const columns = own.concat(figureColumns(totalCycles(rows)));
    columns.push({key: "submission", hidden: true, value: row => row.submission});
    table = new Table(mode ? "kernels" : "dispatches", columns, rows,
      {select: row => detail.show(capture, row), open: () => detail.focus()}, rows.some(row => row.counted) ? {key: "cycles", way: "descending"} : null);
    area.replaceChildren(el("div", {class: "tools"}, choice("Rows", ["Dispatches", "Kernels"], mode, i => { mode = i; draw(""); }), table.input, table.count), table.box);
    if (filter) table.setFilter(filter);
    detail.show(capture, null);
    table.start();
  }
  draw("");
  host.append(timeline(capture, (first, last) => {
    mode = 0;
    draw(first === last ? "submission=" + first : "submission>=" + first + " submission<=" + last);
    table.focus();
  }), el("div", {class: "panes"}, area, detail.host));
}

function hexTable(buffer) {
  const text = atob(buffer.data), body = el("tbody"), makers = [];
  for (let at = 0; at < text.length; at += 16)
    makers.push(() => {
      const bytes = [...text.slice(at, at + 16)].map(it => it.charCodeAt(0)), words = [];
      for (let i = 0; i < bytes.length; i += 4) words.push(bytes.slice(i, i + 4).map(it => it.toString(16).padStart(2, "0")).join(" "));
      return el("tr", {class: bytes.every(it => it === 0) ? "zero" : ""}, el("td", {class: "offset number"}, at.toString(16)), [0, 1, 2, 3].map(i => el("td", {}, words[i] || "")),
        el("td", {class: "ascii"}, bytes.map(it => it >= 32 && it < 127 ? String.fromCharCode(it) : "·").join("")));
    });
  grow(body, makers, 6);
  return el("table", {class: "hex", "aria-label": "Bytes"}, el("thead", {}, el("tr", {}, ["offset", "0", "4", "8", "c", "text"].map((name, i) =>
    el("th", {scope: "col", class: i ? "" : "number"}, name)))), body);
}
function showBytes(host, buffer) {
  const title = el("div", {class: "head"}, el("h2", {}, "Buffer " + buffer.handle, buffer.label ? [" ", el("bdi", {}, "“" + buffer.label + "”")] : ""));
  if (buffer.data === undefined) { host.replaceChildren(title, el("p", {class: "empty"}, "The page has no contents of this buffer.")); return; }
  const kept = atob(buffer.data).length;
  const said = "As submission " + buffer.submission + (buffer.after ? " left it. " : " found it. ") + (buffer.looked < buffer.bytes ?
    "The first " + bytesOf(buffer.looked) + " of " + bytesOf(buffer.bytes) + "; agxdump html --bytes N shows more. " : "") +
    (kept < buffer.looked ? "From " + hex(kept) + " on these are zeros." : "");
  host.replaceChildren(title, kept ? el("div", {class: "box", tabindex: "0", role: "region", "aria-label": "Bytes"}, hexTable(buffer)) :
    el("p", {class: "empty"}, "Zeros only."), el("p", {class: "hint"}, said));
}
function showBuffers(host) {
  const capture = captures[current], view = el("section", {class: "pane", "aria-label": "The chosen buffer"});
  const rows = capture.buffers.map((it, index) => ({...it, index, text: [it.handle, it.label, it.va, it.closed ? "closed" : "open"].join(" ").toLowerCase()}));
  const address = row => row.va ? Number(row.va) : 0;
  table = new Table("buffers", [
    {key: "handle", title: "of the GEM object", number: true, value: row => row.handle},
    {key: "label", title: "its name", value: row => row.label, show: row => el("span", {class: "text"}, row.label)},
    {key: "bytes", title: "its size", number: true, value: row => row.bytes, show: row => row.bytes ? bytesOf(row.bytes) : "–"},
    {key: "address", title: "where it was mapped last", value: address, show: row => row.va, mono: true},
    {key: "process", title: "that opened the device", number: true, value: row => row.process},
    {key: "state", title: "at the end of the capture", value: row => row.closed ? "closed" : "open"},
  ], rows, {select: row => showBytes(view, row), open: () => { const box = view.querySelector(".box"); if (box) box.focus(); }}, null, "bytes>4096");
  view.append(el("p", {class: "empty"}, "Choose a buffer to see its bytes."));
  host.append(el("div", {class: "panes"}, el("div", {class: "pane"}, el("div", {class: "tools"}, table.input, table.count), table.box), view));
  table.start();
}

// ---- two captures ----

function ratio(a, b) {
  if (!a) return b ? "new" : "–";
  const value = b / a, node = el("span", {class: value < 0.995 ? "less" : value > 1.005 ? "more" : ""}, value.toFixed(2) + "×");
  return node;
}
function pairRows() {
  const [a, b] = captures.map(dispatchRows), codes = new Map(data.codes.map(it => [it[0] + " " + it[1], it]));
  return data.pairs.map((pair, index) => {
    const x = a[pair[0]], y = b[pair[1]], it = x || y, code = x && y ? codes.get(x.kernel + " " + y.kernel) : undefined;
    const kernels = x && y ? [captures[0].kernels[x.kernel], captures[1].kernels[y.kernel]] : [];
    const same = code ? [2, 3].every(i => code[i].every(row => row[2])) : false;
    const state = !x ? "in B only" : !y ? "in A only" : !code ? "left out" : same ? "same code" : "differs";
    const names = [x, y].filter(Boolean).map(row => row.name);
    return {index, x, y, code, kernels, state, grid: it ? it.grid : "", names,
      text: [x && x.text, y && y.text, state].filter(Boolean).join(" ")};
  });
}
function bindingText(kernels) {
  const [a, b] = kernels.map(kernel => MEASURES[binding(kernel)][1]);
  return a === b ? a : a + " in A, " + b + " in B";
}
function comparedCode(row, differencesOnly) {
  const measures = row.kernels.map(binding), totals = row.kernels.map((kernel, i) => costOfKernel(kernel, measures[i])), body = el("tbody");
  const sections = [["Code", row.code[2], row.kernels.map(it => it.code)], ["Preamble", row.code[3], row.kernels.map(it => it.preamble)]];
  const side = (code, index, i) => {
    const it = index < 0 ? null : code[index], share = it && totals[i] ? MEASURES[measures[i]][2](it) / totals[i] : 0;
    return [el("td", {class: "heat " + heatOf(share)}, share > 0 ? percent(share) : ""), el("td", {class: "offset number"}, it ? it[0].toString(16) : ""),
      el("td", {class: "text"}, it ? instrText(it[2]) : "")];
  };
  const makers = [];
  for (const [name, pairs, codes] of sections) {
    if (!pairs.length) continue;
    makers.push(() => el("tr", {class: "part"}, el("td", {colspan: "6"}, name + ": " + plural(pairs.filter(it => it[2]).length, "instruction") + " the same, of " +
      codes[0].length + " and " + codes[1].length)));
    pairs.filter(pair => !differencesOnly || !pair[2]).forEach(pair => makers.push(() =>
      el("tr", {tabindex: "-1", class: pair[2] ? "same" : pair[0] < 0 || pair[1] < 0 ? "only" : "changed"}, side(codes[0], pair[0], 0), side(codes[1], pair[1], 1))));
  }
  grow(body, makers, 6);
  rove(body, "tr[tabindex]", "y");
  return el("table", {class: "code both", role: "grid", "aria-label": "Code of both"}, el("thead", {}, el("tr", {}, ["A", "offset", "instruction", "B", "offset", "instruction"].map((name, i) =>
    el("th", {scope: "col", class: i % 3 < 2 ? "number" : ""}, name)))), body);
}
function comparedFigures(row) {
  const names = [["cycles", it => it.cycles], ["instructions", it => it.instructions]].concat(data.terms.map((name, i) => [name, it => it.terms[i] || 0]),
    [["waits met", it => it.waits], ["bytes named", it => it.bytes], ["SIMD-groups a core", it => it.occupancy], ["register halves", it => it.registers]]);
  return el("table", {"aria-label": "Figures of both"}, el("thead", {}, el("tr", {}, ["figure", "A", "B", "B / A"].map((name, i) => el("th", {scope: "col", class: i ? "number" : ""}, name)))),
    el("tbody", {}, names.map(([name, value]) => el("tr", {}, el("td", {}, name), el("td", {class: "number"}, whole(value(row.x.sum))),
      el("td", {class: "number"}, whole(value(row.y.sum))), el("td", {class: "number"}, ratio(value(row.x.sum), value(row.y.sum)))))));
}
function showComparison(host) {
  const view = el("section", {class: "pane", "aria-label": "The chosen pair"}), rows = pairRows();
  let what = 0;
  const counted = (row, side, key) => row[side] && row[side].counted ? row[side].sum[key] : 0;
  const figure = (side, key) => row => row[side] && row[side].counted ? whole(row[side].sum[key]) : "–";
  const over = key => row => counted(row, "x", key) ? counted(row, "y", key) / counted(row, "x", key) : 0;
  table = new Table("pairs of dispatches", [
    {key: "a", name: "A", title: "dispatch of the first capture", value: row => row.x ? launchOrder(row.x) : -1, show: row => row.x ? row.x.launch : "–", mono: true},
    {key: "b", name: "B", title: "dispatch of the second capture", value: row => row.y ? launchOrder(row.y) : -1, show: row => row.y ? row.y.launch : "–", mono: true},
    {key: "kernel", title: "in A and in B", value: row => row.names.join(" "), mono: true, show: row => el("span", {class: "text"}, row.names[0] === row.names[1] ? row.names[0] : row.names.join(" / "))},
    {key: "grid", title: "threads", value: row => (row.x || row.y || {size: 0}).size, show: row => row.grid},
    {key: "cycles", name: "cycles A", title: "modelled", number: true, value: row => counted(row, "x", "cycles"), show: figure("x", "cycles")},
    {key: "cyclesb", name: "cycles B", title: "modelled", number: true, value: row => counted(row, "y", "cycles"), show: figure("y", "cycles")},
    {key: "ratio", name: "B / A", title: "of cycles", number: true, value: over("cycles"), show: row => ratio(counted(row, "x", "cycles"), counted(row, "y", "cycles"))},
    {key: "instructions", name: "instrs B / A", title: "of executed instructions", number: true, value: over("instructions"), show: row => ratio(counted(row, "x", "instructions"), counted(row, "y", "instructions"))},
    {key: "code", title: "whether both execute the same instructions", value: row => row.state},
  ], rows, {select: row => draw(row), open: () => { const tr = view.querySelector('tr[tabindex="0"]'); if (tr) tr.focus(); }}, null);
  function draw(row) {
    const both = row.x && row.y, area = el("div");
    const fill = () => {
      if (!both) area.replaceChildren(el("p", {class: "empty"}, "No dispatch of the other capture has this grid at this place of the order."));
      else if (what === 2) area.replaceChildren(el("div", {class: "box", tabindex: "0", role: "region", "aria-label": "Figures of both"}, comparedFigures(row)));
      else if (!row.code) area.replaceChildren(el("p", {class: "empty"}, "This code was left out to keep the page small."));
      else area.replaceChildren(legend(bindingText(row.kernels)), el("div", {class: "box", role: "region", "aria-label": "Code of both"}, comparedCode(row, what === 1)),
        el("p", {class: "hint"}, "Instructions stand beside each other by operation; pale ones are the same to the byte."));
    };
    view.replaceChildren(el("div", {class: "head"}, el("h2", {}, both ? "A " + row.x.launch + " and B " + row.y.launch : row.state)),
      el("div", {class: "tools"}, choice("View", ["Code", "Differences", "Figures"], what, i => { what = i; fill(); })), area);
    fill();
  }
  const matched = rows.filter(row => row.x && row.y && row.x.counted && row.y.counted), sum = side => matched.reduce((total, row) => total + row[side].sum.cycles, 0);
  host.append(el("p", {class: "hint lead"}, "A is ", el("bdi", {}, captures[0].file), ", B is ", el("bdi", {}, captures[1].file), ". Dispatches are matched by their order and grid: " +
    whole(matched.length) + " pairs, " + whole(sum("x")) + " and " + whole(sum("y")) + " cycles, ", ratio(sum("x"), sum("y")),
    data.pair_count > data.pairs.length ? "; of " + whole(data.pair_count) + " pairs the first " + whole(data.pairs.length) + " are here." : "."),
  el("div", {class: "panes"}, el("div", {class: "pane"}, el("div", {class: "tools"}, table.input, table.count), table.box), view));
  view.append(el("p", {class: "empty"}, "Choose a pair to see its code."));
  table.start();
}

// ---- the frame ----

function notesOf(capture) {
  const list = [];
  if (capture.trouble) list.push(capture.trouble);
  if (capture.counted < capture.dispatch_count) list.push("Figures are of " + whole(capture.counted) + " of " + plural(capture.dispatch_count, "dispatch") + ".");
  if (capture.left_out.length) list.push("To keep the page small, " + capture.left_out.join("; ") + ".");
  return list.concat(capture.notes.map(it => "Note of the recorder: " + it));
}
function factsOf(capture) {
  const short = text => text.length > 160 ? text.slice(0, 160) + "…" : text, programs = capture.processes;
  return [["device", capture.node], ["chip", capture.chip ? capture.chip + (capture.cores ? ", " + plural(capture.cores, "core") : "") : "not known"],
    ["submissions", whole(capture.submission_count)], ["dispatches", whole(capture.dispatch_count)], ["kernels", whole(capture.kernels.length)],
    ["buffers", whole(capture.buffer_count) + ", " + bytesOf(capture.buffer_bytes)], ["modelled cycles", whole(capture.kernels.reduce((sum, it) => sum + it.sum.cycles, 0))],
    ["programs", short(programs.slice(0, 3).join("; ") + (programs.length > 3 ? "; …" : ""))]];
}
// Of the chosen capture, or of both beside each other.
function showFacts() {
  const shown = part === 2 ? captures : [captures[current]], all = shown.map(factsOf);
  document.getElementById("facts").replaceChildren(...all[0].map((fact, i) => {
    const values = all.map(it => it[i][1]), same = values.every(it => it === values[0]);
    return el("div", {hidden: values.every(it => it === "")}, el("dt", {}, fact[0]),
      (same ? values.slice(0, 1) : values).map((value, j) => el("dd", {}, same ? null : el("span", {class: "side"}, "AB"[j]), el("bdi", {}, value || "–"))));
  }));
  document.getElementById("notes").replaceChildren(...shown.flatMap((capture, i) => notesOf(capture).map(text =>
    el("p", {class: "note"}, shown.length > 1 ? "AB"[i] + ": " : "", text))));
}
const PARTS = [["Dispatches", showDispatches], ["Buffers", showBuffers]];
if (captures.length === 2) PARTS.push(["Comparison", showComparison]);
let part = captures.length === 2 ? 2 : 0;
const main = document.getElementById("panel"), tabs = document.getElementById("tabs"), which = document.getElementById("which");
const buttons = PARTS.map(([name], i) => el("button", {type: "button", role: "tab", id: "tab" + i, "aria-controls": "panel", onclick: () => show(i)}, name));

function show(i) {
  part = i;
  buttons.forEach((button, j) => { button.setAttribute("aria-selected", String(i === j)); button.tabIndex = i === j ? 0 : -1; });
  main.setAttribute("aria-labelledby", "tab" + i);
  main.replaceChildren();
  which.hidden = captures.length < 2 || i === 2;
  showFacts();
  PARTS[i][1](main);
}
tabs.append(...buttons);
tabs.addEventListener("keydown", event => {
  const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (!step) return;
  event.preventDefault();
  show((part + step + PARTS.length) % PARTS.length);
  buttons[part].focus();
});
const select = document.getElementById("capture");
select.append(...captures.map((it, i) => el("option", {value: String(i)}, (captures.length > 1 ? "AB"[i] + ": " : "") + it.file)));
select.addEventListener("change", () => { current = Number(select.value); show(part); });

document.addEventListener("keydown", event => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape" && table) { table.focus(); return; }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && table) { event.preventDefault(); table.input.focus(); table.input.select(); }
  if (event.key === "?") { const keys = document.getElementById("keys"); keys.open = !keys.open; keys.querySelector("summary").focus(); }
  const number = "1234".indexOf(event.key);
  if (number >= 0 && number < PARTS.length) { show(number); buttons[number].focus(); }
});

const title = captures.map(it => it.file).join(" and ");
document.title = title + " · agxdump";
document.getElementById("title").textContent = title;
show(part);
})();
