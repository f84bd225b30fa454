import type { VNode } from "preact";

/** Stands in for a page's script where the server could not tell which versions there are. */
export function NoVersion(): VNode {
  return (
    <p class="notice notice--error" role="alert">
      Which versions are served is not known now. Load this page again in a minute.
    </p>
  );
}
