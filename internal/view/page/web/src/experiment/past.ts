// Earlier runs of this experiment, where the store has some.

import { pastViews } from "../history/past";
import { legendOf, loadOf, Payload, slug, unitOf } from "./data";
import { levelsShown, isShown } from "./shown";

/** past is what they found, beside this one. */
export function past(p: Payload): (Node | null)[] {
  if (!p.past) return [];
  const here = location.pathname.match(/^\/labs\/[^/]+\/report$/); // the dashboard's: others have no such ways
  return pastViews(p.past, {
    key: "past",
    id: "past",
    levels: levelsShown(p).map((l) => ({ name: l.name, id: slug(p, l.name), words: loadOf(p, l.name) })),
    shown: (arm) => isShown(p, arm),
    first: p.metrics[0],
    unit: (m) => unitOf(p, m),
    mark: (arm) => legendOf(p, [arm])[0],
    link: (id) => (here ? `/labs/${encodeURIComponent(id)}/report` : null),
  });
}
