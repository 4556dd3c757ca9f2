// The runs of a sweep, in numbers.

import * as format from "../format";
import { cell, Table } from "../table";
import type { Curve, Point } from "./data";

const counts = (p: Point) => p.x_per_s > 0 && p.n > 0 && p.verdict !== "client-bound";

/** points has every number of every run, in the order in which they were made. */
export function points(c: Curve): Table {
  return {
    head: [c.axis, "round", "in flight", "requests/s", "p50", "p99", "errors", "off the law", "verdict"],
    rows: (c.points ?? []).map((p, i) => {
      const at = (key: string) => `points.${i}.${key}`;
      return [
        cell(at("level"), p.level, format.rate), cell(at("round"), p.round, format.count), cell(at("n"), p.n, format.rate),
        cell(at("x_per_s"), p.x_per_s, format.rate), ...(["p50", "p99"] as const).map((name) => cell(at(`${name}_us`), p[`${name}_us`], (v) => format.known(p.over?.includes(name), format.duration(v)))),
        cell(at("errors"), p.errors, format.count), counts(p) ? residual(c, i) : "–", p.cause ?? (p.not_judged ? "not judged" : p.verdict),
      ];
    }),
  };
}

/** residual is how far a point is from the law. The law's are of the points that count, in their order. */
function residual(c: Curve, i: number) {
  const place = (c.points ?? []).slice(0, i).filter(counts).length;
  const off = c.fit?.residuals[place];
  return off === undefined ? "–" : cell(`fit.residuals.${place}`, off, (v) => format.percent(100 * v));
}
