// A flame graph's boxes as a tree: read from the columns of the data, and seen from one function.

import type { Flame } from "./data";

/** A Box is a function called on one path. Shares are of the whole profile, base's of the baseline's. */
export interface Box {
  i: number; // in the data; -1 of one that was made here
  name: string;
  kernel: boolean;
  all: number;
  self: number;
  base: number;
  baseSelf: number;
  parent: Box | null;
  children: Box[];
}

/** tree is the root of a flame's boxes, and all of them by their number. */
export function tree(f: Flame): { root: Box; boxes: Box[] } {
  const kernel = new Set(f.kernel ?? []);
  const path: Box[] = [];
  const boxes = f.name.map((name, i): Box => {
    const depth = f.depth[i];
    const box: Box = {
      i,
      name: f.names[name],
      kernel: kernel.has(name),
      all: f.all[i],
      self: f.self[i],
      base: f.base_all?.[i] ?? 0,
      baseSelf: f.base_self?.[i] ?? 0,
      parent: depth > 0 ? path[depth - 1] : null,
      children: [],
    };
    path.length = depth;
    path.push(box);
    box.parent?.children.push(box);
    return box;
  });
  return { root: boxes[0], boxes };
}

/** outermost are the boxes that match and are below no other that does. */
export function outermost(root: Box, match: (b: Box) => boolean): Box[] {
  if (match(root)) return [root];
  return root.children.flatMap((c) => outermost(c, match));
}

/** focused is a tree of one function, wherever it was called: all that it calls, added up. */
export function focused(root: Box, name: string): Box {
  const merge = (all: Box[], parent: Box | null): Box => {
    const sum = (of: (b: Box) => number) => all.reduce((s, b) => s + of(b), 0);
    const box: Box = {
      i: -1,
      name: all[0].name,
      kernel: all[0].kernel,
      all: sum((b) => b.all),
      self: sum((b) => b.self),
      base: sum((b) => b.base),
      baseSelf: sum((b) => b.baseSelf),
      parent,
      children: [],
    };
    const called = new Map<string, Box[]>();
    for (const c of all.flatMap((b) => b.children)) called.set(c.name, [...(called.get(c.name) ?? []), c]);
    box.children = [...called.values()].map((same) => merge(same, box));
    return box;
  };
  const all = outermost(root, (b) => b.name === name);
  return all.length === 0 ? root : merge(all, null);
}

/** totals are the shares of each function: in itself, and with what it calls, largest first. */
export function totals(root: Box): { name: string; self: number; all: number }[] {
  const sums = new Map<string, { name: string; self: number; all: number }>();
  const walk = (b: Box, above: Set<string>) => {
    const sum = sums.get(b.name) ?? { name: b.name, self: 0, all: 0 };
    sum.self += b.self;
    if (!above.has(b.name)) sum.all += b.all;
    sums.set(b.name, sum);
    const below = new Set(above).add(b.name);
    for (const c of b.children) walk(c, below);
  };
  for (const c of root.children) walk(c, new Set());
  return [...sums.values()].sort((a, b) => b.self - a.self || b.all - a.all);
}
