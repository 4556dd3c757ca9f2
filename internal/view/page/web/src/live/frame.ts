// The dashboard's pages have the same head: where one can go, and whether the server is there.

import { h } from "../dom";
import { banner, copyable, themeButton } from "../layout";
import type { Listener } from "./api";

const places: [path: string, name: string][] = [["/", "Results"], ["/history", "History"], ["/live", "New load"], ["/lab", "Experiments"]];

/** frame fills the document, and returns where the connection's state is shown. */
export function frame(title: string, subtitle: string, ...content: Node[]): HTMLElement {
  document.title = `${title} – dyno`;
  const connection = h("div", { id: "connection", "aria-live": "polite" });
  document.body.replaceChildren(
    h("header", {},
      h("div", { class: "title" }, h("h1", {}, title), themeButton()),
      h("p", { class: "subtitle" }, subtitle),
      h("nav", { "aria-label": "Pages" }, ...places.map(([path, name]) =>
        h("a", { href: path, "aria-current": path === location.pathname ? "page" : null }, name)))),
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
