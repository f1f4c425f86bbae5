// SPDX-License-Identifier: MIT
// The timeline, the parts of the page, and what is around them.

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
