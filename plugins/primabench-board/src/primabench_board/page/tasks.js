// The list of tasks, and the table of one.
const STATUS = { skipped: "skipped", failed: "failed", outdated: "out of date" };

function taskRows(task) {
  return task.rows.map(([entry, rank, status, reason, value, low, high, n, units, resolvable, flags]) => (
    { entry, rank, status, reason, cell: [value, low, high], n, units, resolvable, flags }));
}

function tasksView({ board: asked, task: chosen }) {
  if (asked && !BOARDS.has(asked)) return noBoard("tasks", asked);
  if (chosen && !TASKS.has(chosen)) {
    return [h("h1", {}, "No such task"), h("p", { class: "lede" }, `There is no task called “${chosen}”. `,
      go({ tab: "tasks" }, {}, "All tasks"))];
  }
  if (chosen) return taskView(TASKS.get(chosen), asked);
  const tasks = asked ? BOARDS.get(asked).tasks.map((id) => TASKS.get(id)) : DATA.tasks;
  return [
    h("div", { class: "headline" },
      h("div", {}, h("p", { class: "eyebrow" }, asked ? BOARDS.get(asked).title : DATA.title), h("h1", {}, "Tasks")),
      boardPicker("tasks", asked, true)),
    h("p", { class: "lede" }, "Every submission is in the tables of tasks, ranked or not, with what was skipped and why."),
    taskList(tasks, asked),
  ];
}

function taskList(tasks, board) {
  const rows = tasks.map((task) => {
    const lines = taskRows(task);
    const scored = lines.filter((l) => l.rank !== null);
    return { task, scored: scored.length, total: lines.length, best: scored[0] || null };
  });
  const columns = [
    { key: "task", title: "Task", kind: "who", first: "ascending", value: (r) => r.task.title,
      cell: (r) => [go({ tab: "tasks", board, task: r.task.id }, { class: "name" }, r.task.title),
        h("span", { class: "org" }, `${r.task.id} · ${r.task.dataset}`)] },
    { key: "area", title: "Area", kind: "text", first: "ascending", value: (r) => titleOf("area", r.task.area),
      cell: (r) => [titleOf("area", r.task.area), h("span", { class: "org" }, titleOf("modality", r.task.modality))] },
    { key: "family", title: "Family", kind: "text", first: "ascending", value: (r) => titleOf("category", r.task.category),
      cell: (r) => [titleOf("category", r.task.category), h("span", { class: "org" }, metricOf(r.task.metric).title)] },
    { key: "scored", title: "Scored", kind: "num", value: (r) => r.scored,
      cell: (r) => [String(r.scored), r.total > r.scored && h("span", { class: "org" }, `${r.total - r.scored} not`)] },
    { key: "best", title: "Best", kind: "num", value: (r) => (r.best ? r.best.cell[0] : null),
      cell: (r) => (r.best ? [number(r.best.cell[0]), h("span", { class: "org" }, model(r.best.entry).shown)] : h("span", { class: "none" }, "no score")) },
  ];
  return sortable({ id: "tasks", caption: "Choose a task to see every model in it.", columns, rows, noun: "task",
    search: (r) => `${r.task.title} ${r.task.id}` });
}

function taskView(task, board) {
  const rows = taskRows(task);
  const metric = metricOf(task.metric);
  const boards = task.boards.map((id, i) => [i > 0 && ", ", go({ tab: "leaderboard", board: id }, {}, BOARDS.get(id).title)]);
  const table = rows.length
    ? taskTable(task, rows, metric)
    : h("div", { class: "blank" }, h("h2", {}, "Nobody submitted to this task yet"),
        h("p", {}, go({ tab: "submit" }, { class: "button" }, "How to submit")));
  return [
    h("p", { class: "back" }, go({ tab: "tasks", board }, {}, "← All tasks")),
    h("p", { class: "eyebrow" }, `${titleOf("category", task.category)} · ${titleOf("area", task.area)} · ${titleOf("modality", task.modality)}`),
    h("h1", {}, task.title),
    h("p", { class: "facts" }, `${task.id} on ${task.dataset} · ${metric.title}, chance ${number(metric.chance)} · on the boards `, boards, " · ",
      h("a", { href: `tasks/${task.id}.csv` }, "CSV"), " · ", h("a", { href: `tasks/${task.id}.json` }, "JSON")),
    table,
  ];
}

function taskTable(task, rows, metric) {
  const scored = rows.filter((r) => r.rank !== null);
  const scale = scaleOf(scored.map((r) => r.cell), metric);
  const best = Math.max(...scored.map((r) => r.cell[0]));
  const columns = [
    { key: "rank", title: "Rank", kind: "rank", first: "ascending", value: (r) => r.rank,
      cell: (r) => (r.rank === null ? h("span", { class: "none" }, "–") : h("span", { class: "place" }, r.rank)) },
    { key: "model", title: "Model", kind: "who", first: "ascending", value: (r) => model(r.entry).shown, cell: (r) => who(r.entry) },
    { key: "score", title: metric.title, kind: "scored", head: axis(scale), value: (r) => r.cell[0],
      cell: (r) => (r.rank === null
        ? h("span", { class: "none" }, `${STATUS[r.status] || r.status}: ${words(r.reason)}`)
        : score(r.cell, scale, { isBaseline: model(r.entry).isBaseline, isBest: scored.length > 1 && r.cell[0] === best,
            note: r.resolvable === false ? "not resolvable" : null })) },
    { key: "n", title: "n", kind: "num", value: (r) => r.n,
      cell: (r) => (r.n === null ? "–" : [r.n.toLocaleString("en"), r.units !== null && r.units !== r.n && h("span", { class: "org" }, plural(r.units, "patient"))]) },
    { key: "notes", title: "Notes", kind: "text", first: "ascending", value: (r) => r.flags.join(" "),
      cell: (r) => r.flags.filter((f) => f !== "not_resolvable").map(words).join("; ") },
    { key: "date", title: "Submitted", kind: "num", value: (r) => model(r.entry).submittedAt, cell: (r) => day(model(r.entry).submittedAt) },
  ];
  const shown = columns.filter((c) => c.key !== "notes" || rows.some((r) => c.cell(r)));
  return sortable({ id: "task", noun: "model", columns: shown, rows, search: (r) => model(r.entry).shown,
    caption: "Score, 95 % interval over patients or samples; the dotted line is chance.",
    classOf: (r) => (model(r.entry).isBaseline ? "baseline" : null) });
}
