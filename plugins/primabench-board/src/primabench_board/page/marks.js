// Scores as marks: one scale for a column, a line for the interval, a dot for the score, a tick for chance.
function scaleOf(cells, metric) {
  const chance = metric.chance;
  let low = chance, high = chance;
  for (const [value, below, above] of cells) {
    if (value === null) continue;
    low = Math.min(low, value, below ?? value);
    high = Math.max(high, value, above ?? value);
  }
  low = Math.max(metric.low, Math.floor(low * 10 - 1e-9) / 10);
  high = Math.min(metric.high, Math.ceil(high * 10 + 1e-9) / 10);
  if (high - low < 0.1) high = low + 0.1;
  const at = (value) => `${(100 * Math.min(1, Math.max(0, (value - low) / (high - low)))).toFixed(2)}%`;
  return { low, high, chance, at };
}

function whisker([value, low, high], scale, isBaseline) {
  const parts = [
    h("line", { class: "ground", x1: "0%", x2: "100%", y1: 10, y2: 10 }),
    h("line", { class: "chance", x1: scale.at(scale.chance), x2: scale.at(scale.chance), y1: 2, y2: 18 }),
  ];
  if (low !== null && high !== null) {
    parts.push(h("line", { class: "span", x1: scale.at(low), x2: scale.at(high), y1: 10, y2: 10 }));
    for (const end of [low, high]) {
      parts.push(h("line", { class: "end", x1: scale.at(end), x2: scale.at(end), y1: 6.5, y2: 13.5 }));
    }
  }
  parts.push(h("circle", { class: "dot", cx: scale.at(value), cy: 10, r: 3.75 }));
  return h("svg", { class: isBaseline ? "mark base" : "mark", height: 20, "aria-hidden": "true" }, parts);
}

// The number, the mark, and the interval in figures.
function score(cell, scale, { isBaseline = false, isBest = false, note = null } = {}) {
  const [value, low, high] = cell;
  if (value === null) return h("span", { class: "none" }, "–");
  const has = low !== null && high !== null;
  return h("div", { class: isBest ? "score best" : "score" },
    h("span", { class: "value" }, number(value), isBest && h("span", { class: "hidden" }, " (best)")),
    whisker(cell, scale, isBaseline),
    h("span", { class: "ends" },
      has && h("span", { class: "hidden" }, "95 % interval "),
      has ? `${number(low)} to ${number(high)}` : "no interval",
      note && [" · ", h("span", { class: "warned" }, note)]),
  );
}

// Ends of a column's scale, and where chance lies on it.
function axis(scale) {
  const short = (value) => value.toFixed(1).replace("-", "−");
  return h("div", { class: "axis", "aria-hidden": "true" },
    h("svg", { height: 8 },
      h("line", { class: "ground", x1: "0%", x2: "100%", y1: 4, y2: 4 }),
      h("line", { class: "chance", x1: scale.at(scale.chance), x2: scale.at(scale.chance), y1: 0, y2: 8 })),
    h("span", {}, short(scale.low)), h("span", {}, short(scale.high)));
}
