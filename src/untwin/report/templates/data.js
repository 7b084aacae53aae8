// What the page knows: the records of the views, and a few indexes over them.

import { h, name } from "./dom.js";

export const data = JSON.parse(document.getElementById("data").textContent);
export const names = data.documents.names;
export const classes = data.classes.classes;
export const documents = data.documents.documents;
export const matrix = data.matrix;
export const byPosition = new Map(documents.map((one) => [one.position, one]));

// Documents of a cell of the matrix, the most confident errors first.
export function documentsOf(trueLine, saidLine) {
  const inside = documents.filter((one) => matrix.node_of[one.true] === trueLine && matrix.node_of[one.said] === saidLine);
  return inside.sort((a, b) => b.confidence - a.confidence);
}

// The cells of one layer as numbers, and how many rows each true line has.
function layer({ title, errors, true: truth, predicted, count }) {
  const support = new Array(matrix.lines.length).fill(0);
  const at = new Map();
  truth.forEach((line, i) => {
    support[line] += count[i];
    at.set(line * matrix.lines.length + predicted[i], count[i]);
  });
  return { title, errors, truth, predicted, count, support, get: (t, p) => at.get(t * matrix.lines.length + p) ?? 0 };
}

export const layers = matrix.layers.map(layer);
export const ownLayer = layers[0];

// A link to a class, with its definition where there is one.
export const linkToClass = (number) => h("a", { href: `#class-${number}`, title: classes[number].definition || null }, name(names[number]));
