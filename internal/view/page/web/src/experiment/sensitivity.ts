// The trials that tried other settings of the generator on one cell, with what each setting moves. They
// are in no other list of trials, because they count for no comparison.

import { h } from "../dom";
import { count, digits3, time } from "../format";
import { list } from "../layout";
import { Cell, cell, sentenceCell, Table, table, told } from "../table";
import { Payload, Sensitivity, unitOf } from "./data";

/** sensitivity is none of an experiment that did not ask for it. */
export function sensitivity(p: Payload): HTMLElement | null {
  const s = p.record.sensitivity;
  if (!s) return null;
  const skipped = (s.skipped ?? []).map((why) => `Not tried: ${why}.`);
  return h(
    "div",
    { id: "sensitivity" },
    h("h3", {}, "Other settings of the generator"),
    s.sentence ? h("p", {}, s.sentence + ".") : null,
    s.settings && s.settings.length > 0 ? table(settingTable(s), "Settings of the generator") : null,
    list(skipped, "Not tried"),
    s.trials && s.trials.length > 0
      ? h("details", { class: "more" }, h("summary", {}, `${count(s.trials.length)} trials of these settings`), table(trialTable(p, s), "Trials of settings of the generator"))
      : null,
  );
}

function settingTable(s: Sensitivity): Table {
  const rows = s.settings!.map((v, i): (Cell | string)[] => {
    const of = (key: "estimate" | "low" | "high") => told(`record.sensitivity.settings.${i}.ratio.${key}`, v.ratio[key]);
    return [v.name, of("estimate"), of("low"), of("high"), cell(`record.sensitivity.settings.${i}.trials`, v.trials, count)];
  });
  return { head: ["setting", `ratio of ${s.metric} to the setting as asked`, "low", "high", "pairs"], rows };
}

function trialTable(p: Payload, s: Sensitivity): Table {
  const rows = s.trials!.map((t, i): (Cell | string)[] => [
    time(t.started),
    s.arm,
    t.arm.slice(s.arm.length + 2, -1), // it is "arm [setting]"
    t.level,
    t.grade,
    ...p.metrics.map((m) => cell(`record.sensitivity.trials.${i}.values.${m}`, t.values?.[m], digits3)),
    sentenceCell([t.failure ? `failed: ${t.failure.phase}: ${t.failure.reason}` : "", ...(t.reasons ?? []).map((r) => r.says)].filter((why) => why).join("; ")),
  ]);
  return { head: ["started", "variant", "setting", "level", "grade", ...p.metrics.map((m) => `${m} (${unitOf(p, m)})`), "doubts"], rows };
}
