// The dashboard's pages have the same head: where one can go, and whether the server is there.

import { h } from "../dom";
import { banner, themeButton } from "../layout";

const places: [path: string, name: string][] = [["/", "Results"], ["/live", "Load"]];

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

/** connected is a listener that shows in element that the server is gone, and that it is back. */
export function connected(element: HTMLElement): (connection: "open" | "lost", why: string) => void {
  let lost = false;
  return (connection, why) => {
    element.dataset.connection = connection;
    if (connection === "lost") element.replaceChildren(banner("doubt", `Not connected: ${why}.`));
    else element.replaceChildren(...(lost ? [h("p", { class: "caption" }, "Connected again.")] : []));
    lost = connection === "lost";
  };
}
