"use strict";
(() => {
  const all = (query, within = document) => [...within.querySelectorAll(query)];
  const one = (id) => document.getElementById(id);
  const [search, release, shown, tip, help] = ["search", "release", "shown", "tip", "help"].map(one);
  const chips = all(".state");
  const libraries = all("[data-library]:not(.finding)");
  const versions = libraries.filter((node) => node.matches(".library")).map((node) => all(".rel", node).map((b) => b.textContent));

  // A row's states, one digit for each release, read from its own bar.
  const states = (row) => {
    if (row.dataset.states) return row.dataset.states;
    const track = row.querySelector(":scope > .row-head > .track");
    const read = track ? all("i[data-s]", track).map((run) => run.dataset.s.repeat(+/\bw(\d+)/.exec(run.className)[1])).join("") : "";
    return (row.dataset.states = read);
  };
  const library = (node) => node.closest("[data-library]").dataset.library;

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = chips.filter((chip) => chip.ariaPressed === "true").map((chip) => chip.dataset.state);
    const [number, index] = release.value ? release.value.split(":") : [];
    const fits = (node) => {
      const text = node.dataset.text.toLowerCase();
      if (!words.every((word) => text.includes(word))) return false;
      if (node.matches(".symbol") && node.closest("#signatures")) return true;
      let here = states(node);
      if (index !== undefined) {
        if (library(node) !== number) return false;
        here = here[index] || "0";
        if (node.matches(".finding") && here === "0") return false;
      }
      return !wanted.length || wanted.some((state) => here.includes(state));
    };
    let rows = 0, kept = 0, found = 0, cards = 0;
    for (const row of all("#matrix .symbol, #signatures .symbol")) {
      row.hidden = !fits(row);
      if (row.closest("#matrix")) { rows += 1; kept += !row.hidden; }
    }
    for (const base of all("#matrix .base")) {
      const inner = all(".symbol", base);
      base.hidden = inner.length ? inner.every((row) => row.hidden) && !fits(base) : !fits(base);
    }
    for (const card of all(".finding")) {
      card.hidden = !fits(card);
      cards += 1; found += !card.hidden;
    }
    for (const group of all("[data-group], .base-findings")) group.hidden = all(".finding", group).every((card) => card.hidden);
    const active = words.length || wanted.length || index !== undefined;
    shown.value = active ? `${kept} of ${rows} symbols, ${found} of ${cards} findings` : `${rows} symbols, ${cards} findings`;
    point(number, index);
    keep();
  };

  // The filters stand in the address, so that a link shows what was seen: the words, the release, the states.
  const keep = () => {
    const [number, index] = release.value ? release.value.split(":") : [];
    const kept = new URLSearchParams();
    if (search.value.trim()) kept.set("q", search.value.trim());
    if (index !== undefined) kept.set("release", `${number}:${versions[number][index]}`);
    const pressed = chips.filter((chip) => chip.ariaPressed === "true").map((chip) => chip.dataset.state);
    if (pressed.length) kept.set("state", pressed.join(","));
    const anchor = location.hash.includes("=") ? "" : location.hash;
    const wanted = String(kept) ? `#${kept}` : anchor;
    if (wanted !== location.hash) history.replaceState(null, "", wanted || location.pathname + location.search);
  };

  const restore = () => {
    if (!location.hash.includes("=")) return false;
    const kept = new URLSearchParams(location.hash.slice(1));
    search.value = kept.get("q") || "";
    const [number, version] = (kept.get("release") || "").split(":");
    const index = versions[number] ? versions[number].indexOf(version) : -1;
    release.value = index < 0 ? "" : `${number}:${index}`;
    const wanted = (kept.get("state") || "").split(",");
    for (const chip of chips) chip.ariaPressed = String(wanted.includes(chip.dataset.state));
    return true;
  };

  const point = (number, index) => {
    for (const node of libraries) {
      const here = index !== undefined && node.dataset.library === number;
      node.toggleAttribute("data-cursor", here);
      if (here) node.style.setProperty("--cursor", index);
    }
    for (const button of all(".rel")) {
      button.ariaPressed = String(index !== undefined && library(button) === number && button.dataset.release === index);
    }
  };

  const step = (by) => {
    const [number, index] = release.value ? release.value.split(":").map(Number) : [0, by > 0 ? -1 : versions[0].length];
    const next = Math.min(Math.max(index + by, 0), versions[number].length - 1);
    release.value = `${number}:${next}`;
    filter();
  };

  const move = (by) => {
    const stops = all("#matrix summary.row-head, .finding > summary, #signatures summary").filter((node) => node.offsetParent);
    const at = stops.indexOf(document.activeElement);
    const next = stops[at < 0 ? (by > 0 ? 0 : stops.length - 1) : Math.min(Math.max(at + by, 0), stops.length - 1)];
    if (next) { next.focus({ preventScroll: true }); next.scrollIntoView({ block: "center" }); }
  };

  const clear = () => {
    search.value = release.value = "";
    for (const chip of chips) chip.ariaPressed = "false";
    filter();
  };

  const theme = () => {
    const dark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  };

  search.addEventListener("input", filter);
  release.addEventListener("change", filter);
  for (const chip of chips) chip.addEventListener("click", () => { chip.ariaPressed = String(chip.ariaPressed !== "true"); filter(); });
  for (const button of all(".rel")) button.addEventListener("click", () => {
    const value = `${library(button)}:${button.dataset.release}`;
    release.value = release.value === value ? "" : value;
    filter();
  });
  one("theme").addEventListener("click", theme);
  one("keys").addEventListener("click", () => help.showModal());
  one("close-help").addEventListener("click", () => help.close());

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (event.key === "Escape") { clear(); document.activeElement.blur(); return; }
    if (event.target.matches("input, select, textarea")) return;
    if (event.target.matches("[data-copy]") && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      copy(event.target);
      return;
    }
    const action = {
      "/": () => search.focus(),
      j: () => move(1),
      k: () => move(-1),
      ArrowRight: () => event.target.matches("pre") || step(1),
      ArrowLeft: () => event.target.matches("pre") || step(-1),
      e: () => { for (const chip of chips) chip.ariaPressed = String(+chip.dataset.state >= 4 && chip.ariaPressed !== "true"); filter(); },
      t: theme,
      "?": () => help.showModal(),
    }[event.key];
    if (action) { if (action() !== true) event.preventDefault(); }
  });

  // A link to a finding opens it, and what it is folded into.
  const reveal = () => {
    if (restore()) { filter(); return; }
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let node = target; node; node = node.parentElement) if (node.matches("details")) node.open = true;
    if (target.hidden) clear();
    target.scrollIntoView({ block: "start" });
  };
  addEventListener("hashchange", reveal);

  // A place in a file is copied; where a page may not write to the clipboard, it is selected.
  const copy = (node) => {
    const said = (words) => {
      const box = node.getBoundingClientRect();
      tip.textContent = words;
      tip.hidden = false;
      tip.style.left = `${box.left}px`;
      tip.style.top = `${Math.max(box.top - 26, 4)}px`;
      setTimeout(() => { tip.hidden = true; }, 1200);
    };
    const select = () => { getSelection().selectAllChildren(node); said("selected"); };
    if (navigator.clipboard) navigator.clipboard.writeText(node.dataset.copy).then(() => said("copied"), select);
    else select();
  };
  for (const node of all("[data-copy]")) {
    node.setAttribute("role", "button");
    node.setAttribute("tabindex", "0");
    node.title = "copy";
    node.addEventListener("click", (event) => { event.preventDefault(); event.stopPropagation(); copy(node); });
  }

  // The release under the pointer, and how it fares there.
  document.addEventListener("pointermove", (event) => {
    const track = event.target.closest && event.target.closest(".grid .track, .finding .track");
    const number = track && library(track);
    if (!track || !versions[number] || !versions[number].length) { tip.hidden = true; return; }
    const box = track.getBoundingClientRect();
    const index = Math.min(Math.max(Math.floor((event.clientX - box.left) / box.width * versions[number].length), 0), versions[number].length - 1);
    const words = ["not reached", "works", "works, with a warning", "degraded, on purpose", "breaks", "breaks silently"];
    let said = "", column = 0;
    for (const run of all("i[data-s]", track)) {
      column += +/\bw(\d+)/.exec(run.className)[1];
      if (index < column) { said = `  ${words[run.dataset.s]}`; break; }
    }
    tip.textContent = versions[number][index] + said;
    tip.hidden = false;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${event.clientY + 34 > innerHeight ? event.clientY - 34 : event.clientY + 16}px`;
  });

  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

  for (const id of ["controls", "theme", "keys"]) one(id).hidden = false;
  filter();
  reveal();
})();
