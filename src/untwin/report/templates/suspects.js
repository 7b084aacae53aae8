// The labels that look wrong: page by page, searched, downloaded as a table for `untwin relabel`.
import { byPosition, data, linkToClass, names } from "./data.js";
import { count, h, link, name, percent, times } from "./dom.js";

const PAGE = 25;
const { suspects, total } = data.suspects;
const HEADER = ["id", "label", "suggested", "belief", "text", "author", "note", "finding"];
// What a spreadsheet would run gets an apostrophe before it, which untwin takes away again.
const RUNS = /^'*(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠﹦﹢﹣﹫])/u;
const NUMBER = /^[+-](?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;

const byRow = new Map([...byPosition.values()].map((one) => [one.id, one.position]));
const searching = { wanted: "", page: 0 };

function csvCell(value) {
  const text = String(value);
  const safe = RUNS.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

const csvLine = (one) => [one.row, names[one.label], names[one.rather], one.belief, one.text, "", "", one.finding].map(csvCell).join(",");

function downloadSuspects() {
  const content = [HEADER.join(","), ...suspects.map(csvLine), ""].join("\r\n");
  const address = URL.createObjectURL(new Blob(["\ufeff", content], { type: "text/csv" }));
  const anchor = h("a", { href: address, download: "suspects.csv", hidden: true });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function foundSuspects() {
  const wanted = searching.wanted.toLowerCase();
  if (!wanted) return suspects;
  return suspects.filter((one) => [one.row, names[one.label], names[one.rather], one.text].some((part) => String(part).toLowerCase().includes(wanted)));
}

function suspectRow(one) {
  const where = byRow.get(one.row);
  return h("tr", {},
    h("td", {}, where === undefined ? name(one.row) : link(`document-${where}`, name(one.row))),
    h("td", {}, linkToClass(one.label)),
    h("td", {}, linkToClass(one.rather), h("span", { class: "soft small" }, ` ${percent(one.belief, 0)}`)),
    h("td", {}, h("div", { class: "told", dir: "auto" }, one.text || "no text kept")));
}

function drawSuspects(body, told, buttons) {
  const rows = foundSuspects(), pages = Math.max(Math.ceil(rows.length / PAGE), 1);
  searching.page = Math.min(searching.page, pages - 1);
  const first = searching.page * PAGE;
  body.replaceChildren(...rows.slice(first, first + PAGE).map(suspectRow));
  const range = rows.length ? `${count(first + 1)} to ${count(Math.min(first + PAGE, rows.length))} of ` : "";
  told.textContent = `${range}${times(rows.length, "label", "labels")}${rows.length < total ? ` (${count(total)} in all)` : ""}`;
  buttons[0].disabled = searching.page === 0;
  buttons[1].disabled = searching.page === pages - 1;
}

export function startSuspects() {
  const holder = document.getElementById("suspect-list");
  if (!holder) return;
  const body = h("tbody"), told = h("span", { role: "status", class: "soft small" });
  const turn = (step) => () => { searching.page += step; redraw(); };
  const buttons = [["Previous", -1], ["Next", 1]].map(([text, step]) => h("button", { type: "button", class: "plain", on: { click: turn(step) } }, text));
  const redraw = () => drawSuspects(body, told, buttons);
  const search = h("input", { type: "search", id: "suspect-search", placeholder: "row, class or text", "aria-label": "Search these labels", autocomplete: "off", on: { input: ({ target }) => { searching.wanted = target.value; searching.page = 0; redraw(); } } });
  const save = h("button", { type: "button", class: "plain", id: "suspect-download", on: { click: downloadSuspects } }, "Download as CSV");
  const heads = ["Row", "Label", "Rather", "Text"].map((text) => h("th", { scope: "col" }, text));
  holder.append(h("div", { class: "bar-of-tools" }, search, told, ...buttons, save),
    h("table", { class: "suspects" }, h("thead", {}, h("tr", {}, ...heads)), body));
  redraw();
}
