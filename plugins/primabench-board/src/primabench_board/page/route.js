// Where the reader is stands in the address, so that it survives a reload and can be sent to others.
const TABS = [
  ["home", "Home"],
  ["leaderboard", "Leaderboard"],
  ["tasks", "Tasks"],
  ["submit", "Submit"],
  ["contribute", "Contribute"],
  ["about", "About"],
];

function where() {
  const asked = new URLSearchParams(location.search);
  const tab = asked.get("tab") || (asked.get("task") ? "tasks" : asked.get("board") ? "leaderboard" : "home");
  const known = TABS.some(([id]) => id === tab);
  return { tab: known ? tab : "home", board: asked.get("board"), task: asked.get("task") };
}

function address({ tab, board, task }) {
  const made = new URLSearchParams();
  if (tab) made.set("tab", tab);
  if (board) made.set("board", board);
  if (task) made.set("task", task);
  return `?${made}`;
}

// A link inside the page: an ordinary address, taken without loading the page again.
function go(place, attributes, ...children) {
  return h("a", { href: address(place), "data-inside": true, ...attributes }, ...children);
}

function move(url) {
  try {
    history.pushState(null, "", url);
  } catch {
    location.assign(url); // a browser that forbids it for files loads the page again
    return;
  }
  render(true);
}

function followInside(event) {
  const link = event.target.closest("a[data-inside]");
  if (!link || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  move(link.getAttribute("href"));
}
