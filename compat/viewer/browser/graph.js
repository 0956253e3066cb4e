// The net as a graph: a box for each module, and for one that is unfolded a frame around its own.
// Only what is unfolded is measured and drawn.

const LINE = 16, SIDE = 12, HEAD = 30, PIECE = 60, DEEPEST = 24, LONGEST = 34;
const FONT = "12px system-ui, sans-serif", BOLD = "600 12px system-ui, sans-serif";
const pen = document.createElement("canvas").getContext("2d");

// Colours tell families of layers apart.
const FAMILIES = [
  ["join", /Table$|^nn\.(Concat|Join|Parallel|DepthConcat)/], ["convolution", /Convolution/], ["pooling", /Pool|Sampling|Upsample/],
  ["norm", /Norm|LRN|Dropout|CrossMap/], ["recurrent", /LSTM|GRU|RNN|Recur|Sequencer/],
  ["linear", /Linear|Lookup|Bilinear|\bMM\b|Euclidean|Cosine/],
  ["activation", /ReLU|ELU|Tanh|Sigmoid|Soft(Max|Plus|Shrink|Sign|Min)|Threshold|Maxout|HardShrink|^nn\.(Abs|Sqrt|Square|Power|Exp|Log|Clamp)/],
];

function family(kind) {
  return FAMILIES.find(each => each[1].test(kind))?.[0] ?? "other";
}

function widthOf(text, font) {
  pen.font = font;
  return pen.measureText(text).width;
}

// What a box says: lines of text, the first in bold.
function linesOf(item) {
  const {kind, text, label, name, net, output} = look(item), called = net ? "" : label ?? name;
  const lines = [clipped(called ? `${called} · ${short(kind)}` : short(kind), LONGEST)];
  if (text) lines.push(clipped(text, LONGEST));
  if (modulesIn(item)) lines.push(counted(look(item).modules, "module"));
  if (output) lines.push("→ " + clipped(output, LONGEST));
  return lines;
}

function measured(item, state, depth) {
  const lines = linesOf(item), folds = modulesIn(item) > 0;
  const width = Math.max(...lines.map((line, i) => widthOf(line, i ? FONT : BOLD) + (i || !folds ? 0 : 16))) + 2 * SIDE;
  if (!folds || !state.open.has(item) || depth > DEEPEST) {
    return {item, lines, folds, width: Math.max(width, 80), height: lines.length * LINE + 10};
  }
  const inner = flowOf(item, state, depth), plan = arranged(inner.boxes, inner.edges, inner.layers);
  return {item, lines, folds, inner, plan, width: Math.max(width, plan.width + 2 * SIDE), height: HEAD + plan.height + inner.end};
}

function small(text, more) {
  return {text, more, width: widthOf(text, FONT) + 20, height: 22};
}

// The boxes in a module, and which takes whose output. Arrows begin and end at the frame.
function flowOf(item, state, depth) {
  const {flow, steps} = look(item), count = Math.min(modulesIn(item), state.shown(item, PIECE));
  const box = place => measured(first[item] + place, state, depth + 1);
  if (flow === "graph") return graphOf(item, steps, count, box);
  const inside = Array.from({length: count}, (_, place) => box(place));
  const left = look(item).modules - count;
  if (left) inside.push(small(`… ${counted(left, "more module")}`, item));
  if (flow === "loose") {
    const perRow = Math.min(6, Math.ceil(Math.sqrt(inside.length)));
    return {boxes: [{width: 0, height: 0}, ...inside], edges: [], layers: [0, ...inside.map((_, i) => 1 + Math.floor(i / perRow))], end: SIDE};
  }
  const port = {width: 0, height: 0}, boxes = [port, ...inside, {...port}], last = boxes.length - 1;
  const numbers = inside.map((_, i) => i + 1);
  const edges = flow === "chain"
    ? [0, ...numbers].map(from => [from, from + 1])
    : numbers.flatMap(number => [[0, number], [number, last]]);
  return {boxes, edges, end: 0};
}

// A graph in the order of its steps: as many as have the modules that are shown.
function graphOf(item, steps, count, box) {
  let end = steps.findIndex(step => step[0] >= count);
  if (end < 0) end = steps.length;
  const boxes = steps.slice(0, end).map(([place, label]) => (place < 0 ? small(label) : box(place)));
  const edges = steps.slice(0, end).flatMap(([, , sources], number) => sources.filter(source => source < end).map(source => [source, number]));
  if (end < steps.length) {
    boxes.push(small(`… ${counted(look(item).modules - count, "more module")}`, item));
    const open = new Set(steps.slice(end).flatMap(step => step[2]).filter(source => source < end));
    edges.push(...[...open].map(source => [source, end]));
  }
  return {boxes: [{width: 0, height: 0}, ...boxes], edges: edges.map(edge => edge.map(number => number + 1)), end: SIDE,
    layers: [0, ...[...layersOf(boxes.length, edges)].map(layer => layer + 1)]};
}

