// The only place that makes elements. Text is set as text and attributes as attributes, so that a
// name of any characters is never markup; nothing on the page parses HTML.

export type Child = Node | string | number | null | undefined | false;
type Value = string | number | boolean | null | undefined | ((event: any) => void);
export type Attributes = Record<string, Value>;

/** kept finds what no line may end within: a flag, which would be parted after its hyphens, a figure with its interval,
    and a number with its unit. */
const kept = /(^|[\s(])(--?[a-z][\w-]*)|((?:[−+×]?[\d.,]+ ?%? )?\[[−+\d][^\]]*\]|[−+±×-]?\d[\d.,]* (?:%|[µmn]?s\b|[kmgt]?b\b|[a-z]+\/s\b))/i;

/** whole is a text with what is kept whole in elements of its own, if there is more of it than that. */
const whole = (text: string): (string | Node)[] =>
  text.split(kept).map((part, i) => (part && i % 4 > 1 && part !== text ? h("span", { class: "nowrap" }, part) : part)).filter((part) => part);

/** verbatim are elements whose text is a command, or cannot have elements in it. */
const verbatim = ["PRE", "CODE", "OPTION", "TEXTAREA", "TITLE"];

function fill(e: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") e.addEventListener(name.replace(/^on/, ""), value);
    else if (name === "style") throw new Error("the page's policy refuses style attributes: use css()");
    else if (value === true) e.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) e.setAttribute(name, String(value));
  }
  const asIs = !(e instanceof HTMLElement) || verbatim.includes(e.tagName);
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== false).flatMap((c) => (c instanceof Node ? c : asIs ? String(c) : whole(String(c)))));
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
