// The table of classes, sortable; the list of documents; the search for a class.
import { classes, documents, linkToClass, names } from "./data.js";
import { count, h, inPortions, name, percent } from "./dom.js";

const COLUMNS = [
  { title: "Class", key: (one) => one.name.toLowerCase(), cell: (one, i) => linkToClass(i) },
  { title: "Rows", numeric: true, key: (one) => one.rows, cell: (one) => count(one.rows) },
  { title: "Precision", numeric: true, key: (one) => one.precision, cell: (one) => percent(one.precision) },
  { title: "Recall", numeric: true, key: (one) => one.recall, cell: (one) => percent(one.recall) },
  { title: "F1", numeric: true, key: (one) => one.f1, cell: (one) => percent(one.f1) },
  { title: "Most confused with", key: (one) => -(one.confused[0] ?? 0), cell: (one) => (one.nearest.length ? linkToClass(one.nearest[0]) : "–") },
  { title: "Doubtful labels", numeric: true, key: (one) => one.n_doubtful, cell: (one) => count(one.n_doubtful) },
];

const sorting = { column: 4, up: true };

function drawClasses() {
  const { key } = COLUMNS[sorting.column];
  const ranked = classes.map((_, i) => i).sort((a, b) => {
    const x = key(classes[a]), y = key(classes[b]);
    return (x < y ? -1 : x > y ? 1 : 0) * (sorting.up ? 1 : -1) || a - b;
  });
  const body = h("tbody");
  const holder = document.getElementById("class-table");
  holder.replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, ...COLUMNS.map(heading))), body));
  inPortions(ranked, 60, (part) => body.append(...part.map(classRow)), holder);
}

function heading(column, i) {
  const sorted = i === sorting.column ? (sorting.up ? "ascending" : "descending") : null;
  const sort = () => {
    sorting.up = i === sorting.column ? !sorting.up : i === 0 || i >= 2 && i <= 5;
    sorting.column = i;
    drawClasses();
  };
  return h("th", { scope: "col", class: column.numeric ? "n" : null, "aria-sort": sorted },
    h("button", { type: "button", on: { click: sort } }, column.title));
}

const classRow = (i) => h("tr", {}, ...COLUMNS.map((column) => h("td", { class: column.numeric ? "n" : null }, column.cell(classes[i], i))));

function documentRow(one) {
  return h("a", { class: "excerpt", href: `#document-${one.position}` },
    h("span", { class: "soft small" }, "row ", name(one.id), ": ", name(names[one.true]),
      one.true === one.said ? " answered right" : " taken for ", one.true === one.said ? "" : name(names[one.said]), `, ${percent(one.confidence, 0)} sure`),
    h("span", { dir: "auto" }, one.text ? `${one.text.slice(0, 160)}${one.text.length > 160 ? "…" : ""}` : "no text kept"));
}

function drawDocuments() {
  const holder = document.getElementById("document-list");
  const surest = [...documents].sort((a, b) => b.confidence - a.confidence);
  inPortions(surest, 10, (part) => part.forEach((one) => holder.insertBefore(documentRow(one), holder.lastChild)), holder);
}

export function startLists() {
  document.getElementById("class-names").append(...names.map((one) => h("option", { value: one })));
  const number = new Map(names.map((one, i) => [one, i]));
  document.getElementById("find").addEventListener("change", ({ target }) => {
    if (number.has(target.value)) location.hash = `class-${number.get(target.value)}`;
  });
  drawClasses();
  drawDocuments();
}
