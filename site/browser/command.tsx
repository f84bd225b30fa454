import type { ComponentChildren, VNode } from "preact";

interface Scrolled {
  label: string;
  kind: string;
  children: ComponentChildren;
}

/** Content that may be wider or taller than its container. It scrolls inside it, also by keyboard. */
export function Scroll({ label, kind, children }: Scrolled): VNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: not a fieldset
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <div class={`scroll ${kind}`} role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}

interface Copied {
  label: string;
  text?: string;
  name?: string;
}

/** A button that copies a text, or the command before it; page.ts does the copying. */
export function CopyButton({ label, text = "", name = "Copy" }: Copied): VNode {
  return (
    <>
      <button type="button" class="plain" aria-label={label} data-copy={text}>
        {name}
      </button>{" "}
      <span role="status" />
    </>
  );
}
