// The forms of numbers, as Go writes them before the script. A test of package format writes the file.

import numbers from "./numbers.json";

Object.assign(globalThis, { numbersOfGo: numbers.numbersOfGo });

/** samples are numbers, each with the text that Go writes for it. */
export const samples: { form?: string; unit?: string; tick?: boolean; of: number; text: string }[] = numbers.samples;
