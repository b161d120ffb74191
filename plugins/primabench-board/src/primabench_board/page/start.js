// Draws the page that the address asks for.
const VIEWS = {
  home: homeView,
  leaderboard: leaderboardView,
  tasks: tasksView,
  submit: submitView,
  contribute: contributeView,
  about: aboutView,
};

function render(moved) {
  const place = where();
  const keep = ["leaderboard", "tasks"];
  document.getElementById("tabs").replaceChildren(...TABS.map(([id, title]) => h("li", {},
    go({ tab: id, board: keep.includes(id) && keep.includes(place.tab) ? place.board : null },
      { "aria-current": id === place.tab ? "page" : null }, title))));
  const main = document.getElementById("main");
  main.replaceChildren(...VIEWS[place.tab](place).flat(3).filter(Boolean));
  main.dataset.tab = place.tab;
  const heading = main.querySelector("h1");
  document.title = heading && heading.textContent !== DATA.title ? `${heading.textContent} · ${DATA.title}` : DATA.title;
  fit();
  if (moved) {
    window.scrollTo(0, 0);
    main.focus({ preventScroll: true });
    say(document.title);
  }
}

// A table that is too wide gets a box of its own to scroll in; on a narrow screen the chosen page comes into view.
function fit() {
  for (const box of document.querySelectorAll(".scroll")) {
    box.classList.remove("wide");
    const isWide = box.scrollWidth > box.clientWidth + 1;
    box.classList.toggle("wide", isWide);
    if (isWide) box.setAttribute("tabindex", "0"); // so that keys can scroll it
    else box.removeAttribute("tabindex");
  }
  const current = document.querySelector("#tabs [aria-current]");
  const strip = current.closest("nav");
  strip.scrollLeft = current.offsetLeft - (strip.clientWidth - current.offsetWidth) / 2;
}

const SCHEMES = { auto: "Auto", light: "Light", dark: "Dark" };

function startScheme() {
  const button = document.getElementById("scheme");
  let chosen = "auto";
  try {
    chosen = localStorage.getItem("scheme") || "auto";
  } catch {
    // a browser that keeps nothing for files: the choice lasts as long as the page
  }
  const show = () => {
    if (chosen === "auto") delete document.documentElement.dataset.scheme;
    else document.documentElement.dataset.scheme = chosen;
    button.textContent = SCHEMES[chosen] || SCHEMES.auto;
    button.setAttribute("aria-label", `Colours: ${button.textContent}`);
  };
  button.addEventListener("click", () => {
    const order = Object.keys(SCHEMES);
    chosen = order[(order.indexOf(chosen) + 1) % order.length];
    try {
      localStorage.setItem("scheme", chosen);
    } catch {
      // as above
    }
    show();
  });
  button.hidden = false;
  show();
}

document.querySelector(".brand").setAttribute("data-inside", "");
document.addEventListener("click", followInside);
window.addEventListener("popstate", () => render(false));
window.addEventListener("resize", fit);
startScheme();
render(false);
