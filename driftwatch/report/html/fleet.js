"use strict";
(() => {
  const all = (query, within = document) => [...within.querySelectorAll(query)];
  const one = (id) => document.getElementById(id);
  const [search, release, sort, shown, panel, controls] = ["search", "release", "sort", "shown", "panel", "controls"].map(one);
  const data = JSON.parse(one("data").textContent);
  const chips = all(".chips .chip");
  // Read once: a filter touches no more than what it changes.
  const rows = all("tr[data-row]").map((node) => ({
    node, text: node.dataset.text.toLowerCase(), states: node.dataset.states, library: node.dataset.row.split(":")[0],
    name: node.querySelector("th").textContent, uses: +node.dataset.uses, place: +node.dataset.row.split(":")[1],
  }));
  const usage = all("tr[data-usage]").map((node) => ({ node, text: node.dataset.text.toLowerCase() }));
  const bodies = all("table.fleet").map((table) => table.tBodies[0]);
  const heads = all("[data-release]");
  let open = "", marked = null;

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.state);
    const [number, index] = release.value ? release.value.split(":") : [];
    let kept = 0;
    for (const row of rows) {
      let fits = words.every((word) => row.text.includes(word));
      if (fits && number !== undefined && row.library !== number) fits = false;
      if (fits && wanted.length) {
        const here = number === undefined ? row.states : row.states[index];
        fits = wanted.some((state) => here.includes(state));
      }
      if (row.node.hidden === fits) row.node.hidden = !fits;
      kept += fits;
    }
    for (const row of usage) {
      const fits = words.every((word) => row.text.includes(word));
      if (row.node.hidden === fits) row.node.hidden = !fits;
    }
    for (const head of heads) head.classList.toggle("on", head.dataset.release === release.value);
    shown.value = `${kept} of ${rows.length} rows`;
    keep();
  };

  const worst = (row) => {
    const [number, index] = release.value ? release.value.split(":") : [];
    if (number === row.library) return +row.states[index];
    let broken = 0;
    for (const state of row.states) broken += state === "4" || state === "5";
    return broken;
  };
  const orders = {
    list: (a, b) => a.place - b.place,
    name: (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.place - b.place),
    worst: (a, b) => worst(b) - worst(a) || a.place - b.place,
    uses: (a, b) => b.uses - a.uses || a.place - b.place,
  };
  const order = () => {
    const sorted = [...rows].sort(orders[sort.value] || orders.list);
    bodies.forEach((body, number) => body.append(...sorted.filter((row) => row.library === String(number)).map((row) => row.node)));
  };

  // What is seen stands in the address, so that a link shows it again.
  const keep = () => {
    const kept = new URLSearchParams();
    if (search.value.trim()) kept.set("q", search.value.trim());
    if (release.value) {
      const [number, index] = release.value.split(":");
      kept.set("release", `${data[number].library}:${data[number].versions[index]}`);
    }
    const wanted = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.state).join("");
    if (wanted) kept.set("states", wanted);
    if (sort.value !== "list") kept.set("sort", sort.value);
    if (open) kept.set("cell", open);
    const text = kept.toString();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  };

  const element = (name, words, kind) => {
    const made = document.createElement(name);
    if (words !== undefined) made.textContent = words;
    if (kind) made.className = kind;
    return made;
  };
  const show = (number, place, index) => {
    const library = data[number], row = library.rows[place], version = library.versions[index];
    const close = element("button", "close", "close");
    close.type = "button";
    close.addEventListener("click", hide);
    panel.replaceChildren(close, element("h2", `${row.name} with ${library.library} ${version}`));
    for (const notice of row.notices) panel.append(element("p", notice));
    const found = row.findings.filter((finding) => finding.states[index] !== "0");
    found.sort((a, b) => b.states[index].localeCompare(a.states[index]));
    if (!found.length) panel.append(element("p", "nothing is to be said of it"));
    for (const finding of found) {
      const card = element("article");
      const head = element("p");
      head.append(element("b", finding.code), ` ${finding.name} `, element("code", finding.place));
      if (finding.outcome) head.append(` ${finding.outcome}`);
      card.append(head, element("p", finding.message));
      const source = element("pre");
      for (const [line, text] of finding.excerpt) source.append(element("span", `${String(line).padStart(5)}  ${text}\n`, line === finding.line ? "here" : ""));
      card.append(source);
      if (finding.hint) card.append(element("p", finding.hint));
      panel.append(card);
    }
    panel.hidden = false;
    open = `${library.library}:${version}:${row.name}`;
    const node = rows.find((each) => each.node.dataset.row === `${number}:${place}`).node;
    if (marked) marked.remove();
    marked = element("b");
    marked.style.left = `calc(${index} * var(--cell))`;
    node.querySelector(".runs").append(marked);
    keep();
  };
  const hide = () => {
    panel.hidden = true;
    open = "";
    if (marked) marked.remove();
    keep();
  };

  const restore = () => {
    const kept = new URLSearchParams(location.hash.slice(1));
    search.value = kept.get("q") || "";
    const [name, version] = (kept.get("release") || ":").split(":");
    const number = data.findIndex((library) => library.library === name);
    const index = number < 0 ? -1 : data[number].versions.indexOf(version);
    release.value = index < 0 ? "" : `${number}:${index}`;
    sort.value = kept.get("sort") || "list";
    if (!sort.value) sort.value = "list";
    for (const chip of chips) chip.setAttribute("aria-pressed", String((kept.get("states") || "").includes(chip.dataset.state)));
    const cell = kept.get("cell");
    order();
    filter();
    if (!cell) return;
    const [library, at, ...rest] = cell.split(":");
    const which = data.findIndex((each) => each.library === library);
    const row = which < 0 ? -1 : data[which].rows.findIndex((each) => each.name === rest.join(":"));
    const column = which < 0 ? -1 : data[which].versions.indexOf(at);
    if (row >= 0 && column >= 0) show(which, row, column);
  };

  controls.hidden = false;
  search.addEventListener("input", filter);
  release.addEventListener("change", () => { order(); filter(); });
  sort.addEventListener("change", () => { order(); keep(); });
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      filter();
    });
  }
  document.addEventListener("click", (event) => {
    const head = event.target.closest("[data-release]");
    if (head) {
      release.value = release.value === head.dataset.release ? "" : head.dataset.release;
      if (release.value) sort.value = "worst";
      order();
      filter();
      return;
    }
    const cells = event.target.closest(".runs");
    if (cells) {
      const [number, place] = cells.closest("tr").dataset.row.split(":").map(Number);
      const box = cells.getBoundingClientRect(), count = data[number].versions.length;
      const across = [...cells.querySelectorAll("i")].reduce((sum, run) => sum + run.getBoundingClientRect().width, 0);
      show(number, place, Math.max(0, Math.min(count - 1, Math.floor(((event.clientX - box.left) / across) * count))));
    }
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && !panel.hidden) hide(); });
  window.addEventListener("hashchange", restore);
  restore();
})();
