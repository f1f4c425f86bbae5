// SPDX-License-Identifier: MIT
// The page of `agxdump html`: reads the data that write.c wrote and builds what is seen. Names come
// out of captures, so they only ever become text nodes.
// embed.py joins table.js, code.js and page.js into one function.

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
