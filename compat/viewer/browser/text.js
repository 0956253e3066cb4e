// Elements and text. Text of the file becomes text of the page by textContent alone.

const SVG = "http://www.w3.org/2000/svg";

function made(kind, className, ...inside) {
  const element = document.createElement(kind);
  if (className) element.className = className;
  element.append(...inside.filter(part => part !== undefined && part !== ""));
  return element;
}

function drawn(kind, attributes, ...inside) {
  const element = document.createElementNS(SVG, kind);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  element.append(...inside);
  return element;
}

function button(text, does, title) {
  const element = made("button", "", text);
  element.type = "button";
  element.onclick = does;
  if (title) element.title = title;
  return element;
}

function counted(number, noun) {
  const plural = noun.endsWith("y") ? noun.slice(0, -1) + "ies" : noun + "s";
  return number.toLocaleString("en") + " " + (number === 1 ? noun : plural);
}

function scaled(number, units, base) {
  let unit = 0;
  for (; number >= base && unit < units.length - 1; unit++) number /= base;
  const digits = unit && number < 99.95 ? 1 : 0;
  return number.toFixed(digits) + units[unit];
}

function memory(number) {
  return scaled(number, [" B", " kB", " MB", " GB", " TB"], 1000);
}

function roughly(number) {
  return scaled(number, ["", " k", " M", " G", " T"], 1000);
}

function short(kind) {
  return kind.replace(/^nn\./, "");
}

function clipped(text, most) {
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}
