// Forms of numbers for tests, in place of those that Go writes before the script.

const step = (from: number, decimals: number, size = 1, unit = "") => ({ from, size, decimals, unit });

Object.assign(globalThis, { numbersOfGo: {
  forms: {
    count: { steps: [step(0, 0)] },
    duration: { steps: [step(1e3, 2, 1e3, " ms"), step(1, 2, 1, " µs"), step(0, 0, 1, " s")] },
    rate: { steps: [step(99, 0), step(0, 2)], whole: true },
    number: { steps: [step(0, 4)], trim: true },
    fine: { steps: [{ ...step(1000, 0, 1, "too much"), only: true }, step(0, 2, 1, " %")], trim: true },
  },
  units: [{ begins: "µs", form: "duration", times: 1, rest: true }, { begins: "", form: "rate", times: 1, rest: true }],
} });
