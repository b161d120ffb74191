// A table that can be sorted by any column, filtered by text, and read as cards on a phone.
const PORTION = 100;

function compare(a, b, direction) {
  const isMissing = (v) => v === null || v === undefined || v === "";
  if (isMissing(a) || isMissing(b)) return isMissing(a) - isMissing(b); // the missing stand last, whichever way
  const found = typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
  return direction === "ascending" ? found : -found;
}

// columns: {key, title, sub, head, value(row), cell(row), first, kind}; the first sort is the order of the rows.
function sortable({ id, caption, columns, rows, search, noun, classOf }) {
  const state = { key: columns[0].key, direction: columns[0].first || "ascending", text: "", shown: PORTION };
  const body = h("tbody", { role: "rowgroup" });
  const more = h("p", { class: "more" });
  const heads = columns.map((column) => head(column, () => sortBy(column)));
  const picker = h("select", { onchange: (e) => sortBy(columns.find((c) => c.key === e.target.value), true) },
    columns.map((c) => h("option", { value: c.key }, c.title)));

  function sortBy(column, keep) {
    const other = state.direction === "ascending" ? "descending" : "ascending";
    const again = state.key === column.key && !keep;
    state.direction = again ? other : column.first || "descending";
    state.key = column.key;
    fill();
    say(`sorted by ${column.title}, ${state.direction}`);
  }

  function fill() {
    const column = columns.find((c) => c.key === state.key);
    const wanted = state.text.trim().toLowerCase();
    const found = rows
      .map((row, place) => [row, place])
      .filter(([row]) => !wanted || search(row).toLowerCase().includes(wanted))
      .sort(([a, i], [b, j]) => compare(column.value(a), column.value(b), state.direction) || i - j);
    body.replaceChildren(...found.slice(0, state.shown).map(([row]) => line(row)));
    if (!found.length) {
      body.append(h("tr", { role: "row" }, h("td", { role: "cell", colspan: columns.length, class: "empty" },
        `No ${noun} has “${state.text.trim()}” in its name.`)));
    }
    heads.forEach((node, i) => {
      if (columns[i].key === state.key) node.setAttribute("aria-sort", state.direction);
      else node.removeAttribute("aria-sort");
    });
    picker.value = state.key;
    const left = found.length - state.shown;
    more.replaceChildren(...(left > 0 ? [h("button", { type: "button", class: "plain",
      onclick: () => { state.shown = Infinity; fill(); } }, `Show the other ${plural(left, noun)}`)] : []));
  }

  function line(row) {
    return h("tr", { role: "row", class: classOf ? classOf(row) : null }, columns.map((c) => (c.kind === "who"
      ? h("th", { role: "rowheader", scope: "row", class: "who" }, c.cell(row))
      : h("td", { role: "cell", class: c.kind, "data-title": c.label || (c.kind === "mean" ? `${c.title}, ${c.sub}` : c.title) }, c.cell(row)))));
  }

  fill();
  const filter = rows.length > 8 && h("label", {}, h("span", { class: "hidden" }, `Find a ${noun}`),
    h("input", { type: "search", placeholder: `Find a ${noun}`, autocomplete: "off", spellcheck: "false",
      oninput: (e) => { state.text = e.target.value; state.shown = PORTION; fill(); } }));
  const tools = rows.length > 1 && h("div", { class: "tools" }, filter,
    h("label", { class: "phone" }, "Sort by ", picker));
  return h("div", { class: "sheet", id },
    tools,
    h("div", { class: "scroll" },
      h("table", { role: "table" },
        h("caption", {}, caption),
        h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads)),
        body)),
    more);
}

function head(column, onclick) {
  return h("th", { role: "columnheader", scope: "col", class: column.kind },
    h("button", { type: "button", onclick },
      h("span", {}, column.title), h("span", { class: "arrow", "aria-hidden": "true" })),
    column.sub && h("span", { class: "sub" }, column.sub),
    column.head);
}
