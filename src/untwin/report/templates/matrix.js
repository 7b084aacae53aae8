// The confusion matrix under the hands of a reader: pointing, moving, zooming, opening a cell, the same as a table.
import { boxes, clamp, detail, draw, lineAt, many, MOST_NAMED, n, overview, place, shown, state } from "./canvas.js";
import { matrix } from "./data.js";
import { count, inPortions, link, name, percent, table } from "./dom.js";

const FEWEST_SHOWN = 10;
const tip = document.getElementById("tip");
const statusLine = document.getElementById("status");

// ---------------------------------------------------------------- saying what is under the pointer

function described(row, column) {
  const line = lineAt(row), said = lineAt(column);
  const counted = shown().get(line, said), support = shown().support[line];
  const share = support ? `, ${count(counted)} of ${count(support)} rows (${percent(counted / support)})` : "";
  return line === said
    ? [name(matrix.lines[line]), ` answered right${share}`]
    : [name(matrix.lines[line]), " taken for ", name(matrix.lines[said]), share];
}

function under(event, canvas, box, row, column, size) {
  const rect = canvas.getBoundingClientRect();
  const x = Math.floor((event.clientX - rect.left - box.left) / box.cell);
  const y = Math.floor((event.clientY - rect.top - box.top) / box.cell);
  return x < 0 || y < 0 || x >= size || y >= size ? null : { row: row + y, column: column + x };
}

const inDetail = (event) => under(event, detail, boxes.detail, state.row, state.column, state.size);
const inOverview = (event) => under(event, overview, boxes.overview, 0, 0, n);

function hover(at, event) {
  tip.hidden = !at;
  if (!at) return;
  tip.replaceChildren(...described(at.row, at.column));
  tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - 260)}px`;
  tip.style.top = `${event.clientY + 16}px`;
}

// ---------------------------------------------------------------- moving

function pointAt(row, column) {
  state.cursor = { row: clamp(row, 0, n - 1), column: clamp(column, 0, n - 1) };
  const inside = (at, start) => clamp(start, at - state.size + 1, at);
  state.row = inside(state.cursor.row, state.row);
  state.column = inside(state.cursor.column, state.column);
  statusLine.replaceChildren(...described(state.cursor.row, state.cursor.column));
  draw();
}

function centreOn(row, column) {
  state.row = clamp(row - (state.size >> 1), 0, n - state.size);
  state.column = clamp(column - (state.size >> 1), 0, n - state.size);
  draw();
}

function zoomTo(size) {
  const row = state.row + (state.size >> 1), column = state.column + (state.size >> 1);
  state.size = clamp(size, Math.min(FEWEST_SHOWN, n), Math.min(MOST_NAMED, n));
  centreOn(row, column);
}

function openCell({ row, column }) {
  pointAt(row, column);
  const line = lineAt(row), said = lineAt(column);
  location.hash = line === said && !matrix.collapsed ? `class-${line}` : `cell-${line}-${said}`;
}

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function moveCursor(event) {
  const { row, column } = state.cursor ?? { row: state.row, column: state.column };
  if (ARROWS[event.key]) pointAt(row + ARROWS[event.key][0], column + ARROWS[event.key][1]);
  else if (event.key === "Enter" && state.cursor) openCell(state.cursor);
  else return;
  event.preventDefault();
}

function moveFrame(event) {
  const step = Math.max(1, state.size >> 2);
  if (ARROWS[event.key]) {
    const half = state.size >> 1;
    centreOn(state.row + half + step * ARROWS[event.key][0], state.column + half + step * ARROWS[event.key][1]);
  } else if (event.key === "+") zoomTo(state.size - 10);
  else if (event.key === "-") zoomTo(state.size + 10);
  else return;
  event.preventDefault();
}

// Show where a class stands; called by the details of a class.
export function showClass(number) {
  const line = matrix.node_of[number];
  const at = place[line];
  centreOn(at, at);
  pointAt(at, at);
  document.getElementById("matrix").scrollIntoView();
}

// ---------------------------------------------------------------- the same as a table

function drawTwin() {
  const { truth, predicted, count: counts, support } = shown();
  const wrong = truth.map((_, i) => i).filter((i) => truth[i] !== predicted[i]).sort((a, b) => counts[b] - counts[a]);
  const columns = [
    { title: "True class", cell: (i) => name(matrix.lines[truth[i]]) },
    { title: "Taken for", cell: (i) => name(matrix.lines[predicted[i]]) },
    { title: "Rows", numeric: true, cell: (i) => count(counts[i]) },
    { title: "Of its rows", numeric: true, cell: (i) => percent(counts[i] / support[truth[i]]) },
    { title: "", cell: (i) => link(`cell-${truth[i]}-${predicted[i]}`, "documents") },
  ];
  const into = document.getElementById("twin-table");
  into.replaceChildren();
  inPortions(wrong, 200, (rows, before) => {
    const part = table(columns, rows, before ? null : `${shown().title}: errors, the most frequent first`);
    into.insertBefore(part, into.lastChild);
  }, into);
}

// ---------------------------------------------------------------- wiring

export function startMatrix() {
  document.getElementById("overview-box").hidden = !many;
  document.getElementById("zoom").hidden = !many;
  document.getElementById("tools").addEventListener("change", ({ target }) => {
    state[target.name] = target.name === "layer" ? Number(target.value) : target.value;
    state.cursor = null;
    statusLine.textContent = "";
    draw();
    if (document.getElementById("twin").open) drawTwin();
  });
  document.getElementById("zoom").addEventListener("click", ({ target }) => {
    if (target.value === "in") zoomTo(state.size - 10);
    if (target.value === "out") zoomTo(state.size + 10);
  });
  document.getElementById("twin").addEventListener("toggle", ({ target }) => target.open && drawTwin());
  detail.addEventListener("pointermove", (event) => hover(inDetail(event), event));
  detail.addEventListener("click", (event) => { const at = inDetail(event); if (at) openCell(at); });
  detail.addEventListener("keydown", moveCursor);
  const drag = (event) => { const at = inOverview(event); if (at) centreOn(at.row, at.column); };
  overview.addEventListener("pointerdown", drag);
  overview.addEventListener("pointermove", (event) => { if (event.buttons) drag(event); hover(inOverview(event), event); });
  overview.addEventListener("keydown", moveFrame);
  for (const canvas of [detail, overview]) canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  window.addEventListener("resize", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  window.matchMedia("print").addEventListener("change", draw);
  draw();
}
