/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { VNode } from "preact";
import { describeRateLimit, type RateLimits } from "../../service/read-rate-limits.ts";
import { demonstrationKey } from "../request-snippets.ts";

/** What each tier sees, what it may ask for, and how to get a key of it. */
export function KeysSection({ limits, contact }: { limits: RateLimits; contact: string | undefined }): VNode {
  const describe = (tier: string) => describeRateLimit(limits, tier);
  const operator =
    contact === undefined ? "whoever runs this service" : <a href={contact}>whoever runs this service</a>;
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">Keys and limits</h2>
      <p>
        Each request names a key, best in the header <code>x-api-key</code>. A request gives at most 20,000
        rows; page with <code>limit</code> and <code>offset</code>, or take whole tables as files.
      </p>
      <table class="stacked">
        <caption class="visually-hidden">Kinds of keys, their limits and how to get one</caption>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Sees</th>
            <th scope="col">Limit</th>
            <th scope="col">How to get it</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">
              Demonstration: <code>{demonstrationKey}</code>
            </th>
            <td data-label="Sees">public data</td>
            <td data-label="Limit">{describe("demo")}</td>
            <td data-label="How to get it">it is this one</td>
          </tr>
          <tr>
            <th scope="row">Individual</th>
            <td data-label="Sees">public data</td>
            <td data-label="Limit">{describe("individual")}</td>
            <td data-label="How to get it">free: ask {operator}</td>
          </tr>
          <tr>
            <th scope="row">Tribal</th>
            <td data-label="Sees">suppressed Tribal data as well</td>
            <td data-label="Limit">{describe("tribal")}</td>
            <td data-label="How to get it">
              under an agreement that a federal official approved: ask {operator}. It ends after six months.
            </td>
          </tr>
        </tbody>
      </table>
      <p>
        Hours and days are calendar hours and days in UTC. <code>X-RateLimit-Remaining-Hour</code> and{" "}
        <code>RateLimit-Reset</code> of every answer say what is left, and for how many seconds.
      </p>
    </section>
  );
}
