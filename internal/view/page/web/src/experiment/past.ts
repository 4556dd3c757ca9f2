// Earlier runs of this experiment, where the store has some.

import { Look, pastViews } from "../history/past";
import { Payload, unitOf } from "./data";
import { isShown } from "./shown";

/** look is how the past of the page is shown. */
export function look(p: Payload): Look {
  const here = location.pathname.match(/^\/labs\/[^/]+\/report$/); // the dashboard's: others have no such ways
  return {
    key: "past",
    shown: (arm) => isShown(p, arm),
    unit: (m) => unitOf(p, m),
    link: (id) => (here ? `/labs/${encodeURIComponent(id)}/report` : null),
  };
}

/** past is what they found, beside this one. */
export function past(p: Payload, figures: HTMLElement | null): (Node | null)[] {
  return p.past ? [figures, ...pastViews(p.past, { ...look(p), id: "past" })] : [];
}
