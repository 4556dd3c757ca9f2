// The only place that makes elements. Text is set as text and attributes as attributes, so that a
// name of any characters is never markup; nothing on the page parses HTML.

export type Child = Node | string | number | null | undefined | false;
type Value = string | number | boolean | null | undefined | ((event: any) => void);
export type Attributes = Record<string, Value>;

function fill(e: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") e.addEventListener(name.replace(/^on/, ""), value);
    else if (name === "style") throw new Error("the page's policy refuses style attributes: use css()");
    else if (value === true) e.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) e.setAttribute(name, String(value));
  }
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== false).map((c) => (c instanceof Node ? c : String(c))));
}

/** h makes an HTML element. A function as an attribute listens to the event it is named after: onclick. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  fill(e, attributes, children);
  return e;
}

/** svg makes an SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(e, attributes, children);
  return e;
}

/** css sets style properties, custom ones too, and returns the element. */
export function css<E extends HTMLElement | SVGElement>(e: E, properties: Record<string, string>): E {
  for (const [name, value] of Object.entries(properties)) e.style.setProperty(name, value);
  return e;
}
