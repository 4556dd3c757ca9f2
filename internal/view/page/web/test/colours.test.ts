// Colours can be told apart by those who see fewer of them, and stand out from the paper.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inks } from "../../../drawing/theme.json";
import { dash } from "../src/chart";

type Triple = [number, number, number];

const themes = ["light", "dark"] as const;

/** hex is a colour in a theme. */
const hex = (name: string, theme: number): string => (inks as unknown as Record<string, [string, string]>)[name][theme];

const linear = (c: number) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const rgb = (s: string) => [1, 3, 5].map((i) => linear(parseInt(s.slice(i, i + 2), 16) / 255)) as Triple;
const times = (m: Triple[], c: Triple) => m.map((row) => row.reduce((sum, v, i) => sum + v * c[i], 0)) as Triple;

// How those without one kind of cones see: Machado, Oliveira, Fernandes, "A physiologically-based
// model for simulation of color vision deficiency", IEEE TVCG 15 (2009), severity 1.
const eyes: Record<string, Triple[]> = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
};

/** lab is a colour in CIELAB, of the white D65. */
function lab(c: Triple): Triple {
  const white = [0.95047, 1, 1.08883];
  const xyz = times([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]], c);
  const [x, y, z] = xyz.map((v, i) => {
    const t = v / white[i];
    return t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116;
  });
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** apart is how far two colours are for an eye, as the CIE's difference of 1976: 2 can just be seen. */
function apart(a: string, b: string, eye: Triple[]): number {
  const seen = (s: string) => lab(times(eye, rgb(s)).map((v) => Math.min(Math.max(v, 0), 1)) as Triple);
  const [p, q] = [seen(a), seen(b)];
  return Math.hypot(...p.map((v, i) => v - q[i]));
}

const luminance = (s: string) => times([[0.2126729, 0.7151522, 0.072175]], rgb(s))[0];

test("the parts of a CPU's time differ for every eye", () => {
  const names = ["a1", "a2", "a3", "a4", "a5", "a6"].map((v) => [v, v]); // from the bottom of the stack to its top
  themes.forEach((theme, t) => {
    for (const [eye, matrix] of Object.entries(eyes)) {
      names.forEach(([a, x], i) => names.slice(i + 1).forEach(([b, y]) => {
        const d = apart(hex(x, t), hex(y, t), matrix);
        assert.ok(d >= 18, `${theme}, ${eye}: ${a} and ${b} are ${d.toFixed(1)} apart`);
      }));
    }
  });
});

test("lines differ in colour, or at least in their dash, and stand out from the paper", () => {
  const all = [0, 1, 2, 3, 4, 5, 6, 7];
  themes.forEach((theme, t) => {
    for (const i of all) {
      const [a, b] = [luminance(hex(`c${i + 1}`, t)) + 0.05, luminance(hex("paper", t)) + 0.05];
      const contrast = Math.max(a, b) / Math.min(a, b);
      assert.ok(contrast >= 3, `${theme}: c${i + 1} has a contrast of ${contrast.toFixed(2)}`); // WCAG 2.2, 1.4.11
      for (const k of all.slice(i + 1)) {
        assert.notEqual(dash(i), dash(k));
        for (const [eye, matrix] of Object.entries(eyes)) {
          const d = apart(hex(`c${i + 1}`, t), hex(`c${k + 1}`, t), matrix);
          const least = eye === "all" ? 18 : k < 6 ? 9 : 0; // the last two are rare, and have their dashes
          assert.ok(d >= least, `${theme}, ${eye}: c${i + 1} and c${k + 1} are ${d.toFixed(1)} apart`);
        }
      }
    }
  });
});
