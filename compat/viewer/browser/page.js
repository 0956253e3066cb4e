// The page: what is unfolded and chosen, and what clicks and keys do about it.

const at = id => document.getElementById(id);
const ZOOMS = [0.25, 0.35, 0.5, 0.7, 0.85, 1, 1.25, 1.6, 2], UNFOLDED = 500, AT_FIRST = 30, HITS = 100;

const state = {
  open: new Set([0]),
  pieces: new Map(),
  chosen: 0,
  net: look(0).type === "module" ? 0 : firstNet(),
  zoom: 1,

  // How many of the parts of an item are drawn.
  shown(item, piece) {
    return (this.pieces.get(item) ?? 1) * piece;
  },

  showMore(item) {
    this.pieces.set(item, (this.pieces.get(item) ?? 1) + 1);
    draw();
  },

  choose(item) {
    this.chosen = item;
    for (const each of wayTo(item).slice(0, -1)) this.reveal(each, item);
    const net = netOf(item), isOther = net >= 0 && net !== this.net;
    if (isOther) {
      this.net = net;
      unfold(AT_FIRST);
    }
    draw(item);
    if (isOther) fit();
  },

  // Unfold an item around another, and show the piece that leads there.
  reveal(item, to) {
    this.open.add(item);
    const way = wayTo(to), place = way[way.indexOf(item) + 1] - first[item];
    while (place >= this.shown(item, PIECE)) this.pieces.set(item, (this.pieces.get(item) ?? 1) + 1);
  },

  toggle(item) {
    if (!this.open.delete(item)) this.open.add(item);
    draw(item);
  },

  // A click chooses; on what is chosen or folded, it folds or unfolds as well.
  click(item) {
    const folds = below(item) > 0, turns = folds && (this.chosen === item || !this.open.has(item));
    if (turns && !this.open.delete(item)) this.open.add(item);
    this.choose(item);
  },
};

function firstNet() {
  for (let item = 0; item < first.length; item++) if (look(item).type === "module") return item;
  return -1;
}

// The picture begins not too far above what is chosen.
function topOfPicture() {
  const way = wayTo(state.chosen), from = way.indexOf(state.net);
  return from < 0 || way.length - from <= DEEPEST ? state.net : way[way.length - DEEPEST];
}

// Draw everything anew; what was clicked stays where it is in the window.
function draw(kept) {
  const box = () => at("stage").querySelector(`[data-item="${kept}"]`);
  const before = kept === undefined ? undefined : box()?.getBoundingClientRect();
  document.body.classList.toggle("netless", state.net < 0);
  drawOutline(at("outline"), state);
  drawAbout(at("about"), state);
  if (state.net >= 0) drawGraph();
  at("outline").querySelector(".chosen")?.scrollIntoView({block: "nearest"});
  const after = kept === undefined ? undefined : box()?.getBoundingClientRect();
  if (before && after) {
    at("stage").scrollBy(after.left - before.left, after.top - before.top);
  } else if (after) {
    box().scrollIntoView({block: "nearest", inline: "center"});
  }
}

function drawGraph() {
  at("tools").querySelector("select").value = state.net;
  const stage = at("stage"), {scrollLeft, scrollTop} = stage, {svg, width, height} = picture(topOfPicture(), state);
  svg.setAttribute("width", width * state.zoom);
  svg.setAttribute("height", height * state.zoom);
  stage.replaceChildren(svg);
  stage.scrollLeft = scrollLeft;
  stage.scrollTop = scrollTop;
}

function zoomBy(steps) {
  const near = ZOOMS.findIndex(zoom => zoom >= state.zoom - 1e-9);
  state.zoom = ZOOMS[Math.max(0, Math.min(ZOOMS.length - 1, near + steps))];
  drawGraph();
}

function fit() {
  const {width, height} = picture(topOfPicture(), state), stage = at("stage");
  const wanted = Math.min((stage.clientWidth - 4) / width, Math.max((stage.clientHeight - 4) / height, 0.7));
  state.zoom = Math.max(ZOOMS[0], Math.min(1, wanted));
  drawGraph();
}

