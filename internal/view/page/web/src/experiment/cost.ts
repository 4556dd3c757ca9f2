// What a request costs the servers at a level, in numbers.

import { bytes, duration, percent } from "../format";
import { Cell, cell } from "../table";
import { Part, Payload } from "./data";
import { isShown } from "./shown";

/** costTable has a row for each process of each variant. */
export function costTable(p: Payload, level: string) {
  const here = (p.record.parts ?? []).map((part, i) => ({ part, i })).filter(({ part }) => part.level === level && isShown(p, part.arm));
  const rows = here.map(({ part, i }): (Cell | string)[] => {
    const of = (key: keyof Part, show: (v: number) => string) =>
      cell(`record.parts.${i}.${key}`, part[key] as number | null, show);
    return [
      part.arm,
      part.name || "all",
      of("cpu_us_per_request", duration),
      of("user_us_per_request", duration),
      of("system_us_per_request", duration),
      of("cpu_percent", percent),
      of("memory_bytes", bytes),
    ];
  });
  return { head: ["variant", "process", "CPU per request", "user", "system", "CPU of a core", "memory"], rows };
}
