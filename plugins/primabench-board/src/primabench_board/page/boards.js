// Home and leaderboards.
const KINDS = { modality: "Modalities", area: "Areas", category: "Task families" };

function who(place) {
  const m = model(place);
  const more = [m.organisation, m.submissions > 1 && `${m.submissions} submissions`].filter(Boolean).join(" · ");
  return [h("span", { class: "name" }, m.shown), more && h("span", { class: "org" }, more)];
}

const linesOf = (board) => board.ranked.map(
  ([entry, rank, best, worst, order, skill, clipped, ...ends]) => ({
    entry, rank, best, worst, order, skill, clipped,
    cells: board.families.map((_, i) => ends.slice(3 * i, 3 * i + 3)),
  }));

function homeView() {
  const ranked = new Set(DATA.boards.flatMap((b) => b.ranked.map((line) => line[0]))).size;
  const groups = Object.entries(KINDS).map(([kind, heading]) => {
    const cards = DATA.boards.filter((b) => b.kind === kind).map(boardCard);
    const open = DATA.open.filter((o) => (o.area ? "area" : "modality") === kind).map(openCard);
    return cards.length + open.length > 0 && h("section", {}, h("h2", {}, heading), h("div", { class: "grid" }, cards, open));
  });
  return [
    h("h1", {}, DATA.title),
    h("p", { class: "lede" },
      `${plural(DATA.boards.length, "board")} over ${plural(DATA.tasks.length, "task")}; ` +
      `${plural(ranked, "model")} ranked out of ${plural(DATA.models.length, "submitted model")}. ` +
      (DATA.as_of ? "As of " : "Nothing was submitted yet."),
      DATA.as_of && h("span", { class: "whole" }, `${day(DATA.as_of)}.`)),
    groups,
  ];
}

function boardCard(board) {
  const lines = linesOf(board).slice(0, 3);
  const alone = board.families.length === 1; // a mean of unlike metrics orders rows and is no headline
  const metric = alone ? metricOf(board.families[0].metric).title : `${board.families.length} task families`;
  const lead = lines.length
    ? h("ol", { class: "lead" }, lines.map((line) => h("li", { class: line.rank === 1 ? "first" : null },
        h("span", { class: "rank" }, line.rank), h("span", { class: "name" }, model(line.entry).shown),
        alone && h("span", { class: "value" }, number(line.order)))))
    : h("p", { class: "empty" }, "No model covers every task yet.");
  return h("article", { class: "card" },
    h("p", { class: "eyebrow" }, board.kind === "modality" ? "all tasks" : titleOf("modality", board.modality)),
    h("h3", {}, go({ tab: "leaderboard", board: board.id }, {}, board.title)),
    lead,
    h("p", { class: "small" }, `${plural(board.tasks.length, "task")}${weak(board.families)} · ${board.ranked.length} ranked · ${metric}`));
}

// Scores on too few units are said wherever they are averaged.
function weak(families) {
  const all = families.flatMap((f) => f.tasks).length;
  const few = families.flatMap((f) => f.not_resolvable).length;
  return few ? (few === all ? ", not resolvable" : `, ${few} not resolvable`) : "";
}

function openCard(open) {
  return h("article", { class: "card open" },
    h("p", { class: "eyebrow" }, open.area ? titleOf("modality", open.modality) : "modality"),
    h("h3", {}, go({ tab: "contribute" }, {}, open.title)),
    h("p", { class: "empty" }, "Open: there is no task yet."),
    h("p", { class: "small" }, "Contribute one"));
}

function boardPicker(tab, chosen, every) {
  const options = Object.entries(KINDS).map(([kind, heading]) => {
    const list = DATA.boards.filter((b) => b.kind === kind);
    return list.length > 0 && h("optgroup", { label: heading }, list.map((b) => h("option",
      { value: b.id, selected: b.id === chosen },
      kind === "modality" || DATA.modalities.length < 2 ? b.title : `${b.title}, ${titleOf("modality", b.modality)}`)));
  });
  return h("label", { class: "picker" }, h("span", {}, "Board"),
    h("select", { id: "board", onchange: (e) => move(address({ tab, board: e.target.value })) },
      every && h("option", { value: "", selected: !chosen }, "all tasks"), options));
}

function noBoard(tab, id) {
  return [
    h("h1", {}, "No such board"),
    h("p", { class: "lede" }, `There is no board called “${id}”.`),
    boardPicker(tab, null, true),
  ];
}

