// Draws the confusion matrix on two canvases: an overview of all lines (when they are many), a detail of at most 60.
import { layers, matrix } from "./data.js";
import { count, percent } from "./dom.js";

export const MOST_NAMED = 60; // lines that still have room for a name
const SMALLEST_BRANCH = 6; // pixels
const SMALLEST_BLOCK = 9;
export const n = matrix.lines.length;
export const many = n > MOST_NAMED;
export const overview = document.getElementById("overview");
export const detail = document.getElementById("detail");

const orders = { tree: matrix.by_tree, size: matrix.by_size, name: matrix.by_name };
export const state = { order: "tree", unit: "rates", layer: 0, row: 0, column: 0, size: Math.min(n, MOST_NAMED), cursor: null };
export const place = new Array(n); // of each line in the current order
export const boxes = {}; // where the matrices stand on their canvases

export const shown = () => layers[state.layer];
export const lineAt = (at) => orders[state.order][at];
export const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

// ---------------------------------------------------------------- colours

function colours() {
  const style = getComputedStyle(document.documentElement);
  const get = (variable) => style.getPropertyValue(variable).trim();
  const triple = (variable) => get(variable).split(/\s+/).map(Number);
  return { ink: get("--ink"), soft: get("--soft"), line: get("--line"), paper: get("--paper"), accent: get("--accent"),
    heat: triple("--heat"), calm: triple("--calm") };
}

const rgba = ([r, g, b], alpha) => `rgb(${r} ${g} ${b} / ${alpha})`;

// The largest error of the layer: the end of the warm scale.
function mostWrong() {
  const { truth, predicted, count: counts, support } = shown();
  let most = 0;
  truth.forEach((line, i) => {
    if (line !== predicted[i]) most = Math.max(most, state.unit === "rates" ? counts[i] / support[line] : counts[i]);
  });
  return most || 1;
}

// How strongly a cell is coloured, from 0 to 1.
function strength(most, line, said, counted) {
  const rate = counted / shown().support[line];
  if (line === said) return 0.08 + 0.62 * rate ** 2;
  return 0.1 + 0.9 * Math.sqrt((state.unit === "rates" ? rate : counted) / most);
}

function paint(palette, most, line, said, counted) {
  return rgba(line === said ? palette.calm : palette.heat, strength(most, line, said, counted));
}

// ---------------------------------------------------------------- drawing

function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.clearRect(0, 0, width, height);
  return pen;
}

const FONT = "px system-ui, sans-serif";

function fitted(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let length = text.length;
  while (length > 1 && pen.measureText(`${text.slice(0, length)}…`).width > width) length -= 1;
  return `${text.slice(0, length)}…`;
}

export function draw() {
  orders[state.order].forEach((line, at) => { place[line] = at; });
  const palette = colours();
  const most = mostWrong();
  if (many) drawOverview(palette, most);
  drawDetail(palette, most);
  const end = state.unit === "rates" ? percent(most) : count(most);
  document.getElementById("scale-most").textContent = `up to ${end}`;
  document.getElementById("zoom-size").textContent = `${state.size} of ${n}`;
}

function drawOverview(palette, most) {
  const side = Math.max(n, 600);
  const tree = state.order === "tree" ? 110 : 0;
  const room = document.getElementById("plots").clientWidth - side - tree - 12;
  const box = { left: room < 60 ? 4 : Math.min(room, 190), top: 4, cell: side / n };
  boxes.overview = box;
  const pen = sized(overview, box.left + side + tree + 8, side + 8);
  frame(pen, palette, box, side);
  const { truth, predicted, count: counts } = shown();
  for (const wrong of [false, true]) { // errors last, and never smaller than the eye can see
    const dot = Math.max(box.cell, wrong ? 2 : 1);
    truth.forEach((line, i) => {
      if ((line !== predicted[i]) !== wrong) return;
      pen.fillStyle = paint(palette, most, line, predicted[i], counts[i]);
      pen.fillRect(box.left + place[predicted[i]] * box.cell, box.top + place[line] * box.cell, dot, dot);
    });
  }
  if (state.order === "tree") {
    drawBlocks(pen, palette, box, 0, 0, n);
    if (box.left > 60) nameBlocks(pen, palette, box);
    drawTree(pen, palette, box.left + side + 6, tree - 12, box.top, box.cell);
  }
  pen.strokeStyle = palette.ink;
  pen.lineWidth = 2;
  pen.strokeRect(box.left + state.column * box.cell, box.top + state.row * box.cell, state.size * box.cell, state.size * box.cell);
}

function frame(pen, palette, box, side) {
  pen.strokeStyle = palette.line;
  pen.lineWidth = 1;
  pen.strokeRect(box.left - 0.5, box.top - 0.5, side + 1, side + 1);
}

function drawDetail(palette, most) {
  const room = Math.max(420, document.getElementById("plots").clientWidth);
  const measure = detail.getContext("2d");
  measure.font = `12${FONT}`;
  const visible = Array.from({ length: state.size }, (_, i) => [lineAt(state.row + i), lineAt(state.column + i)]).flat();
  const longest = Math.max(...visible.map((line) => measure.measureText(matrix.lines[line]).width));
  const margin = Math.ceil(clamp(longest + 10, 40, 190));
  const tree = state.order === "tree" && !many ? 110 : 0;
  const cell = clamp(Math.floor((room - margin - tree - 12) / state.size), 11, 84);
  const side = cell * state.size;
  const box = { left: margin, top: margin, cell };
  boxes.detail = box;
  Object.assign(detail.dataset, box); // where its cells are, for whoever drives the page
  const pen = sized(detail, margin + side + tree + 12, margin + side + 8);
  lattice(pen, palette, box, side);
  drawCells(pen, palette, most, box);
  drawNames(pen, palette, box);
  if (state.order === "tree") drawBlocks(pen, palette, box, state.row, state.column, state.size);
  if (tree) drawTree(pen, palette, margin + side + 6, tree - 10, margin, cell);
  if (state.cursor) outline(pen, palette, box);
}

