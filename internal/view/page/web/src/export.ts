// Pictures to take away: what is drawn, as one SVG that needs no style sheet, or as a PNG of it.

import { textLines, textWidth } from "./chart";
import { h, svg } from "./dom";

const kept = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
  "stroke-linecap", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "font-variant-numeric",
  "text-anchor", "dominant-baseline", "display", "visibility"];

const edge = 8; // px around all
const sizes = { title: 15, text: 12 };

/** figureSVG is a figure as one SVG: below its title, what the page is of, its unit and its legend, and above what it is
    of. Another title has the figure's own below it. */
export function figureSVG(figure: HTMLElement, title = ""): SVGSVGElement {
  const body = figure.querySelector<HTMLElement>(":scope > .plot")!;
  const said = (part: string) => figure.querySelector(`:scope > ${part}`)?.textContent ?? "";
  const [own, unit] = [said("figcaption > h3"), said("figcaption > .caption")];
  const box = body.getBoundingClientRect();
  const [ink, faint, paper] = ["--ink", "--faint", "--paper"].map((name) => resolve(`var(${name})`, body));
  const out = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width: Math.ceil(box.width) }, svg("rect", { width: "100%", height: "100%", fill: paper }));
  let y = edge;
  const write = (text: string, size: number, fill: string, weight = "normal") => {
    for (const line of textLines(text, box.width - 2 * edge, size, weight)) {
      out.append(svg("text", { x: edge, y: (y += Math.round(size * 1.35)), fill, "font-family": "system-ui, sans-serif", "font-size": size, "font-weight": weight }, line));
    }
  };
  write(title || own, sizes.title, ink, "bold");
  write(document.body.dataset.about ?? "", sizes.text, faint);
  if (title) write(own, sizes.text, faint);
  write(unit, sizes.text, faint);
  let x = box.width; // the legend begins a line
  for (const item of body.querySelectorAll<HTMLElement>(".legend li")) {
    const [mark, name] = [item.querySelector("svg")!, item.textContent ?? ""];
    const width = 48 + textWidth(name, sizes.text);
    if (x + width > box.width) [x, y] = [edge, y + 20];
    out.append(placed(mark, x, y - 10, 26, 12),
      svg("text", { x: x + 32, y, fill: ink, "font-family": "system-ui, sans-serif", "font-size": sizes.text }, name));
    x += width;
  }
  y += edge;
  const parts = [...body.querySelectorAll("svg")].filter((e) => !e.closest(".legend") && !e.parentElement?.closest("svg"));
  const tops = parts.map((e) => e.getBoundingClientRect());
  let bottom = y;
  parts.forEach((e, i) => {
    const top = tops[i].top - tops[0].top + y;
    bottom = Math.max(bottom, top + tops[i].height);
    out.append(placed(e, tops[i].left - box.left, top, tops[i].width, tops[i].height));
  });
  y = bottom;
  write(said(".caption.foot"), sizes.text, faint);
  out.setAttribute("height", String(Math.ceil(y + edge)));
  return out;
}

/** placed is a copy of a drawing with its style, at a place. */
function placed(e: SVGElement, x: number, y: number, width: number, height: number): SVGElement {
  const copy = copyWithStyle(e);
  for (const [k, v] of Object.entries({ x, y, width, height })) copy.setAttribute(k, String(v));
  return copy;
}

/** resolve is a colour without variables. */
function resolve(colour: string, within: HTMLElement): string {
  const probe = h("span");
  probe.style.color = colour;
  within.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

/** copyWithStyle copies an element with its computed style as attributes. */
function copyWithStyle(e: SVGElement): SVGElement {
  const copy = e.cloneNode(false) as SVGElement;
  const style = getComputedStyle(e);
  for (const name of kept) copy.setAttribute(name, style.getPropertyValue(name));
  copy.removeAttribute("class");
  for (const child of e.childNodes) {
    if (child instanceof SVGElement) copy.append(copyWithStyle(child));
    else if (child instanceof Text) copy.append(child.cloneNode());
  }
  return copy;
}

const scale = 2; // pixels of a PNG for each of the page

/** pngOf is a drawing as a PNG. */
export async function pngOf(drawn: SVGSVGElement): Promise<Blob> {
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(drawn));
  await image.decode();
  const canvas = h("canvas", { width: image.width * scale, height: image.height * scale });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((b) => (b ? resolve(b) : reject(new Error("the browser made no picture"))), "image/png"));
}

/** download gives the reader a file. */
export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