function leaderboardView({ board: asked }) {
  const board = asked ? BOARDS.get(asked) : DATA.boards[0];
  if (!board) return noBoard("leaderboard", asked);
  const tasks = board.tasks.map((id) => TASKS.get(id));
  const datasets = new Set(tasks.map((t) => t.dataset)).size;
  const about = (WORDS[board.kind].get(board.slice) || {}).about;
  return [
    h("div", { class: "headline" },
      h("div", {},
        h("p", { class: "eyebrow" }, board.kind === "modality" ? "Modality" : `${board.kind === "area" ? "Area" : "Task family"} · ${titleOf("modality", board.modality)}`),
        h("h1", {}, board.title)),
      boardPicker("leaderboard", board.id)),
    about && h("p", { class: "lede" }, about),
    h("p", { class: "facts" },
      go({ tab: "tasks", board: board.id }, {}, plural(tasks.length, "task")), ` on ${plural(datasets, "dataset")} · `,
      `${plural(board.ranked.length, "model")} ranked · `,
      h("a", { href: `boards/${board.id}.csv` }, "CSV"), " · ", h("a", { href: `boards/${board.id}.json` }, "JSON")),
    board.ranked.length ? rankedTable(board) : emptyBoard(board),
    board.unranked.length > 0 && unrankedTable(board),
  ];
}

function emptyBoard(board) {
  return h("div", { class: "blank" },
    h("h2", {}, "No model is ranked here yet"),
    h("p", {}, `A model is ranked once it has a score in ${board.tasks.length === 1 ? "the task" : `each of the ${board.tasks.length} tasks`}. `,
      "Scores of single tasks are in the ", go({ tab: "tasks", board: board.id }, {}, "tables of tasks"), "."),
    h("p", {}, go({ tab: "submit" }, { class: "button" }, "How to submit")));
}

function rankedTable(board) {
  const rows = linesOf(board);
  const several = board.families.length > 1;
  const columns = [
    { key: "rank", title: "Rank", kind: "rank", first: "ascending", value: (r) => r.rank, cell: rankCell },
    { key: "model", title: "Model", kind: "who", first: "ascending", value: (r) => model(r.entry).shown, cell: (r) => who(r.entry) },
    ...board.families.map((family, i) => familyColumn(family, i, rows)),
  ];
  if (several) {
    columns.push({ key: "mean", title: "Mean", sub: "ordering only", kind: "mean", value: (r) => r.order,
      cell: (r) => number(r.order) });
  }
  if (DATA.skill) {
    columns.push({ key: "skill", title: "Skill", sub: "never ranks", kind: "mean", value: (r) => r.skill,
      cell: (r) => [number(r.skill), r.clipped > 0 && h("span", { class: "org" }, `${r.clipped} clipped at 0`)] });
  }
  const caption = [
    "Score, 95 % interval; the dotted line is chance. ",
    several ? "Rows stand in the order of the mean of the columns, which blends unlike metrics and says nothing more. " : "",
    "Under a rank: the ranks that the intervals leave open.",
    DATA.skill ? ` Skill: ${DATA.skill.formula}.` : "",
  ];
  return sortable({ id: "ranked", caption, columns, rows, noun: "model", search: (r) => model(r.entry).shown,
    classOf: (r) => (model(r.entry).isBaseline ? "baseline" : null) });
}

function rankCell(row) {
  const open = row.best !== null && row.best !== row.worst;
  return [h("span", { class: "place" }, row.rank),
    open && h("span", { class: "org" }, h("span", { class: "hidden" }, "intervals leave open "), `${row.best}–${row.worst}`)];
}

function familyColumn(family, i, rows) {
  const metric = metricOf(family.metric);
  const scale = scaleOf(rows.map((r) => r.cells[i]), metric);
  const best = Math.max(...rows.map((r) => r.cells[i][0]));
  return {
    key: `family-${family.category}`,
    title: family.title,
    label: `${family.title}, ${metric.title}${weak([family])}`, // of a card on a phone, which has no head
    sub: `${metric.title} · ${plural(family.tasks.length, "task")}${weak([family])}`,
    kind: "scored",
    head: axis(scale),
    value: (r) => r.cells[i][0],
    cell: (r) => score(r.cells[i], scale,
      { isBaseline: model(r.entry).isBaseline, isBest: rows.length > 1 && r.cells[i][0] === best }),
  };
}

function unrankedTable(board) {
  const rows = board.unranked.map(([entry, covered, missing]) => ({ entry, covered, missing }));
  const columns = [
    { key: "covered", title: "Covered", kind: "rank", value: (r) => r.covered, first: "descending",
      cell: (r) => `${r.covered}/${board.tasks.length}` },
    { key: "model", title: "Model", kind: "who", first: "ascending", value: (r) => model(r.entry).shown, cell: (r) => who(r.entry) },
    { key: "missing", title: "Without a score", kind: "text", first: "ascending", value: (r) => TASKS.get(r.missing[0][0]).title,
      cell: (r) => missingList(r.missing, board.id) },
  ];
  return h("section", {},
    h("h2", {}, "Not ranked here"),
    sortable({ id: "unranked", caption: "These models lack a score in at least one task of this board. What was scored stands in the tables of tasks.",
      columns, rows, noun: "model", search: (r) => model(r.entry).shown }));
}

function missingList(missing, board) {
  const shown = missing.slice(0, 6);
  return h("ul", { class: "missing" }, shown.map(([task, status, reason]) => h("li", {},
    go({ tab: "tasks", board, task }, {}, TASKS.get(task).title), h("span", { class: "org" }, `${status}: ${words(reason)}`))),
    missing.length > 6 && h("li", { class: "org" }, `and ${missing.length - 6} more`));
}
