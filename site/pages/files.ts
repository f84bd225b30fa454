import { formatNumber, formatSize, formatTime } from "../format.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageContext } from "../page-context.ts";
import type { ServiceFacts } from "../service-facts.ts";
import { command, copyButton, table, writeDocument } from "./layout.ts";

/** A file of the live data set, as the manifest lists it. */
interface BulkFile {
  name: string;
  table: string;
  audit_year: string | null;
  format: string;
  rows: number;
  bytes: number;
  sha256: string;
}

export interface Manifest {
  data_set: string;
  published_at: string;
  files: BulkFile[];
}

/** The page of bulk files: names, sizes, and commands that open them. */
export function writeFiles(context: PageContext, manifest: Manifest | undefined): string {
  return writeDocument(context, {
    path: "/files",
    title: "Files",
    description: "All public Single Audit data as files, CSV and Parquet, with sizes and checksums.",
    body: html`<div class="wrap page">
<h1>Files</h1>
${
  // After a restore, the storage has the files of the lost data set.
  manifest === undefined || context.facts?.data_set === null
    ? html`<p class="notice">There are no files now. Reload this page in a minute.</p>`
    : listFiles(context, manifest)
}
</div>`,
  });
}

function listFiles(
  { appUrl, facts }: PageContext,
  { data_set: dataSet, published_at: published, files }: Manifest,
): Html {
  const years = [...new Set(files.map((file) => file.audit_year))].filter(Boolean).sort().reverse();
  const ofYear = (year: string | null) => files.filter((file) => file.audit_year === year);
  return html`<p class="lead">All public rows, without a key. Data set <code class="id">${dataSet}</code>, published
  <time datetime="${published}">${formatTime(new Date(published))}</time>.</p>
<section aria-labelledby="tables"><h2 id="tables">Whole tables</h2>
${listTables("Files of whole tables", ofYear(null), facts)}</section>
<section aria-labelledby="years"><h2 id="years">By audit year</h2>
${years.map(
  (year) => html`<details><summary>${year}</summary>
${listTables(`Files of audit year ${year}`, ofYear(year), facts)}</details>`,
)}</section>
<section aria-labelledby="open"><h2 id="open">Open a file</h2>
<p>DuckDB, Polars, pandas with pyarrow, R with arrow, Power BI and Tableau read Parquet, which keeps the types of the columns.
  In a CSV file, read every column as text first: otherwise <code>043015799</code> loses its leading zero. These commands print
  the reports of Puerto Rico, whose ZIP codes start with 0:</p>
${Object.entries(describeCommands(`${appUrl}/public-data/`)).map(
  ([name, text]) => html`<h3>${name}</h3>${command(`Command for ${name}`, text)}`,
)}
<h3>Excel and other spreadsheets</h3>
<p>Filter the rows in the <a href="/explorer">explorer</a>, then save them in one of two ways:</p>
<ul>
  <li>“CSV for spreadsheets” opens with a double click. Codes are written as <code>="00610"</code>, which a spreadsheet shows as
    00610. Do not import this file column by column.</li>
  <li>“CSV” and the files on this page hold the bare values. In Excel, choose Data, From Text/CSV, Transform Data, and set the
    type of the columns to Text. In LibreOffice, set it in the dialog that opens; its command line needs
    <code>--infilter="CSV:44,34,76,1"</code> (UTF-8).</li>
</ul></section>
<section aria-labelledby="more"><h2 id="more">For programs</h2>
<p><a href="/public-data/manifest.json">manifest.json</a> lists the files, describes every column (JSON Table Schema), and
  names the reports that each publication added, changed and removed. <a href="/openapi.json">openapi.json</a> describes the
  service.</p>
<p>Programs written for the federal service find the CSV files at the same paths here:
  <a href="/dissemination/public-data/gsa/full/general.csv"><code>/dissemination/public-data/gsa/full/general.csv</code></a> and
  <code>/dissemination/public-data/gsa/audit-year/2023-ay-general.csv</code>.</p></section>`;
}

function describeCommands(base: string): Record<string, string> {
  const columns = ["auditee_name", "auditee_ein", "auditee_zip", "total_amount_expended"];
  const print = `print(general.loc[general['auditee_state'] == 'PR', ['${columns.join("', '")}']].to_string())`;
  return {
    DuckDB: `duckdb -c "select ${columns.join(", ")} from '${base}general.parquet' where auditee_state = 'PR'"`,
    "Python, Parquet": `python3 -c "
import pandas
general = pandas.read_parquet('${base}general.parquet').astype({'total_amount_expended': 'Int64'})
${print}"`,
    "Python, CSV": `python3 -c "
import pandas
general = pandas.read_csv('${base}general.csv.gz', dtype='string', keep_default_na=False, na_values=[''])
general = general.astype({'total_amount_expended': 'Int64'})
${print}"`,
    R: `Rscript -e '
options(scipen = 999)
download.file("${base}general.csv.gz", "general.csv.gz", mode = "wb")
general <- read.csv("general.csv.gz", colClasses = "character", na.strings = "")
general$total_amount_expended <- as.numeric(general$total_amount_expended)
print(subset(general, auditee_state == "PR", c("${columns.join('", "')}")))'`,
  };
}

function listTables(caption: string, files: BulkFile[], facts: ServiceFacts | undefined): Html {
  const formats = [...new Set(files.map(({ format }) => format))];
  const rows = [...new Set(files.map((file) => file.table))].map((name) => {
    const own = files.filter((file) => file.table === name);
    const link = (format: string): Content => {
      const file = own.find((each) => each.format === format);
      return (
        file &&
        html`<a href="/public-data/${file.name}">${file.name}</a> ${formatSize(file.bytes)}
        <span class="hint"><code>${file.sha256.slice(0, 12)}…</code>
        ${copyButton(`Copy SHA-256 of ${file.name}`, file.sha256, "Copy SHA-256")}</span>`
      );
    };
    const title = facts?.api[0]?.tables.find((each) => each.name === name)?.title ?? name;
    const count = own[0]?.rows ?? 0;
    // Files of a year have only public rows.
    const stubs = own[0]?.audit_year === null ? count - (facts?.data_set?.rows[name] ?? count) : 0;
    const rows = [
      formatNumber(count),
      stubs > 0 &&
        html` <span class="hint">${formatNumber(stubs)} of them are suppressed: only a report ID and
          <code>is_public = false</code></span>`,
    ];
    return { cells: [title, rows, ...formats.map(link)] };
  });
  const headings = [
    "Table",
    { text: "Rows", isNumber: true },
    ...formats.map((format) => (format === "csv" ? "CSV, gzip" : "Parquet")),
  ];
  return table(caption, headings, rows);
}
