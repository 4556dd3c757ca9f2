// Pictures to take away: what is drawn, as one SVG that needs no style sheet, or as a PNG of it.

import { h, svg } from "./dom";
import type { Mark } from "./legend";

const kept = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
  "stroke-linecap", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "font-variant-numeric",
  "text-anchor", "dominant-baseline", "display", "visibility"];

/** figureSVG is all that is drawn in body as one SVG, below its title and legend. */
export function figureSVG(body: HTMLElement, title: string, marks: Mark[]): SVGSVGElement {
  const box = body.getBoundingClientRect();
  const style = getComputedStyle(body);
  const [ink, paper] = [style.color, getComputedStyle(document.body).backgroundColor];
  const text = (x: number, y: number, s: string, size: number) =>
    svg("text", { x, y, fill: ink, "font-family": "sans-serif", "font-size": size }, s);
  const head = marks.length > 0 ? 48 : 28;
  const out = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width: Math.ceil(box.width), height: 0 });
  let x = 8;
  const legend = marks.flatMap((m) => {
    const at = x;
    x += 28 + 7 * m.name.length;
    return [svg("rect", { x: at, y: 32, width: 12, height: 8, fill: resolve(m.colour, body) }), text(at + 16, 40, m.name, 11)];
  });
  let bottom = head;
  const parts = [...body.querySelectorAll("svg")].filter((e) => !e.closest(".legend") && !e.parentElement?.closest("svg"));
  const drawn = parts.map((e) => {
    const at = e.getBoundingClientRect();
    const top = at.top - parts[0].getBoundingClientRect().top + head;
    bottom = Math.max(bottom, top + at.height);
    const copy = copyWithStyle(e);
    for (const [k, v] of Object.entries({ x: at.left - box.left, y: top, width: at.width, height: at.height })) {
      copy.setAttribute(k, String(v));
    }
    return copy;
  });
  out.setAttribute("height", String(Math.ceil(bottom + 8)));
  out.append(svg("rect", { width: "100%", height: "100%", fill: paper }), text(8, 18, title, 13), ...legend, ...drawn);
  return out;
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
