// Pages of words. What can change comes from the registry.
const list = (...items) => h("ul", {}, items.filter(Boolean).map((item) => h("li", {}, item)));
const code = (text) => h("code", {}, text);
// A command breaks between its words alone, and copies as it is.
const block = (text) => h("pre", { tabindex: "0" }, h("code", {},
  text.split(/([ \n]+)/).map((word) => (/\S/.test(word) ? h("span", {}, word) : word))));

function contact() {
  const { name, contact: reach, url } = DATA.organisation;
  const site = url && h("a", { href: url, rel: "noopener noreferrer" }, name || url);
  return reach ? ["Write to ", site || name || "the maintainers", `: ${reach}.`] : site ? ["Ask ", site, "."] : null;
}

function submitView() {
  const cap = DATA.rules.daily_cap;
  return [
    h("h1", {}, "Submit"),
    h("p", { class: "lede" }, "A model turns each sample into one vector. One file holds the vectors of all datasets; a fixed probe scores them on hidden labels."),
    h("h2", {}, "Three steps"),
    h("ol", { class: "steps" },
      h("li", {}, h("h3", {}, "Embed"), h("p", {}, "Compute one vector for each sample of each dataset. A model is ranked on a board when it covers every task there; what it does not cover is skipped, not scored as zero.")),
      h("li", {}, h("h3", {}, "Check the file"), h("p", {}, "No labels are needed:"), block("pip install primabench-task-patient\nprimabench patient validate embeddings.parquet --inputs inputs/")),
      h("li", {}, h("h3", {}, "Hand it in"), h("p", {}, "Send the file to whoever runs these boards. ", contact()), h("p", {}, "They score it and add the result:"),
        block('primabench patient score embeddings.parquet --truth truth/ \\\n    --model "My model" --out result.json\n' +
          "primabench board add result.json --registry truth/tasks.yaml --owner NAME\n" +
          "primabench board export site/ --registry truth/tasks.yaml"))),
    h("h2", {}, "The file"),
    h("div", { class: "scroll" }, h("table", { class: "simple" },
      h("thead", {}, h("tr", {}, ["Format", "Ids", "Vectors"].map((t) => h("th", { scope: "col" }, t)))),
      h("tbody", {},
        h("tr", {}, h("th", { scope: "row" }, "CSV, TSV, Parquet"), h("td", {}, code("dataset_id"), ", ", code("sample_id")), h("td", {}, "one numeric column for each dimension, such as ", code("e0"), ", ", code("e1"), " …")),
        h("tr", {}, h("th", { scope: "row" }, "NPZ"), h("td", {}, code("dataset_ids"), ", ", code("sample_ids")), h("td", {}, code("embeddings"), ", two-dimensional; nothing else"))))),
    list(
      "Each pair of dataset and sample stands once; rows are joined by id, so their order does not matter.",
      "Datasets may differ in width: leave the columns blank that a dataset does not use.",
      "A sample that is missing, NaN or infinite skips the tasks it is labelled in, not the file."),
    h("h2", {}, "Names"),
    list(
      "A name belongs to the account that used it first. The latest submission of a name counts.",
      "Names that look like another one are refused, as are headings of the tables and names that end like a baseline.",
      "A submission that would cost its model a rank is taken only on purpose; earlier submissions stay in the ledger.",
      cap !== null && `An account may hand in ${plural(cap, "submission")} a day.`),
  ];
}

function contributeView() {
  const open = DATA.open.length > 0 && [
    h("h2", {}, "Open boards"),
    h("p", {}, "Nobody has brought a task for these yet:"),
    h("div", { class: "grid" }, DATA.open.map((o) => h("article", { class: "card open", id: `open-${o.id}` },
      h("p", { class: "eyebrow" }, o.area ? titleOf("modality", o.modality) : "modality"), h("h3", {}, o.title),
      h("p", { class: "empty" }, "There is no task yet.")))),
  ];
  return [
    h("h1", {}, "Contribute"),
    h("p", { class: "lede" }, "A board is as good as its tasks. Bring measurements that others may use, and a question that patients are better off for answering."),
    open,
    h("h2", {}, "What a task needs"),
    list(
      "Measurements under an open licence, with where they come from.",
      "A label for each sample that can stay hidden, and the patient where samples repeat.",
      "At least 30 patients, and 10 in each class; below that a score is shown and marked as not resolvable.",
      "An area and a task family. A family has exactly one metric, so a new metric is a new family."),
    contact() && h("p", {}, contact()),
  ];
}

function aboutView() {
  const { name, location } = DATA.organisation;
  return [
    h("h1", {}, "About"),
    name && h("p", { class: "lede" }, `Run by ${name}${location ? `, ${location}` : ""}.`),
    h("h2", {}, "How a score comes about"),
    h("p", {}, "Vectors are standardised on training folds. A logistic or ridge regression is fitted there, its penalty chosen by an inner cross-validation on the same rows. Predictions for held-out folds are pooled and scored once. The probe is ", code(DATA.rules.probe), "."),
    h("p", {}, "Intervals are percentile bootstrap intervals over patients on fixed predictions. Refitting is not in them, so they are somewhat too narrow. Pooling puts a vector without information slightly below chance in small tasks; a note marks scores that differ from the mean over folds."),
    h("h2", {}, "How models are ranked"),
    list(
      "A board holds tasks of one modality. A model is ranked on it when it has a score in each of its tasks.",
      "A column is a task family with its own metric; its value is the mean over the tasks of the family, so a small task weighs as much as a large one.",
      "Where a board has several families, the mean of the columns orders the rows. It blends unlike metrics and is for ordering only.",
      "Equal means share a rank. Scores are compared at " + (DATA.rules.decimals === null ? "full precision" : `${DATA.rules.decimals} decimals, to which they are published`) + ".",
      "Intervals of means are recovered from those of the tasks as if tasks were independent. Ranks left open by overlapping intervals stand under the rank.",
      "Baselines go through the same steps and are ranked in place."),
    h("p", {}, "The dataset card of PRIMO, whose rules these boards take up, describes an older design: one skill score from 0 to 1, and ranking only for models that cover every dataset. Its README describes the present one, native metrics and coverage judged board by board, and that is what is done here."),
    h("h2", {}, "What is counted"),
    h("dl", {},
      Object.entries({ "Boards": DATA.boards.length, "Tasks": DATA.tasks.length, "Datasets": DATA.datasets.length,
        "Models": DATA.models.length, "Submissions": DATA.submissions, "As of": DATA.as_of || "–" })
        .flatMap(([term, value]) => [h("dt", {}, term), h("dd", {}, typeof value === "number" ? value.toLocaleString("en") : value)]),
      h("dt", {}, "Registry"), h("dd", {}, code(DATA.registry_sha256))),
    h("p", {}, "Boards are computed anew from the registry and the ledger of results, which only grows; the same two give the same files, byte by byte."),
  ];
}
