// What the page's data says of each item. Items are numbered; 0 is the file's value.

const data = JSON.parse(document.getElementById("data").textContent);

// Those that lie in an item stand together, in the order of the items.
const first = new Int32Array(data.nodes.length);
const parent = new Int32Array(data.nodes.length).fill(-1);
for (let item = 0, next = 1; item < first.length; item++) {
  first[item] = next;
  next += below(item);
  parent.fill(item, first[item], next);
}

function row(item) {
  return data.rows[data.nodes[item]];
}

function look(item) {
  return data.looks[row(item)[0]];
}

function below(item) {
  return row(item)[1];
}

function rest(item) {
  return row(item)[2];
}

function parameters(item) {
  return row(item)[3];
}

function bytes(item) {
  return row(item)[4];
}

function nameOf(item) {
  if (!item) return data.name;
  return look(item).name ?? String(item - first[parent[item]] + 1);
}

// The items around an item, from the outermost, and itself.
function wayTo(item) {
  const way = [];
  for (; item >= 0; item = parent[item]) way.push(item);
  return way.reverse();
}

// The outermost module around an item, or -1.
function netOf(item) {
  return wayTo(item).find(each => look(each).type === "module") ?? -1;
}

// The modules in a module that are told.
function modulesIn(item) {
  return Math.min(look(item).modules ?? 0, below(item));
}

// The items whose names, classes or fields hold a text, in the order of the file.
function search(text, most) {
  const wanted = text.toLowerCase();
  const fits = data.looks.map(each => {
    const fields = (each.fields ?? []).map(field => field[0]);
    const said = [each.name, each.label, each.kind, each.text, ...fields, ...(each.records?.columns ?? [])];
    return said.some(part => part?.toLowerCase().includes(wanted));
  });
  const found = [];
  let count = 0;
  for (let item = 0; item < first.length; item++) {
    if (!fits[row(item)[0]] && !(item === 0 && data.name.toLowerCase().includes(wanted))) continue;
    if (found.length < most) found.push(item);
    count++;
  }
  return {found, count};
}
