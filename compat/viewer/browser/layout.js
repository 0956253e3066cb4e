// Boxes in layers from the top down, and the arrows between them. An arrow over several layers is
// led through a bend, a box without height, in each of those between.

const GAP = 18, STEP = 26, BEND = 6;

// boxes: {width, height}; edges: pairs of their numbers; layers: those of the boxes, if they are given.
function arranged(boxes, edges, layers = layersOf(boxes.length, edges)) {
  const layer = [...layers], width = boxes.map(box => box.width), height = boxes.map(box => box.height);
  const paths = edges.map(([from, to]) => {
    const path = [from];
    for (let between = layer[from] + 1; between < layer[to]; between++) {
      path.push(layer.length);
      layer.push(between);
      width.push(BEND);
      height.push(0);
    }
    return [...path, to];
  });
  const above = layer.map(() => []), under = layer.map(() => []);
  for (const path of paths) for (let i = 1; i < path.length; i++) {
    under[path[i - 1]].push(path[i]);
    above[path[i]].push(path[i - 1]);
  }
  const rows = [];
  layer.forEach((place, box) => (rows[place] ??= []).push(box));
  const x = new Float64Array(layer.length);
  for (const row of rows) place(row, row.map(() => 0), x, width);
  for (let sweep = 0; sweep < 10; sweep++) {
    const down = sweep % 2 === 0, near = down ? above : under;
    for (const row of down ? rows : [...rows].reverse()) {
      const wanted = new Map(row.map(box => [box, near[box].length ? mean(near[box].map(other => x[other])) : x[box]]));
      if (sweep < 6) row.sort((a, b) => wanted.get(a) - wanted.get(b));
      place(row, row.map(box => wanted.get(box)), x, width);
    }
  }
  return finished(rows, paths, x, width, height);
}

function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

// The boxes of a layer near the wanted places, in order and side by side.
function place(row, wanted, x, width) {
  let right = -Infinity, moved = 0;
  row.forEach((box, i) => {
    x[box] = Math.max(wanted[i], right + GAP + width[box] / 2);
    right = x[box] + width[box] / 2;
    moved += wanted[i] - x[box];
  });
  for (const box of row) x[box] += moved / row.length;
}

// Where everything stands: the middle and the top of each box, and the way of each arrow, which is
// straight through the layers and bent between them.
function finished(rows, paths, x, width, height) {
  let left = Infinity, right = -Infinity, bottom = 0;
  const y = new Float64Array(x.length), layerOf = new Int32Array(x.length), layers = [];
  rows.forEach((row, number) => {
    const highest = Math.max(...row.map(box => height[box]));
    for (const box of row) {
      layerOf[box] = number;
      y[box] = bottom;
      left = Math.min(left, x[box] - width[box] / 2);
      right = Math.max(right, x[box] + width[box] / 2);
    }
    layers.push([bottom, bottom + highest]);
    bottom += highest + (number < rows.length - 1 ? STEP : 0);
  });
  for (let box = 0; box < x.length; box++) x[box] -= left;
  const ways = paths.map(path => {
    const last = path.length - 1;
    let at = y[path[0]] + height[path[0]], way = `M${x[path[0]].toFixed(1)},${at.toFixed(1)}`;
    path.forEach((box, i) => {
      const [top, end] = layers[layerOf[box]], next = i < last ? end : y[box];
      if (i) {
        const before = path[i - 1], middle = ((at + top) / 2).toFixed(1);
        way += `C${x[before].toFixed(1)},${middle} ${x[box].toFixed(1)},${middle} ${x[box].toFixed(1)},${top.toFixed(1)}`;
        at = top;
      }
      // The head of an arrow has the direction of the last stretch, which must have a length.
      if (Math.abs(next - at) > 0.1) way += `V${next.toFixed(1)}`;
      at = next;
    });
    return way;
  });
  return {x, y, width: right - left, height: bottom, ways};
}

// For each box the length of the longest way to it; boxes of a cycle stay in the first layer.
function layersOf(count, edges) {
  const targets = Array.from({length: count}, () => []), missing = new Int32Array(count), layer = new Int32Array(count);
  for (const [from, to] of edges) {
    targets[from].push(to);
    missing[to]++;
  }
  const ready = [];
  for (let box = 0; box < count; box++) if (!missing[box]) ready.push(box);
  for (const box of ready) for (const target of targets[box]) {
    layer[target] = Math.max(layer[target], layer[box] + 1);
    if (!--missing[target]) ready.push(target);
  }
  return layer;
}
