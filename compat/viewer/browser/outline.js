// The file as a list of lines that fold and unfold.

const LINES = 100, INDENTED = 24;

function visibleLines(state) {
  const lines = [], stack = [{item: 0, depth: 0}];
  while (stack.length) {
    const line = stack.pop();
    lines.push(line);
    if (line.more !== undefined || !state.open.has(line.item)) continue;
    const count = Math.min(below(line.item), state.shown(line.item, LINES)), depth = line.depth + 1;
    const left = below(line.item) - count;
    if (rest(line.item) && !left) stack.push({item: line.item, depth, more: 0});
    if (left) stack.push({item: line.item, depth, more: left});
    for (let i = count - 1; i >= 0; i--) stack.push({item: first[line.item] + i, depth});
  }
  return lines;
}

function drawnLine({item, depth, more}, state) {
  const line = made("div", "line");
  line.style.paddingLeft = `${6 + Math.min(depth, INDENTED) * 14}px`;
  if (more !== undefined) {
    if (more) {
      line.append(button(`… ${more.toLocaleString("en")} more`, () => state.showMore(item, LINES)));
    } else {
      line.append(made("span", "quiet", `… ${rest(item).toLocaleString("en")} more, for which the page has no room`));
    }
    return line;
  }
  const about = look(item), folds = below(item) + rest(item) > 0, isOpen = state.open.has(item);
  line.dataset.line = item;
  line.setAttribute("role", "treeitem");
  line.setAttribute("aria-level", depth + 1);
  line.setAttribute("aria-selected", state.chosen === item);
  if (folds) line.setAttribute("aria-expanded", isOpen);
  if (state.chosen === item) line.classList.add("chosen");
  const mark = made("span", "mark", folds ? (isOpen ? "▾" : "▸") : "");
  if (folds) mark.dataset.mark = item;
  line.append(mark, made("bdi", "called", nameOf(item)), made("span", "kind", made("bdi", "", short(about.kind))));
  if (about.label) line.append(made("bdi", "label", about.label));
  if (about.text) line.append(made("bdi", "quiet", clipped(about.text, 60)));
  if (about.same !== undefined) line.append(made("span", "quiet", "↗ shared"));
  return line;
}

function drawOutline(place, state) {
  place.replaceChildren(...visibleLines(state).map(line => drawnLine(line, state)));
}

// Arrow keys move, fold and unfold.
function moveInOutline(event, state) {
  const lines = visibleLines(state).filter(line => line.more === undefined).map(line => line.item);
  const at = lines.indexOf(state.chosen), item = state.chosen;
  const isOpen = state.open.has(item), folds = below(item) > 0;
  const moves = {
    ArrowDown: () => state.choose(lines[Math.min(at + 1, lines.length - 1)]),
    ArrowUp: () => state.choose(lines[Math.max(at - 1, 0)]),
    ArrowRight: () => (folds && !isOpen ? state.toggle(item) : folds && state.choose(first[item])),
    ArrowLeft: () => (isOpen ? state.toggle(item) : item && state.choose(parent[item])),
    Enter: () => folds && state.toggle(item),
  };
  if (!moves[event.key]) return;
  event.preventDefault();
  moves[event.key]();
}
