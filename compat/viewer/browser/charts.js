// Histograms and curves, as SVG.

const CHART = {width: 340, left: 46, right: 16, bottom: 18};

function tidy(number) {
  const size = Math.abs(number);
  if (size && (size < 1e-3 || size >= 1e6)) return number.toExponential(1).replace("e+", "e");
  return String(Number(number.toPrecision(4)));
}

// Round numbers between two others, about as many as wanted.
function ticks(low, high, wanted) {
  const step = 10 ** Math.floor(Math.log10((high - low) / wanted));
  const size = [1, 2, 5, 10].map(times => times * step).find(each => (high - low) / each <= wanted);
  const found = [];
  for (let at = Math.ceil(low / size) * size; at <= high + size * 1e-9; at += size) found.push(Math.abs(at) < size * 1e-9 ? 0 : at);
  return found;
}

function chart(height, label) {
  const box = {viewBox: `0 0 ${CHART.width} ${height}`, width: CHART.width, height, class: "chart", role: "img", "aria-label": label};
  return drawn("svg", box);
}

function note(x, y, text, anchor) {
  return drawn("text", {x, y, "text-anchor": anchor}, text);
}

function histogram(tensor) {
  const height = 92, floor = height - CHART.bottom, {counts, low, high} = tensor;
  const svg = chart(height, `histogram of ${tensor.name}`), most = Math.max(...counts);
  const width = (CHART.width - 16) / counts.length;
  counts.forEach((count, i) => {
    const size = count ? Math.max(1, (floor - 4) * count / most) : 0;
    const from = low + (high - low) * i / counts.length, to = low + (high - low) * (i + 1) / counts.length;
    const bar = drawn("rect", {x: 8 + i * width, y: floor - size, width: Math.max(1, width - 1), height: size});
    bar.append(drawn("title", {}, `${tidy(from)} to ${tidy(to)}: ${counted(count, "element")}`));
    svg.append(bar);
  });
  svg.append(drawn("path", {d: `M8,${floor + 0.5}H${CHART.width - 8}`, class: "axis"}));
  svg.append(note(8, height - 4, tidy(low), "start"), note(CHART.width - 8, height - 4, tidy(high), "end"));
  if (low < 0 && high > 0) {
    const zero = 8 + (CHART.width - 16) * -low / (high - low);
    svg.append(drawn("path", {d: `M${zero},4V${floor}`, class: "zero"}));
    if (zero > 60 && zero < CHART.width - 60) svg.append(note(zero, height - 4, "0", "middle"));
  }
  return svg;
}

function curve(about, label) {
  const height = 150, floor = height - CHART.bottom, svg = chart(height, `curve of ${label}`);
  const points = about.x.map((x, i) => [x, about.y[i]]);
  const known = points.filter(([x, y]) => x !== null && y !== null);
  if (!known.length) return made("p", "quiet", "no finite numbers");
  const range = place => {
    const numbers = known.map(point => point[place]), low = Math.min(...numbers), high = Math.max(...numbers);
    return low < high ? [low, high] : [low - Math.abs(low || 1) / 2, high + Math.abs(high || 1) / 2];
  };
  const [left, right] = range(0), [low, high] = range(1);
  const across = x => CHART.left + (CHART.width - CHART.left - CHART.right) * (x - left) / (right - left);
  const up = y => floor - (floor - 8) * (y - low) / (high - low);
  for (const y of ticks(low, high, 4)) {
    svg.append(drawn("path", {d: `M${CHART.left},${up(y)}H${CHART.width - CHART.right}`, class: "grid"}));
    svg.append(note(CHART.left - 6, up(y) + 4, tidy(y), "end"));
  }
  for (const x of ticks(left, right, 5)) svg.append(note(across(x), height - 4, tidy(x), "middle"));
  let way = "", pen = "M";
  for (const [x, y] of points) {
    if (x === null || y === null) pen = "M"; else { way += `${pen}${across(x).toFixed(1)},${up(y).toFixed(1)}`; pen = "L"; }
  }
  svg.append(drawn("path", {d: way, class: "line"}));
  if (known.length <= 30) for (const [x, y] of known) {
    svg.append(drawn("circle", {cx: across(x), cy: up(y), r: 2.5}, drawn("title", {}, `${tidy(x)}: ${tidy(y)}`)));
  }
  return svg;
}
