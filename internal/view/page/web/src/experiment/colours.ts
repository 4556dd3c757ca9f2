// What CPUs do, from the bottom of the stack to its top, and the colour of each: the same whatever
// there is of the others.

import { areaColour } from "../chart";

/** cpuColours are by the names that the panel has for them. */
export const cpuColours: Record<string, string> = {
  user: areaColour(0),
  system: areaColour(1),
  softirq: areaColour(2),
  irq: areaColour(3),
  "I/O wait": areaColour(4),
  steal: areaColour(5),
};
