// The command line that does what a form does: it can be copied into a shell, a script or a README.

/** Flag is a field of a form as a flag of dyno. */
export interface Flag {
  name: string;
  short?: string;
  value?: string; // what it takes; none: it is a switch
}

/** shellQuote writes a word so that a shell reads it as it is. */
export function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
}

/** commandLine is the command of what was entered: flags, and behind them URLs. A value that begins with - would be taken
    for a flag, so it is written with its own. */
export function commandLine(verb: string, flags: Flag[], entered: Record<string, unknown>, urls: string[]): string {
  const words = ["dyno", verb];
  for (const f of flags) {
    const value = entered[f.name];
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one === true) words.push("--" + f.name);
      if (typeof one !== "string" || one === "") continue;
      if (one.startsWith("-")) words.push(shellQuote(`--${f.name}=${one}`));
      else words.push(f.short ? "-" + f.short : "--" + f.name, shellQuote(one));
    }
  }
  return [...words, ...urls.map((url, i) => (url.trim() === "" ? `URL${urls.length > 1 ? i + 1 : ""}` : shellQuote(url.trim())))].join(" ");
}

/** withScheme is a URL as a person writes it: without a scheme it is of http, and :8080 is a port of this machine. */
export function withScheme(written: string): string {
  const url = written.trim();
  if (url === "" || /^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return url;
  return (/^:\d+([/?#]|$)/.test(url) ? "http://127.0.0.1" : "http://") + url;
}

/** hasUnit reports whether a value brings its unit, as 1m30s does: then that of the field is not shown. */
export const hasUnit = (value: string): boolean => /[a-zµ]/i.test(value);

/** isRamp reports whether stages make a load of a rate, which then need not be given. */
export const isRamp = (stages: unknown): boolean => Array.isArray(stages) && stages.some((s) => !s.endsWith("users"));
