// The dashboard's pages have the same head: where one can go, and whether the server is there.

import { h } from "../dom";
import { banner, copyable, themeButton } from "../layout";
import type { Listener } from "./api";

const places: [path: string, name: string][] = [["/", "Results"], ["/history", "History"], ["/live", "New load"], ["/lab", "Experiments"]];

/** bar leads to each page of the dashboard. */
const bar = (...more: Node[]): HTMLElement =>
  h("nav", { "aria-label": "Pages" }, h("a", { href: "/", class: "brand" }, "dyno"), ...places.map(([path, name]) =>
    h("a", { href: path, "aria-current": path === location.pathname ? "page" : null }, name)), ...more);

/** servedBar puts the bar into the header of a report that a dashboard shows, with what can be done with it. A copy that
    was saved, or is shown by another server, has none. */
export function servedBar(): void {
  const at = JSON.parse(document.querySelector<HTMLMetaElement>('meta[name="dyno-served"]')?.content ?? "null");
  if (at?.origin !== location.origin) return;
  document.title += " – dyno";
  document.querySelector("header")?.append(bar(h("span", { class: "actions" },
    at.repeat ? h("a", { href: at.repeat, id: "repeat" }, "Repeat") : null,
    h("span", { class: "caption" }, "Download"),
    ...at.files.map((f: { name: string; at: string; file: string }, i: number) => h("a", { href: f.at, download: f.file, id: i === 0 ? "download" : null }, f.name)))));
}

/** frame fills the document, and returns where the connection's state is shown. */
export function frame(title: string, subtitle: string, ...content: Node[]): HTMLElement {
  document.title = `${title} – dyno`;
  const connection = h("div", { id: "connection", "aria-live": "polite" });
  document.body.replaceChildren(
    h("header", {},
      h("div", { class: "title" }, h("h1", {}, title), themeButton()),
      h("p", { class: "subtitle" }, subtitle),
      bar()),
    connection,
    h("main", {}, ...content),
  );
  return connection;
}

/** section is a part of the page below a heading. */
export const section = (id: string, title: string, ...content: (Node | string)[]): HTMLElement =>
  h("section", { id, "aria-labelledby": id + "-title" }, h("h2", { id: id + "-title" }, title), ...content);

/** connectionListener is a listener that shows in element that the server is gone, and what to do, and that it is back. */
export function connectionListener(element: HTMLElement): Listener {
  let shown = "";
  return (connection, why) => {
    element.dataset.connection = connection;
    const now = connection === "open" ? (shown ? "open" : "") : `${connection} ${why}`;
    if (now === shown) return; // an attempt that ends as the last did is no news
    shown = now;
    element.replaceChildren(...(connection === "open" ? [h("p", { class: "caption" }, "Connected again.")]
      : [banner("doubt", `Not connected: ${why}.`, [h("p", {}, what[connection]), copyable(serveCommand())])]));
  };
}

const what = {
  lost: "If dyno has ended, begin it again at the same address, with the flags that it had, and this page goes on:",
  shut: "Open the address that it printed in this browser, and this page goes on by itself. If that is lost, end it and begin it again; it prints another:",
};

/** serveCommand is the command of a dashboard at this page's address. */
function serveCommand(): string {
  const { host, hostname } = location;
  const here = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  return `dyno serve --listen ${host.includes("[") ? `'${host}'` : host}${here ? "" : " --expose"}`;
}
