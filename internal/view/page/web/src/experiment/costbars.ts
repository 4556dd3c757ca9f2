// The bars of what a request costs: each arm's bar ends at the median of the whole, and is divided
// as its processes' medians are. Medians of parts do not add up to the median of their sum, so
// that parts drawn as they are would end elsewhere than the figure beside them says.

import type { Part } from "./data";

export interface Bar {
  arm: string;
  x1: number; // µs of CPU per request
  x2: number;
  i: number; // of the names
  user: boolean; // else in the kernel
  name: string;
  median: number; // µs, of this part alone
}

/** piecesOf are the named processes of an arm, or all together where there is no name. A tree's
 * processes stand for it where they are told one by one. */
export function piecesOf(parts: Part[]): Part[] {
  const named = parts.filter((d) => d.name !== "");
  const leaves = named.filter((d) => !named.some((o) => o.name.startsWith(d.name + ": ")));
  return leaves.length > 0 ? leaves : parts;
}

/** barsOf are those of an arm, whose whole is so many µs; undefined: that is not known, and parts are as they are. */
export function barsOf(arm: string, parts: Part[], names: string[], whole: number | undefined): Bar[] {
  const all = piecesOf(parts).flatMap((part) => {
    const [user, system] = [part.user_us_per_request, part.system_us_per_request];
    const split = user !== null && system !== null ? [user, system] : [part.cpu_us_per_request ?? 0, 0];
    return split.map((median, k) => ({ part, median, user: k === 0 }));
  });
  const sum = all.reduce((s, d) => s + d.median, 0);
  const scale = whole !== undefined && sum > 0 ? whole / sum : 1;
  let x = 0;
  return all.map(({ part, median, user }) => {
    const x1 = x;
    x += median * scale;
    return { arm, x1, x2: x, i: names.indexOf(part.name), user, name: part.name || "all", median };
  });
}
