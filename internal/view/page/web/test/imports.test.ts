// No file of src imports itself, directly or through others.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, sep } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "src"); // this runs from build/

/** importsOf are the files that a source text imports by a relative path, types included. */
function importsOf(file: string, text: string): string[] {
  const paths = text.matchAll(/^(?:import|export|\})[^;"]*?"(\.{1,2}\/[^"]+)"/gm);
  return [...paths].filter(([, path]) => !path.endsWith(".json")).map(([, path]) => posix.join(posix.dirname(file), path + ".ts"));
}

/** firstCircle is a chain of imports that ends where it begins; null if there is none. */
function firstCircle(imports: Map<string, string[]>): string[] | null {
  const finished = new Set<string>();
  const visit = (file: string, chain: string[]): string[] | null => {
    if (chain.includes(file)) return [...chain.slice(chain.indexOf(file)), file];
    if (finished.has(file)) return null;
    for (const next of imports.get(file) ?? []) {
      const circle = visit(next, [...chain, file]);
      if (circle) return circle;
    }
    finished.add(file);
    return null;
  };
  for (const file of imports.keys()) {
    const circle = visit(file, []);
    if (circle) return circle;
  }
  return null;
}

test("a circle of imports is found", () => {
  const graph = (texts: Record<string, string>) =>
    new Map(Object.entries(texts).map(([file, text]) => [file, importsOf(file, text)]));
  const open = graph({
    "a.ts": 'import { b } from "./b";\nimport "node:fs";\n',
    "b.ts": 'export { c } from "./d/c";\n',
    "d/c.ts": "// nothing\n",
  });
  assert.equal(firstCircle(open), null);
  const closed = graph({
    "a.ts": 'import { b } from "./b";\n',
    "b.ts": 'import {\n  type C,\n} from "./d/c";\n',
    "d/c.ts": 'import type { B } from "../b";\n',
  });
  assert.deepEqual(firstCircle(closed), ["b.ts", "d/c.ts", "b.ts"]);
});

test("no circle of imports exists in src", () => {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((f) => f.endsWith(".ts")).map((f) => f.split(sep).join("/"));
  assert.ok(files.length > 50, `${files.length} files only`);
  const imports = new Map(files.map((f) => [f, importsOf(f, readFileSync(join(root, f), "utf8"))]));
  for (const [file, all] of imports) {
    for (const path of all) assert.ok(imports.has(path), `${file} imports ${path}, which is no file`);
  }
  assert.ok([...imports.values()].flat().length > files.length, "too few imports were found");
  assert.equal(firstCircle(imports)?.join(" → "), undefined);
});

test("no regular expression looks behind: Safari before 16.4 would read nothing of the page", () => {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  assert.ok(files.length > 20);
  for (const file of files) assert.doesNotMatch(readFileSync(join(root, file), "utf8"), /\(\?<[=!]/, file);
});
