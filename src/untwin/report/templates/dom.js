// Elements made of text: nothing here can turn data into markup.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") Object.entries(value).forEach(([event, act]) => element.addEventListener(event, act));
    else if (name === "width") element.style.width = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// A name may break after the signs that join its words.
export const name = (text) => h("bdi", {}, ...String(text).split(/(?<=[_/.-])/).flatMap((part, i) => (i ? [h("wbr"), part] : [part])));
export const link = (where, ...what) => h("a", { href: `#${where}` }, ...what);
export const percent = (share, digits = 1) => (share === null ? "–" : `${(100 * share).toFixed(digits)}%`);
export const count = (number) => number.toLocaleString("en");
export const times = (number, one, many) => `${count(number)} ${number === 1 ? one : many}`;

// A table; `columns` are {title, numeric?, cell(row)}.
export function table(columns, rows, caption) {
  const line = (row) => h("tr", {}, ...columns.map((c) => h("td", { class: c.numeric ? "n" : null }, c.cell(row))));
  const head = columns.map((c) => h("th", { scope: "col", class: c.numeric ? "n" : null }, c.title));
  return h("table", {}, caption ? h("caption", {}, caption) : null,
    h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows.map(line)));
}

// Rows in portions: a button asks for the next ones.
export function inPortions(rows, size, draw, into) {
  let shown = 0;
  const more = h("button", { type: "button", class: "plain", on: { click: next } });
  function next() {
    draw(rows.slice(shown, shown + size), shown);
    shown = Math.min(shown + size, rows.length);
    more.textContent = `Show more (${count(rows.length - shown)} left)`;
    more.hidden = shown === rows.length;
  }
  into.append(more);
  next();
}
