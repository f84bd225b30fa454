/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { VNode } from "preact";
import { isAdmin } from "../client-settings.ts";
import type { ServiceFacts } from "../service-facts.ts";

/** How long each version is served. */
export function Versions({ versions }: { versions: ServiceFacts["versions"] }): VNode {
  const day = (date: Date | null) => date?.toISOString().slice(0, 10) ?? "none announced";
  return (
    <section aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      <p>
        A request names its version in <code>accept-profile</code>; one that names none gets{" "}
        <code>{versions[0]?.schema}</code>, the oldest.
      </p>
      <table class="stacked">
        <caption class="visually-hidden">Served versions, their deprecation and sunset</caption>
        <thead>
          <tr>
            <th scope="col">Version</th>
            <th scope="col">Deprecated from</th>
            <th scope="col">Served until at least</th>
          </tr>
        </thead>
        <tbody>
          {versions.map((version) => (
            <tr key={version.schema}>
              <th scope="row">
                <code>{version.schema}</code>
                {isAdmin(version) && <span class="hint">needs a Tribal key</span>}
              </th>
              <td data-label="Deprecated from">
                {day(version.deprecated_at)}
                {version.link !== null && (
                  <>
                    {" "}
                    <a href={version.link}>
                      How to move on<span class="visually-hidden"> from {version.schema}</span>
                    </a>
                  </>
                )}
              </td>
              <td data-label="Served until at least">{day(version.sunset_at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
