// Nodes are made here and nowhere else: text becomes a text node, never markup.
const DATA = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const DRAWN = new Set(["svg", "line", "circle", "path"]);

function h(tag, attributes, ...children) {
  const node = DRAWN.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(3).filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}

const byId = (list) => new Map(list.map((item) => [item.id, item]));
const BOARDS = byId(DATA.boards);
const TASKS = byId(DATA.tasks);
const WORDS = {
  modality: byId(DATA.modalities),
  area: byId(DATA.areas),
  category: byId(DATA.categories),
};
const titleOf = (kind, id) => (WORDS[kind].get(id) || { title: id }).title;
const metricOf = (name) => DATA.metrics[name];

const model = (place) => {
  const [shown, organisation, family, isBaseline, submittedAt, submissions] = DATA.models[place];
  return { shown, organisation, family, isBaseline, submittedAt, submissions };
};

const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
const words = (text) => text.replaceAll("_", " ");
const DECIMALS = Math.min(3, DATA.rules.decimals ?? 3);
const number = (value) => (value === null ? "–" : value.toFixed(DECIMALS).replace("-", "−"));
const day = (moment) => (moment ? moment.slice(0, 10) : "–");

function say(text) {
  document.getElementById("said").textContent = text;
}
