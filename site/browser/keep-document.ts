import { addCopyButtons } from "./copy-buttons.ts";

interface Page {
  main: HTMLElement;
  title: string;
  scripts: string[];
}

const paths = ["/", "/reference", "/explorer", "/files"];
/** What this document has shown, by path and query string: what is come back to is as it was left. */
const pages = new Map<string, Page>();
const nameOf = ({ pathname, search }: URL | Location) => pathname + search;

/**
 * Shows the other pages in this document in place of new ones, as long as it holds something that a new one would not have.
 * A document's memory is the one place that all pages of a tab can share and no other tab sees. Browsers without the
 * Navigation API load the pages anew.
 *
 * Who has left these pages and comes back finds nothing of it, even where the browser has kept the whole page meanwhile.
 */
export function keepDocument(isNeeded: () => boolean): void {
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted && isNeeded()) location.reload();
  });
  if (!("navigation" in window)) return;
  let shown = nameOf(location);
  pages.set(shown, readPage(document));
  navigation.addEventListener("navigate", (event) => {
    const { canIntercept, destination, downloadRequest, navigationType, signal } = event;
    const to = new URL(destination.url);
    const isTraversal = navigationType === "traverse";
    // What the explorer writes into the address itself, or the browser's way to another place of the page.
    const isHere = destination.sameDocument && (!isTraversal || nameOf(to) === shown);
    // The reference's script knows one version.
    const isPage = paths.includes(to.pathname) && (to.pathname !== "/reference" || to.search === "");
    if (!canIntercept || isHere || downloadRequest !== null || navigationType === "reload") return;
    if (!isPage || to.origin !== location.origin || !isNeeded()) return;
    shown = nameOf(to);
    event.intercept({
      focusReset: "manual",
      scroll: "manual",
      handler: () =>
        show(to, signal, isTraversal).catch(() => {
          if (!signal.aborted) location.reload();
        }),
    });
  });
}

async function show(to: URL, signal: AbortSignal, isTraversal: boolean): Promise<void> {
  const page = pages.get(nameOf(to)) ?? (await loadPage(to, signal));
  pages.set(nameOf(to), page);
  document.title = page.title;
  document.querySelector("main")?.replaceWith(page.main);
  for (const link of document.querySelectorAll<HTMLAnchorElement>(".site-header nav a")) {
    if (link.pathname === to.pathname) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  for (const script of page.scripts) await import(script);
  // A browser tells of it by itself when somebody goes back.
  if (!isTraversal) dispatchEvent(new HashChangeEvent("hashchange"));
  const target = document.getElementById(decodeURIComponent(to.hash.slice(1)));
  page.main.focus({ preventScroll: true });
  if (target === null) scrollTo(0, 0);
  else target.scrollIntoView();
}

async function loadPage(url: URL, signal: AbortSignal): Promise<Page> {
  const answer = await fetch(url, { signal, headers: { accept: "text/html" } });
  if (!answer.ok) throw new Error(`${url.pathname} answers ${answer.status}.`);
  const page = readPage(new DOMParser().parseFromString(await answer.text(), "text/html"));
  addCopyButtons(page.main);
  return page;
}

function readPage(from: Document): Page {
  const main = from.querySelector("main");
  if (main === null) throw new Error("The page has no main part.");
  const scripts = Array.from(from.querySelectorAll("script[src]"), (it) => it.getAttribute("src") ?? "");
  return { main, title: from.title, scripts };
}
