// Details at the side: a class, a cell of the matrix, a document. The address says which: #class-3, #cell-3-5, #document-17.
import { byPosition, classes, documentsOf, linkToClass, matrix, names, ownLayer } from "./data.js";
import { count, h, link, name, percent, table, times } from "./dom.js";
import { showClass } from "./matrix.js";

const panel = document.getElementById("inspector");
let cameFrom = null;

const meter = (share, hot) => h("span", { class: "track" }, h("span", { class: hot ? "meter hot" : "meter", width: `${Math.round(8000 * Math.min(share, 1)) / 1000}rem` }));
const fact = (title, value) => h("div", {}, h("dt", {}, title), h("dd", {}, value));
const subheading = (text) => h("h3", {}, text);

function excerpt(one) {
  const told = ["row ", name(one.id), `, ${percent(one.confidence, 0)} sure`];
  return h("a", { class: "excerpt", href: `#document-${one.position}` },
    h("span", { class: "soft small" }, ...told, ": ", name(names[one.true]), " taken for ", name(names[one.said])),
    h("span", { dir: "auto" }, one.text ? `${one.text.slice(0, 240)}${one.text.length > 240 ? "…" : ""}` : "no text kept"));
}

// Lines of the matrix that a line is taken for (or that are taken for it), most rows first.
function flows(line, from, to) {
  const found = [];
  from.forEach((start, i) => { if (start === line && to[i] !== line) found.push([to[i], ownLayer.count[i]]); });
  return found.sort((a, b) => b[1] - a[1]).slice(0, 8);
}

function flowTable(caption, found, total, where) {
  if (!found.length) return null;
  const columns = [
    { title: "Class", cell: ([line]) => link(where(line), name(matrix.lines[line])) },
    { title: "Rows", numeric: true, cell: ([, rows]) => count(rows) },
    { title: "Share", numeric: true, cell: ([, rows]) => percent(rows / total) },
    { title: "", cell: ([, rows]) => meter(rows / found[0][1], true) },
  ];
  return table(columns, found, caption);
}

function classDetails(number) {
  const one = classes[number];
  if (!one) return null;
  const line = matrix.node_of[number];
  const doubtful = one.doubtful.map((position) => byPosition.get(position)).filter(Boolean);
  const { truth, predicted } = ownLayer;
  return [
    h("p", { class: "soft small" }, "Class"),
    h("h2", {}, name(one.name)),
    one.definition ? h("p", { class: "definition", dir: "auto" }, one.definition) : null,
    h("dl", { class: "facts" }, fact("Rows", count(one.rows)), fact("Precision", percent(one.precision)),
      fact("Recall", percent(one.recall)), fact("F1", percent(one.f1))),
    one.terms.length ? h("p", {}, h("span", { class: "soft" }, "Terms: "), name(one.terms.join(", "))) : null,
    h("button", { type: "button", class: "plain", on: { click: () => { close(); showClass(number); } } }, "Show in the matrix"),
    ...(matrix.collapsed ? [] : [
      flowTable("Taken for", flows(line, truth, predicted), one.judged, (other) => `cell-${line}-${other}`),
      flowTable("What is taken for it", flows(line, predicted, truth), one.judged, (other) => `cell-${other}-${line}`),
    ]),
    one.nearest.length ? subheading("Nearest classes") : null,
    one.nearest.length ? table([
      { title: "Class", cell: (i) => linkToClass(one.nearest[i]) },
      { title: "Mixed up", numeric: true, cell: (i) => percent(one.confused[i]) },
    ], one.nearest.map((_, i) => i)) : null,
    one.n_doubtful ? subheading(times(one.n_doubtful, "label looks wrong", "labels look wrong")) : null,
    ...doubtful.map(excerpt),
  ];
}

function cellDetails(line, said) {
  if (!(line in matrix.lines) || !(said in matrix.lines)) return null;
  const oneWay = (t, p) => {
    const found = documentsOf(t, p), rows = ownLayer.get(t, p);
    return [
      h("h3", {}, name(matrix.lines[t]), " taken for ", name(matrix.lines[p])),
      h("p", { class: "soft" }, `${count(rows)} of ${times(ownLayer.support[t], "row", "rows")}`,
        found.length < rows ? `; ${times(found.length, "is", "are")} in this page` : ""),
      ...found.map(excerpt),
    ];
  };
  return [
    h("p", { class: "soft small" }, "Confusion"),
    h("h2", {}, name(matrix.lines[line]), h("span", { class: "soft" }, " and "), name(matrix.lines[said])),
    ...oneWay(line, said),
    ...(line === said ? [] : oneWay(said, line)),
  ];
}

function documentDetails(position) {
  const one = byPosition.get(position);
  if (!one) return null;
  const right = one.true === one.said;
  const strongest = Math.max(...one.evidence.map(([, weight]) => Math.abs(weight)), 1e-9);
  return [
    h("p", { class: "soft small" }, "Row ", name(one.id)),
    h("h2", {}, linkToClass(one.true),
      h("span", { class: "soft" }, right ? " answered right" : " taken for "), right ? null : linkToClass(one.said)),
    one.text ? h("p", { class: "text", dir: "auto" }, one.text) : h("p", { class: "soft" }, "The model keeps no text of this row."),
    table([
      { title: "Class", cell: (i) => linkToClass(one.classes[i]) },
      { title: "Probability", numeric: true, cell: (i) => percent(one.probabilities[i]) },
      { title: "", cell: (i) => meter(one.probabilities[i], one.classes[i] !== one.true) },
    ], one.classes.map((_, i) => i), "What was thought before it was seen"),
    one.evidence.length ? table([
      { title: "Term", cell: ([term]) => name(term) },
      { title: "Speaks for", cell: ([, weight]) => name(names[weight > 0 ? one.said : one.against]) },
      { title: "", cell: ([, weight]) => meter(Math.abs(weight) / strongest, weight > 0) },
    ], one.evidence, h("span", {}, "What adds most to the log-odds, in the model that answers")) : null,
    one.neighbours.length ? subheading("Neighbours, from other folds") : null,
    ...one.neighbours.map((near) => h("div", { class: "excerpt" },
      h("span", { class: "soft small" }, "row ", name(near.id), ", ", name(names[near.label]), `, ${near.similarity.toFixed(2)} alike`,
        near.terms.length ? ": " : "", near.terms.join(", ")),
      near.text ? h("span", { dir: "auto" }, near.text) : null)),
  ];
}

function close() {
  panel.hidden = true;
  if (location.hash) history.pushState(null, "", location.pathname + location.search);
  if (cameFrom) cameFrom.focus();
  cameFrom = null;
}

// Show what the address names; other addresses are sections of the page.
function follow() {
  const [kind, ...numbers] = location.hash.slice(1).split("-");
  const details = { class: classDetails, cell: cellDetails, document: documentDetails }[kind];
  const content = details && numbers.length ? details(...numbers.map(Number)) : null;
  panel.hidden = !content;
  if (!content) return;
  cameFrom ??= document.activeElement;
  const button = h("button", { type: "button", class: "close", "aria-label": "Close", on: { click: close } }, "✕");
  panel.replaceChildren(button, ...content.filter(Boolean));
  panel.scrollTop = 0;
  panel.focus({ preventScroll: true });
}

export function startInspector() {
  window.addEventListener("hashchange", follow);
  window.addEventListener("keydown", (event) => { if (event.key === "Escape" && !panel.hidden) close(); });
  follow();
}
