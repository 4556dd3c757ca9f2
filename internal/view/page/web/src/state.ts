// What is shown is in the address: #throughput=table&theme=dark. A link to a page opens it as it
// was seen, and the back button is not filled with every click.

type Listener = (key: string) => void;
const listeners = new Set<Listener>();
let last = new URLSearchParams(location.hash.slice(1));

/** get is a value of the state, or otherwise. */
export function get(key: string, otherwise = ""): string {
  return new URLSearchParams(location.hash.slice(1)).get(key) ?? otherwise;
}

/** figures are the ids of what the state says how to show. */
export function figures(): string[] {
  return [...new URLSearchParams(location.hash.slice(1)).keys()].map((k) => k.split(".")[0]);
}

/** set changes the state; an empty value takes the key out. */
export function set(key: string, value: string): void {
  const all = new URLSearchParams(location.hash.slice(1));
  if (value === "") all.delete(key);
  else all.set(key, value);
  history.replaceState(history.state, "", "#" + all.toString());
  announce();
}

/** onChange calls back with each key whose value changed, by whatever means, until it is stopped. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** follow is onChange for what is shown in an element, until that has left the document. */
export function follow(element: Element, listener: Listener): void {
  let there = false;
  queueMicrotask(() => (there ||= element.isConnected)); // whoever made it has put it there by then
  const stop = onChange((key) => {
    if (there && !element.isConnected) return void stop();
    there = element.isConnected;
    listener(key);
  });
}

function announce(): void {
  const now = new URLSearchParams(location.hash.slice(1));
  const changed = [...new Set([...last.keys(), ...now.keys()])].filter((k) => last.get(k) !== now.get(k));
  last = now;
  for (const key of changed) for (const listener of [...listeners]) listener(key);
}

addEventListener("hashchange", announce);
