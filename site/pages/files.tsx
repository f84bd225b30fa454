/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { VNode } from "preact";
import type { BulkFile, Manifest } from "../bulk-files.ts";
import type { PageContext } from "../page-context.ts";
import { Scroll } from "../scroll.tsx";
import { Command, Layout } from "./layout.tsx";

const number = new Intl.NumberFormat("en-US");
const time = new Intl.DateTimeFormat("en-US", {
  dateStyle: "long",
  timeStyle: "short",
  timeZone: "America/New_York",
});

/** Everything as files: what there is, how large, and a command in each language that opens it. */
export function FilesPage(context: PageContext, manifest: Manifest | undefined): VNode {
  return (
    <Layout
      context={context}
      path="/files"
      title="Files – Single Audit API"
      description="All public Single Audit data as files, CSV and Parquet, with sizes and checksums."
    >
      <div class="wrap page">
        <h1>Files</h1>
        {manifest === undefined ? (
          <p class="notice">There are no files now. Look again in a minute.</p>
        ) : (
          <Files manifest={manifest} base={`${context.appUrl}/public-data/`} />
        )}
      </div>
    </Layout>
  );
}

function Files({ manifest, base }: { manifest: Manifest; base: string }): VNode {
  const { data_set: dataSet, published_at: published, files } = manifest;
  return (
    <>
      <p class="lead">
        All public rows, without a key. Data set <code class="id">{dataSet}</code>, published{" "}
        <time dateTime={published}>{time.format(new Date(published))} Eastern</time>.
      </p>
      <section aria-labelledby="open">
        <h2 id="open">Open one</h2>
        <p>DuckDB and Python read of a Parquet file only the columns that they need.</p>
        {Object.entries(describeCommands(base)).map(([language, command]) => (
          <div key={language}>
            <h3>{language}</h3>
            <Command label={`Command for ${language}`} text={command} />
          </div>
        ))}
      </section>
      <section aria-labelledby="tables">
        <h2 id="tables">A file a table</h2>
        <FilesTable
          files={files.filter((file) => file.audit_year === null)}
          caption="Files of whole tables"
        />
      </section>
      <section aria-labelledby="years">
        <h2 id="years">A file an audit year</h2>
        <FilesTable
          files={files.filter((file) => file.audit_year !== null)}
          caption="Files of single audit years"
        />
      </section>
      <section aria-labelledby="more">
        <h2 id="more">For programs</h2>
        <p>
          <a href="/public-data/manifest.json">manifest.json</a> lists the files, describes every column (JSON
          Table Schema), and names the reports that each publication has added, changed and removed.{" "}
          <a href="/openapi.json">openapi.json</a> describes the service.
        </p>
      </section>
    </>
  );
}

function describeCommands(base: string): Record<string, string> {
  return {
    DuckDB: `duckdb -c "select auditee_state, sum(total_amount_expended) from '${base}general.parquet' group by all"`,
    Python: `python3 -c "import pandas; print(pandas.read_parquet('${base}general.parquet', columns=['report_id', 'auditee_name']))"`,
    R: `Rscript -e 'str(read.csv(gzcon(url("${base}general.csv.gz", "rb"))))'`,
  };
}

function FilesTable({ files, caption }: { files: BulkFile[]; caption: string }): VNode {
  return (
    <Scroll label={caption} kind="wide">
      <table class="stacked">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">File</th>
            <th scope="col" class="number">
              Rows
            </th>
            <th scope="col" class="number">
              Size
            </th>
            <th scope="col">SHA-256</th>
          </tr>
        </thead>
        <tbody>
          {files.map(({ name, rows, bytes, sha256 }) => (
            <tr key={name}>
              <th scope="row">
                <a href={`/public-data/${name}`}>{name}</a>
              </th>
              <td class="number" data-label="Rows">
                {number.format(rows)}
              </td>
              <td class="number" data-label="Size">
                {describeSize(bytes)}
              </td>
              <td data-label="SHA-256">
                <code class="id">{sha256}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function describeSize(bytes: number): string {
  const [unit, size] =
    bytes < 1e6 ? ["KB", bytes / 1e3] : bytes < 1e9 ? ["MB", bytes / 1e6] : ["GB", bytes / 1e9];
  return `${size.toFixed(1)} ${unit}`;
}
