// Lists that others change: experiments that begin and end, files that come and go.

import { banner } from "../layout";
import { requestJSON, problemText } from "./api";

const pause = 3000; // ms between two looks at least
const longest = 60_000; // ms; a look may have hung, or the machine slept
const share = 30; // a look takes no more than one part in so many of the time: a load may be running

/** keepFresh shows what the server has at path, and shows it again when it has changed, while somebody looks. Who comes
    back sees it at once. What has the keyboard keeps it. */
export function keepFresh<T>(into: HTMLElement, path: string, view: (all: T) => Node[]): void {
  let shown = "";
  let timer = 0;
  let looking = false;
  const look = async () => {
    if (looking) return;
    looking = true;
    clearTimeout(timer);
    const begun = performance.now();
    if (!document.hidden) {
      try {
        const all: T = await requestJSON("GET", path);
        if (JSON.stringify(all) !== shown) {
          shown = JSON.stringify(all);
          show(view(all));
        }
      } catch (problem) {
        if (shown === "") into.replaceChildren(banner("bad", `${path}: ${problemText(problem)}`)); // else the last is better than none
      }
    }
    looking = false;
    timer = window.setTimeout(look, Math.min(longest, Math.max(pause, share * (performance.now() - begun))));
  };
  const show = (nodes: Node[]) => {
    if (nodes.length === into.childNodes.length && nodes.every((n, i) => n === into.childNodes[i])) return; // it has changed itself
    const at = into.contains(document.activeElement) ? document.activeElement! : null;
    const same = at?.id ? `#${CSS.escape(at.id)}` : at?.hasAttribute("href") ? `[href="${CSS.escape(at.getAttribute("href")!)}"]` : null;
    into.replaceChildren(...nodes);
    if (same) into.querySelector<HTMLElement>(same)?.focus({ preventScroll: true });
  };
  document.addEventListener("visibilitychange", () => document.hidden || look());
  look();
}