// A box or frame with its top left corner at a place.
function drawnBox(box, x, y, state) {
  if (box.item === undefined) return drawnSmall(box, x, y);
  const about = look(box.item), isShared = about.same !== undefined;
  const classes = ["box", family(about.kind)];
  if (box.folds) classes.push("folds");
  if (isShared) classes.push("shared");
  if (state.chosen === box.item) classes.push("chosen");
  if (box.inner) classes.push("frame");
  const group = drawn("g", {class: classes.join(" "), transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`});
  const head = drawn("g", {class: "head", "data-item": box.item, tabindex: 0, role: "button"});
  head.setAttribute("aria-label", `${nameOf(box.item)} ${box.lines.join(", ")}`);
  if (box.folds) head.setAttribute("aria-expanded", Boolean(box.inner));
  const {width, height} = box;
  if (box.folds && !box.inner) group.append(drawn("rect", {x: 3, y: 3, width, height, rx: 6, class: "behind"}));
  group.append(drawn("rect", {width, height, rx: 6, class: "body"}), head);
  head.append(drawn("rect", {width, height: box.inner ? HEAD : height, rx: 6, class: "hit"}));
  head.append(drawn("title", {}, `${nameOf(box.item)}: ${about.kind} ${about.text ?? ""}${isShared ? " (shared: told elsewhere)" : ""}`));
  const shown = box.inner ? box.lines.slice(0, 1) : box.lines;
  if (box.folds) head.append(drawn("text", {x: SIDE, y: LINE + 4, class: "mark"}, box.inner ? "▾" : "▸"));
  shown.forEach((line, i) => {
    const indent = box.folds && i === 0 ? 16 : 0;
    head.append(drawn("text", {x: SIDE + indent, y: (i + 1) * LINE + 4, class: i ? "more" : "name"}, line));
  });
  if (box.inner) {
    const {plan, inner} = box, left = (width - plan.width) / 2;
    const inside = drawn("g", {transform: `translate(${left.toFixed(1)},${HEAD})`});
    plan.ways.forEach((d, edge) => {
      const target = inner.boxes[inner.edges[edge][1]];
      inside.append(drawn("path", {d, class: target.height ? "arrow" : "arrow ends"}));
    });
    inner.boxes.forEach((each, i) => {
      if (each.height) inside.append(drawnBox(each, plan.x[i] - each.width / 2, plan.y[i], state));
    });
    group.append(inside);
  }
  return group;
}

function drawnSmall(box, x, y) {
  const group = drawn("g", {class: box.more === undefined ? "small" : "small rest", transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`});
  if (box.more !== undefined) for (const [key, value] of [["data-more", box.more], ["tabindex", 0], ["role", "button"]]) group.setAttribute(key, value);
  group.append(drawn("rect", {width: box.width, height: box.height, rx: 11}));
  group.append(drawn("text", {x: box.width / 2, y: 15, "text-anchor": "middle"}, box.text));
  return group;
}

// The picture of a module with what goes in and comes out.
function picture(top, state) {
  const about = look(top), box = measured(top, state, 0);
  const ends = [about.input && `input ${about.input.replaceAll("x", "×")}`, about.output && `output ${about.output}`];
  const boxes = [ends[0] && small(clipped(ends[0], 60)), box, ends[1] && small(clipped(ends[1], 60))].filter(Boolean);
  const edges = boxes.slice(1).map((_, i) => [i, i + 1]);
  const plan = arranged(boxes, edges), width = plan.width + 24, height = plan.height + 24;
  const svg = drawn("svg", {viewBox: `-12 -12 ${width.toFixed(1)} ${height.toFixed(1)}`, class: "net"});
  const tip = drawn("marker", {id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto"});
  tip.append(drawn("path", {d: "M0 0.5 8 4 0 7.5z"}));
  svg.append(drawn("defs", {}, tip));
  plan.ways.forEach(d => svg.append(drawn("path", {d, class: "arrow"})));
  boxes.forEach((each, i) => svg.append(drawnBox(each, plan.x[i] - each.width / 2, plan.y[i], state)));
  return {svg, width, height};
}
