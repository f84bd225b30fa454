import { type Html, html } from "../html.ts";

/** Draws a bar whose length is a share of the longest one. The number beside it says the same. */
export function drawBar(share: number): Html {
  const width = Math.max(0, 100 * share).toFixed(2);
  return html`<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"
    ><rect width="${width}" height="1"></rect></svg>`;
}
