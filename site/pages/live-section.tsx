/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { VNode } from "preact";
import { type EnvironmentName, listNextRuns, timeZone } from "../../service/timetable.ts";
import type { ServiceFacts } from "../service-facts.ts";

const number = new Intl.NumberFormat("en-US");
const day = new Intl.DateTimeFormat("en-US", { dateStyle: "long", timeZone: "UTC" });
const time = new Intl.DateTimeFormat("en-US", { dateStyle: "long", timeStyle: "short", timeZone });

const environments: Record<EnvironmentName, { what: string; refreshed: string }> = {
  production: { what: "for everybody", refreshed: "Wednesdays, 5 a.m. Eastern" },
  staging: { what: "the next release, to try it out", refreshed: "daily, 5 a.m. Eastern" },
  development: { what: "what is being worked on", refreshed: "after each change to the code" },
  preview: { what: "one change, to look at", refreshed: "on demand" },
};

/** Which data set is live, how new and how large it is, and when the next is due. */
export function LiveSection({
  facts,
  environment,
}: {
  facts: ServiceFacts | undefined;
  environment: EnvironmentName | undefined;
}): VNode {
  const dataSet = facts?.data_set;
  return (
    <section aria-labelledby="live">
      <h2 id="live">The data that is live</h2>
      {facts === undefined ? (
        <p class="notice">
          The live figures are not available now: the database did not answer. Look again in a minute.
        </p>
      ) : !dataSet ? (
        <p class="notice">No data has been published yet.</p>
      ) : (
        <>
          <dl class="facts">
            <div>
              <dt>Published</dt>
              <dd>
                <Moment date={dataSet.published_at} />
              </dd>
            </div>
            {facts.totals?.newest_submission && (
              <div>
                <dt>Newest submission accepted</dt>
                <dd>
                  <time dateTime={facts.totals.newest_submission}>
                    {day.format(new Date(facts.totals.newest_submission))}
                  </time>
                </dd>
              </div>
            )}
            <NextRefresh environment={environment} />
            <div>
              <dt>Public submissions</dt>
              <dd>{number.format(dataSet.rows.general ?? 0)}</dd>
            </div>
            <div>
              <dt>Data set</dt>
              <dd>
                <code class="id">{dataSet.id}</code>
              </dd>
            </div>
          </dl>
          <div class="columns">
            <RowsTable rows={dataSet.rows} />
            <Environments current={environment} />
          </div>
        </>
      )}
      {!dataSet && <Environments current={environment} />}
    </section>
  );
}

function NextRefresh({ environment }: { environment: EnvironmentName | undefined }): VNode | null {
  if (environment === undefined) return null;
  const [next] = listNextRuns(environment, 1);
  return (
    <div>
      <dt>Next refresh due</dt>
      <dd>{next === undefined ? environments[environment].refreshed : <Moment date={next} />}</dd>
    </div>
  );
}

function Moment({ date }: { date: Date }): VNode {
  return <time dateTime={date.toISOString()}>{time.format(date)} Eastern</time>;
}

function RowsTable({ rows }: { rows: Record<string, number> }): VNode {
  return (
    <div>
      <h3>Rows a table</h3>
      <table>
        <caption class="visually-hidden">Public rows a table</caption>
        <thead>
          <tr>
            <th scope="col">Table</th>
            <th scope="col" class="number">
              Public rows
            </th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(rows)
            .sort(([a], [b]) => (a === "general" ? -1 : b === "general" ? 1 : a.localeCompare(b)))
            .map(([table, count]) => (
              <tr key={table}>
                <th scope="row">
                  <a href={`/reference#${table}`}>
                    <code>{table}</code>
                  </a>
                </th>
                <td class="number">{number.format(count)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}

function Environments({ current }: { current: EnvironmentName | undefined }): VNode {
  return (
    <div>
      <h3>Environments</h3>
      <table>
        <caption class="visually-hidden">Environments and when their data is refreshed</caption>
        <thead>
          <tr>
            <th scope="col">Environment</th>
            <th scope="col">Refreshed</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(environments).map(([name, { what, refreshed }]) => (
            <tr key={name}>
              <th scope="row">
                {name}
                {name === current && <strong class="tag">this one</strong>}
                <span class="hint">{what}</span>
              </th>
              <td>{refreshed}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        A new data set replaces the live one in a single step. The header <code>Data-Set</code> of an answer
        names the one it came from.
      </p>
    </div>
  );
}
