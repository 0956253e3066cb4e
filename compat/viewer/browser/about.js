// What is told of the chosen item.

const PREVIEWS = 8;

function section(title, ...inside) {
  return made("section", "", made("h3", "", title), ...inside);
}

function listed(pairs) {
  const body = made("tbody");
  for (const [key, value] of pairs) body.append(made("tr", "", made("th", "", made("bdi", "", key)), made("td", "", made("bdi", "", value))));
  return made("table", "fields", body);
}

function way(item, state) {
  const links = wayTo(item).slice(0, -1).map(each => button(nameOf(each), () => state.choose(each)));
  return links.length ? made("p", "way", ...links.flatMap(link => [link, " › "])) : undefined;
}

function sums(item) {
  const about = look(item), pairs = [];
  if (parameters(item)) pairs.push(["parameters", parameters(item).toLocaleString("en")]);
  if (bytes(item)) pairs.push(["memory", memory(bytes(item))]);
  if (about.input) pairs.push(["input", about.input.replaceAll("x", "×")]);
  if (about.output) pairs.push(["output", about.output]);
  if (about.multiplyAdds) pairs.push(["multiply-adds", about.multiplyAdds.toLocaleString("en")]);
  return pairs.length ? listed(pairs) : undefined;
}

function aboutTensor(tensor, alone) {
  const size = `${tensor.kind.replace(/^torch\./, "")} ${tensor.sizes}, ${memory(tensor.bytes)}`;
  const parts = [];
  if (tensor.values) parts.push(made("p", "", tensor.values.join(", ")));
  if (tensor.counts) parts.push(histogram(tensor));
  if (tensor.counts) {
    const said = [`mean ${tidy(tensor.mean)}`, `deviation ${tidy(tensor.deviation)}`];
    if (tensor.zeros) said.push(`${(100 * tensor.zeros / tensor.sample).toFixed(1)} % zeros`);
    parts.push(made("p", "quiet", said.join(", ")));
  }
  if (tensor.odd) parts.push(made("p", "warning", `${counted(tensor.odd, "element")} of ${tensor.sample.toLocaleString("en")} infinite or no numbers`));
  return section(alone ? "elements" : tensor.name, made("p", "quiet", size), ...parts);
}

function sheet(pictures) {
  const image = made("img", "sheet"), room = at("about").clientWidth - 36;
  const times = Math.max(1, Math.floor(Math.min(48 / pictures.tile, room / pictures.width)));
  image.src = pictures.address;
  image.width = pictures.width * times;
  image.height = pictures.height * times;
  image.alt = "pictures of the tensor";
  return image;
}

function recorded({columns, rows, count, curves}) {
  const body = made("tbody"), head = made("tr", "", ...columns.map(name => made("th", "", made("bdi", "", name))));
  for (const row of rows) body.append(made("tr", "", ...row.map(value => made("td", "", made("bdi", "", value)))));
  const table = made("div", "wide", made("table", "records", made("thead", "", head), body));
  const more = count > rows.length ? made("p", "quiet", `and ${counted(count - rows.length, "more record")}`) : undefined;
  const pictures = (curves ?? []).map(each => section(each.name, curve(each, each.name)));
  return [section(counted(count, "record"), table, more), ...pictures];
}

// Curves and pictures of what lies in a table show with it.
function previews(item, state) {
  const found = [];
  for (let i = first[item]; i < first[item] + below(item) && found.length < PREVIEWS; i++) {
    const {curve: drawing, pictures, type} = look(i);
    if (type === "module" || !(drawing || pictures)) continue;
    const title = button(nameOf(i), () => state.choose(i));
    found.push(section(title, pictures ? sheet(pictures) : curve(drawing, nameOf(i))));
  }
  return found;
}

function drawAbout(place, state) {
  const item = state.chosen, about = look(item), parts = [];
  const kind = made("bdi", "kind", about.kind);
  parts.push(way(item, state), made("h2", "", made("bdi", "", nameOf(item)), made("bdi", "label", about.label ?? ""), kind));
  if (about.text) parts.push(made("p", "quiet", made("bdi", "", about.text)));
  if (about.same !== undefined) parts.push(made("p", "", "The same as ", button(wayTo(about.same).map(nameOf).join(" › "), () => state.choose(about.same))));
  parts.push(sums(item));
  if (about.reason) parts.push(made("p", "quiet", `No multiply-adds: ${about.reason}`));
  if (about.pictures) parts.push(section(about.type === "module" ? "filters" : "pictures", sheet(about.pictures)));
  if (about.curve) parts.push(section(counted(about.curve.count, "number"), curve(about.curve, nameOf(item))));
  if (about.records) parts.push(...recorded(about.records));
  if (about.fields) {
    const more = about.moreFields ? made("p", "quiet", `and ${about.moreFields.toLocaleString("en")} more`) : undefined;
    parts.push(section(about.type === "table" ? "entries" : "fields", listed(about.fields), more));
  }
  for (const tensor of about.tensors ?? []) parts.push(aboutTensor(tensor, about.type === "tensor"));
  if (about.type !== "module") parts.push(...previews(item, state));
  place.replaceChildren(...parts.filter(Boolean));
  place.scrollTop = 0;
}
