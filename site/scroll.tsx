/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { ComponentChildren, VNode } from "preact";

/** What is wider or higher than its place, and is scrolled there, by keyboard as well. */
export function Scroll({
  label,
  kind = "",
  children,
}: {
  label: string;
  /** Further classes. */
  kind?: string;
  children: ComponentChildren;
}): VNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: no fieldset, and too many of them to be landmarks
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <div class={`scroll ${kind}`.trim()} role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}
