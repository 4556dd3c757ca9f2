// What drawings have in common: colours with a dash each, and texts that fit. Colours are variables of the style sheet.

import theme from "../../../drawing/theme.json";

const colours = 8; // --c1 to --c8

/** ink and dash are the i-th of those that tell lines apart. */
export const ink = (i: number): string => `c${(i % colours) + 1}`;
export const dash = (i: number): string => theme.dashes[i % theme.dashes.length].join(" ");

/** extent is the least and the largest of the values that are finite, and above 0 if wanted; null of none. */
export function extent(values: Iterable<number | null | undefined>, positive = false): [number, number] | null {
  let [low, high] = [Infinity, -Infinity];
  for (const v of values) {
    if (typeof v !== "number" || !Number.isFinite(v) || (positive && v <= 0)) continue;
    [low, high] = [Math.min(low, v), Math.max(high, v)];
  }
  return low <= high ? [low, high] : null;
}

let pen: CanvasRenderingContext2D | null = null; // that measures

/** textWidth is how wide a text is in pixels, written so large. */
export function textWidth(s: string, size: number, weight = "normal"): number {
  pen ??= document.createElement("canvas").getContext("2d")!;
  pen.font = `${weight} ${size}px system-ui, sans-serif`; // as the style sheet has it for plots
  return pen.measureText(s).width;
}

/** textLines is a text in lines of at most so many pixels. */
export function textLines(s: string, width: number, size: number, weight = "normal"): string[] {
  const lines: string[] = [];
  for (const word of s.split(" ").filter((w) => w)) {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    if (lines.length > 0 && textWidth(longer, size, weight) <= width) lines[lines.length - 1] = longer;
    else lines.push(fitText(word, width, size, weight));
  }
  return lines;
}

/** fitText is as much of a name as is at most so many pixels wide, written so large; "" where that is next to nothing. */
export function fitText(s: string, width: number, size: number, weight = "normal"): string {
  const fits = (text: string) => textWidth(text, size, weight) <= width;
  if (fits(s)) return s;
  const all = [...s];
  let [least, most] = [0, all.length];
  while (least < most) {
    const n = (least + most + 1) >> 1;
    if (fits(all.slice(0, n).join("") + "…")) least = n;
    else most = n - 1;
  }
  return least < 2 ? "" : all.slice(0, least).join("") + "…";
}
