// sessionStorage throws if the visitor has turned storage off. The key then lasts until the page is left.
const name = "api-key";

/** The key that was entered in this tab; empty if there is none. */
export function readTabKey(): string {
  try {
    return sessionStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

/** Keeps the key until the tab is closed. An empty key is forgotten. */
export function keepTabKey(key: string): void {
  try {
    if (key === "") sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, key);
  } catch {}
}
