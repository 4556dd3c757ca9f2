// Lists that others change: experiments that begin and end, files that come and go.

import { banner } from "../layout";
import { requestJSON, problemText } from "./api";

const pause = 3000; // ms between two looks

/** keepFresh shows what the server has at path, and shows it again when it has changed, while somebody looks. What has
    the keyboard keeps it. */
export function keepFresh<T>(into: HTMLElement, path: string, view: (all: T) => Node[]): void {
  let shown = "";
  const look = async () => {
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
    setTimeout(look, pause);
  };
  const show = (nodes: Node[]) => {
    const at = into.contains(document.activeElement) ? document.activeElement! : null;
    const same = at?.id ? `#${CSS.escape(at.id)}` : at?.hasAttribute("href") ? `[href="${CSS.escape(at.getAttribute("href")!)}"]` : null;
    into.replaceChildren(...nodes);
    if (same) into.querySelector<HTMLElement>(same)?.focus({ preventScroll: true });
  };
  look();
}
