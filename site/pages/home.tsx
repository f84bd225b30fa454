/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { VNode } from "preact";
import { readRateLimits } from "../../service/read-rate-limits.ts";
import type { PageContext } from "../page-context.ts";
import { quoteShell, writeSnippet } from "../request-snippets.ts";
import { ErrorsSection } from "./errors-section.tsx";
import { KeysSection } from "./keys-section.tsx";
import { Command, Layout } from "./layout.tsx";
import { LiveSection } from "./live-section.tsx";
import { TotalsSection } from "./totals-section.tsx";

const example =
  "/general?select=report_id,auditee_name,audit_year&order=fac_accepted_date.desc.nullslast&limit=3";

/** The front door: what is here, how fresh it is, how to ask, what to do when an answer is an error. */
export function HomePage(context: PageContext): VNode {
  const { config, facts } = context;
  return (
    <Layout
      context={context}
      path="/"
      title="Single Audit API"
      description="Federal Single Audit submissions as a read-only HTTP API: tables, filters, CSV and JSON."
    >
      <div class="hero">
        <div class="wrap hero__row">
          <div>
            <h1>Federal single audits, as data you can query</h1>
            <p class="lead">
              Who was audited, by whom, which federal awards were spent, what was found and what will be done
              about it: Single Audit submissions (2 CFR part 200, subpart F) as tables, over HTTP, as JSON or
              CSV.
            </p>
            <p class="actions">
              <a class="button" href="/explorer">
                Try it in the browser
              </a>
              <a class="button button--outline" href="/reference">
                Look up a column
              </a>
            </p>
            <nav aria-label="On this page">
              <ul class="choices">
                <li>
                  <a href="#live">How new it is</a>
                </li>
                <li>
                  <a href="#totals">Totals</a>
                </li>
                <li>
                  <a href="#keys">Keys and limits</a>
                </li>
                <li>
                  <a href="#errors">Errors</a>
                </li>
              </ul>
            </nav>
          </div>
          <div class="hero__command">
            <h2>Ask now</h2>
            <p>The three newest submissions. This command works as it is:</p>
            <Command
              label="Command that asks for the three newest submissions"
              text={writeSnippet("curl", { url: config.apiUrl + example, headers: {}, key: "demonstration" })}
            />
          </div>
        </div>
      </div>
      <div class="wrap page">
        <LiveSection facts={facts} environment={config.environment} />
        <Totals context={context} />
        <KeysSection limits={readRateLimits()} contact={config.contact} />
        <TribalSection context={context} />
        <ErrorsSection />
      </div>
    </Layout>
  );
}

/** What is known and served of totals, if anything. */
function Totals({ context: { facts, asked } }: { context: PageContext }): VNode | null {
  const schema = facts?.api.find(({ tables }) =>
    tables.some(({ name }) => name === "totals_by_state"),
  )?.schema;
  if (!facts?.totals || facts.totals.totals_by_state.length === 0 || schema === undefined) return null;
  return <TotalsSection told={facts.totals} asked={asked} schema={schema} />;
}

/** The three steps to the PDF of a suppressed report. */
function TribalSection({ context: { config, appUrl, facts } }: { context: PageContext }): VNode {
  const admin =
    facts?.versions.find(({ schema }) => schema.startsWith("admin_"))?.schema ?? "admin_api_v1_1_0";
  return (
    <section aria-labelledby="tribal">
      <h2 id="tribal">Suppressed Tribal reports, in three steps</h2>
      <p>
        A Tribe may keep its audit data from public display (2 CFR 200.512(b)(2)). To most keys such a
        submission is a row of <code>general</code> with <code>is_public = false</code> and nothing else. A
        Tribal key sees all of it, and fetches the report’s PDF like this:
      </p>
      <ol class="steps">
        <li>
          <h3>Find the submission</h3>
          <p>Set the key and the report first; the other steps use them.</p>
          <Command
            label="Command of step 1"
            text={[
              "TRIBAL_KEY=YOUR_KEY",
              "REPORT_ID=2023-06-GSAFAC-0000000001",
              `curl -sS "${config.apiUrl}/general?report_id=eq.$REPORT_ID" -H "x-api-key: $TRIBAL_KEY"`,
            ].join("\n")}
          />
        </li>
        <li>
          <h3>Ask for access</h3>
          <p>
            The answer holds an <code>access_uuid</code>. It works once, for one minute.
          </p>
          <Command
            label="Command of step 2"
            text={[
              `ACCESS_UUID=$(curl -sS ${quoteShell(`${config.apiUrl}/rpc/request_file_access`)} \\`,
              `  -H "x-api-key: $TRIBAL_KEY" -H 'content-profile: ${admin}' \\`,
              '  -H \'content-type: application/json\' -d "{\\"report_id\\": \\"$REPORT_ID\\"}" \\',
              "  | grep -oE '[0-9a-f]{8}(-[0-9a-f]{4,12}){4}')",
            ].join("\n")}
          />
        </li>
        <li>
          <h3>Download the PDF</h3>
          <p>This app redirects to a signed address that lives a minute or less.</p>
          <Command
            label="Command of step 3"
            text={`curl -sS -L -o report.pdf "${appUrl}/dissemination/report/pdf/ota/$ACCESS_UUID"`}
          />
        </li>
      </ol>
      <p>
        If storage is away, step 3 answers 503 and the same <code>access_uuid</code> still works.
      </p>
    </section>
  );
}