function lattice(pen, palette, box, side) {
  pen.strokeStyle = palette.line;
  pen.lineWidth = 0.5;
  pen.beginPath();
  for (let i = 0; i <= state.size; i += 1) {
    const at = i * box.cell;
    pen.moveTo(box.left, box.top + at);
    pen.lineTo(box.left + side, box.top + at);
    pen.moveTo(box.left + at, box.top);
    pen.lineTo(box.left + at, box.top + side);
  }
  pen.stroke();
}

function drawCells(pen, palette, most, box) {
  const { truth, predicted, count: counts, support } = shown();
  const size = box.cell >= 24 ? clamp(Math.floor(box.cell / 3.4), 9, 14) : 0;
  pen.font = `${size}${FONT}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  truth.forEach((line, i) => {
    const y = place[line] - state.row, x = place[predicted[i]] - state.column;
    if (y < 0 || x < 0 || y >= state.size || x >= state.size) return;
    pen.fillStyle = paint(palette, most, line, predicted[i], counts[i]);
    pen.fillRect(box.left + x * box.cell + 0.5, box.top + y * box.cell + 0.5, box.cell - 1, box.cell - 1);
    if (!size) return;
    pen.fillStyle = strength(most, line, predicted[i], counts[i]) > 0.6 ? palette.paper : palette.ink;
    const text = state.unit === "rates" ? (100 * counts[i] / support[line]).toFixed(0) : count(counts[i]);
    pen.fillText(text, box.left + (x + 0.5) * box.cell, box.top + (y + 0.5) * box.cell + 0.5);
  });
}

function drawNames(pen, palette, box) {
  pen.font = `${clamp(box.cell - 1, 9, 12)}${FONT}`;
  pen.textBaseline = "middle";
  for (let i = 0; i < state.size; i += 1) {
    const at = (i + 0.5) * box.cell;
    pen.fillStyle = state.cursor && state.cursor.row === state.row + i ? palette.accent : palette.soft;
    pen.textAlign = "right";
    pen.fillText(fitted(pen, matrix.lines[lineAt(state.row + i)], box.left - 8), box.left - 6, box.top + at);
    pen.fillStyle = state.cursor && state.cursor.column === state.column + i ? palette.accent : palette.soft;
    pen.save();
    pen.translate(box.left + at, box.top - 6);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "left";
    pen.fillText(fitted(pen, matrix.lines[lineAt(state.column + i)], box.top - 8), 0, 0);
    pen.restore();
  }
}

// Squares around the groups of the tree, as far as they lie in the window.
function drawBlocks(pen, palette, box, row, column, size) {
  pen.save();
  pen.beginPath();
  pen.rect(box.left - 1, box.top - 1, size * box.cell + 2, size * box.cell + 2);
  pen.clip();
  pen.strokeStyle = palette.soft;
  pen.lineWidth = 1;
  let start = 0;
  for (const members of matrix.blocks) {
    const side = members * box.cell;
    const [x, y] = [box.left + (start - column) * box.cell, box.top + (start - row) * box.cell];
    if (side >= SMALLEST_BLOCK) pen.strokeRect(x, y, side, side);
    start += members;
  }
  pen.restore();
}

function nameBlocks(pen, palette, box) {
  pen.font = `11${FONT}`;
  pen.fillStyle = palette.soft;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  let start = 0, free = 0;
  matrix.blocks.forEach((members, i) => {
    const y = box.top + (start + members / 2) * box.cell;
    start += members;
    if (members * box.cell < SMALLEST_BLOCK || y - 6 < free) return; // no room: hovering tells
    pen.fillText(fitted(pen, matrix.block_names[i], box.left - 14), box.left - 8, y);
    free = y + 7;
  });
}

// Branches of the tree beside the lines, as far as the eye can tell them apart.
function drawTree(pen, palette, left, width, top, cell) {
  const last = matrix.heights.length - 1;
  if (last < 0) return;
  const lowest = 0.9 * matrix.heights[0];
  const highest = Math.sqrt(matrix.heights[last] - lowest) || 1;
  const nodes = matrix.lines.map((_, line) => ({ x: left, y: top + (place[line] + 0.5) * cell, lines: 1 }));
  const visible = (node) => node.lines * cell >= SMALLEST_BRANCH;
  pen.strokeStyle = palette.soft;
  pen.lineWidth = cell >= SMALLEST_BRANCH ? 1 : 0.7;
  pen.beginPath();
  matrix.merges.forEach(([i, j], merge) => {
    const [a, b] = [nodes[i], nodes[j]];
    const x = left + (width * Math.sqrt(matrix.heights[merge] - lowest)) / highest;
    const node = { x, y: (a.y + b.y) / 2, lines: a.lines + b.lines };
    nodes.push(node);
    if (!visible(node)) return;
    pen.moveTo(visible(a) ? a.x : x, a.y);
    pen.lineTo(x, a.y);
    pen.lineTo(x, b.y);
    pen.lineTo(visible(b) ? b.x : x, b.y);
  });
  pen.stroke();
}

function outline(pen, palette, box) {
  const { row, column } = state.cursor;
  pen.strokeStyle = palette.accent;
  pen.lineWidth = 2;
  pen.strokeRect(box.left + (column - state.column) * box.cell, box.top + (row - state.row) * box.cell, box.cell, box.cell);
}
