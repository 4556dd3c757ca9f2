// What the dashboard's server is asked, and the events that it sends.

/** Refused is an answer that is a reason, in words for a person. */
export class Refused extends Error {
  constructor(readonly status: number, message: string, readonly body: string) {
    super(message);
  }
}

/** requestJSON makes a request; of an answer that is no success it throws the reason. */
export async function requestJSON(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: unknown): Promise<any> {
  const answer = await fetch(path, { method, body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Refused(answer.status, text.trim(), text);
  return JSON.parse(text);
}

/** problemText is why something failed, in words. */
export const problemText = (problem: unknown): string =>
  problem instanceof TypeError ? "the dashboard does not answer" : (problem as Error).message;

/** A Listener is told whether events come: "open"; "lost" and why; or "shut": the server is there and does not know
    this browser. The page tries again by itself. */
export type Listener = (connection: "open" | "lost" | "shut", why: string) => void;

const retry = 1000; // ms between attempts after a refusal; others the browser makes by itself

/** followEvents calls handlers with the events of their kind, from the first that the server has, each once. */
export function followEvents(path: string, handlers: Record<string, (data: any) => void>, listener: Listener): void {
  let last = "";
  const connect = () => {
    const source = new EventSource(last ? `${path}?after=${encodeURIComponent(last)}` : path);
    source.onopen = () => listener("open", "");
    source.onerror = async () => {
      if (source.readyState !== EventSource.CLOSED) {
        listener("lost", "the dashboard does not answer; trying again");
        return;
      }
      listener(...(await whyNoEvents(path)));
      setTimeout(connect, retry);
    };
    for (const [kind, handle] of Object.entries(handlers)) {
      source.addEventListener(kind, (e) => {
        last = e.lastEventId;
        handle(JSON.parse(e.data));
      });
    }
  };
  connect();
}

/** whyNoEvents is why the server sends no events. */
async function whyNoEvents(path: string): Promise<["lost" | "shut", string]> {
  const stop = new AbortController();
  try {
    const answer = await fetch(path, { signal: stop.signal });
    if (answer.ok) return ["lost", "trying again"]; // it has changed its mind
    return [answer.status === 401 ? "shut" : "lost", (await answer.text()).trim()];
  } catch (problem) {
    return ["lost", problemText(problem)];
  } finally {
    stop.abort();
  }
}