// Unfold a net level by level, as long as there are not more modules than so many.
function unfold(most) {
  let count = 0, level = [state.net];
  while (level.length) {
    const inside = level.flatMap(item => Array.from({length: Math.min(modulesIn(item), PIECE)}, (_, i) => first[item] + i));
    if ((count += inside.length) > most) return;
    for (const item of level) if (modulesIn(item)) state.open.add(item);
    level = inside;
  }
}

function unfoldAll() {
  unfold(UNFOLDED);
  draw();
}

function foldAll() {
  for (const item of [...state.open]) if (item !== state.net && netOf(item) === state.net) state.open.delete(item);
  draw();
}

function showHits() {
  const text = at("search").value.trim(), hits = at("hits");
  hits.hidden = !text;
  if (!text) return hits.replaceChildren();
  const {found, count} = search(text, HITS);
  const lines = found.map(item => {
    const line = button("", () => {
      hits.hidden = true;
      state.choose(item);
    });
    const place = wayTo(item).slice(0, -1).map(nameOf).join(" › ");
    line.append(made("bdi", "called", nameOf(item)), made("bdi", "kind", short(look(item).kind)), made("bdi", "quiet", clipped(look(item).text ?? "", 60)));
    line.append(made("bdi", "place", place));
    line.className = "found";
    return line;
  });
  const said = count > found.length ? `${count.toLocaleString("en")} found, the first ${found.length}:` : `${count.toLocaleString("en")} found`;
  hits.replaceChildren(made("p", "quiet", said), ...lines);
}

// Which of the file's nets is drawn.
function netChoice() {
  const choice = made("select");
  choice.setAttribute("aria-label", "the net");
  for (let item = 0; item < first.length && choice.length < HITS; item++) {
    if (!look(item).net) continue;
    const option = made("option", "", wayTo(item).slice(item ? 1 : 0).map(nameOf).join(" › "));
    option.value = item;
    choice.append(option);
  }
  choice.onchange = () => state.choose(Number(choice.value));
  return choice;
}

function summary() {
  const said = [];
  if (parameters(0)) said.push(`${roughly(parameters(0))} parameters`);
  if (bytes(0)) said.push(`${memory(bytes(0))} of tensors`);
  if (look(0).multiplyAdds) said.push(`${roughly(look(0).multiplyAdds)} multiply-adds for ${look(0).input.replaceAll("x", "×")}`);
  const {items, numbers, pictures} = data.leftOut;
  const left = [items && counted(items, "item"), numbers && counted(numbers, "histogram"), pictures && counted(pictures, "picture")];
  if (left.some(Boolean)) said.push(`the page has no room for ${left.filter(Boolean).join(", ")}`);
  return said.join(" · ");
}

function start() {
  at("title").textContent = data.name;
  at("summary").textContent = summary();
  at("tools").append(
    netChoice(), button("−", () => zoomBy(-1), "smaller"), button("+", () => zoomBy(1), "larger"), button("fit", fit, "fit into the window"),
    button("unfold", unfoldAll, "unfold the net, as far as it can be looked at"), button("fold", foldAll, "fold the net"));
  at("outline").onclick = event => {
    const mark = event.target.closest("[data-mark]"), line = event.target.closest("[data-line]");
    if (mark) state.toggle(Number(mark.dataset.mark));
    else if (line) state.click(Number(line.dataset.line));
  };
  at("outline").onkeydown = event => moveInOutline(event, state);
  const press = event => {
    const more = event.target.closest("[data-more]"), box = event.target.closest("[data-item]");
    if (more) state.showMore(Number(more.dataset.more));
    else if (box) state.click(Number(box.dataset.item));
  };
  at("stage").onclick = press;
  at("stage").onkeydown = event => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    press(event);
  };
  at("search").oninput = showHits;
  at("search").onkeydown = event => {
    if (event.key === "Enter") at("hits").querySelector("button")?.click();
    if (event.key === "Escape") { at("search").value = ""; showHits(); }
  };
  document.addEventListener("click", event => {
    if (!at("find").contains(event.target)) at("hits").hidden = true;
  });
  at("search").onfocus = showHits;
  if (state.net > 0) for (const each of wayTo(state.net)) state.open.add(each);
  if (state.net >= 0) unfold(AT_FIRST);
  draw();
  if (state.net >= 0) fit();
}

start();
