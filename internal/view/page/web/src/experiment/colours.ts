// What CPUs do, from the bottom of the stack to its top, and the colour of each: the same whatever
// there is of the others.

import { area } from "../chart";

/** cpuColours are by the names that the panel has for them. */
export const cpuColours: Record<string, string> = {
  user: area(0),
  system: area(1),
  softirq: area(2),
  irq: area(3),
  "I/O wait": area(4),
  steal: area(5),
};
