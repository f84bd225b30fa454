// Filters the tables and columns that the server has written.

const root = document.getElementById("reference");
const field = document.querySelector<HTMLInputElement>("#search");
const found = document.getElementById("found");

interface Section {
  element: HTMLElement;
  heading: string;
  rows: { element: HTMLElement; text: string }[];
}

const readText = (element: Element | null) => (element?.textContent ?? "").toLowerCase();

const sections = Array.from(
  document.querySelectorAll<HTMLElement>("section:has(> table)"),
  (element): Section => ({
    element,
    heading: readText(element.querySelector("h2")),
    rows: Array.from(element.querySelectorAll<HTMLElement>("tbody tr"), (row) => ({
      element: row,
      text: readText(row),
    })),
  }),
).filter(({ element }) => element.classList.contains("reference-table"));

/** What stays of a word without its ending, so that “repeated” finds “repeat”. */
const findStem = (word: string) => (word.length > 5 ? word.replace(/(ed|ing|es|s)$/, "") : word);

/** Shows what has all of the words. A table whose own name or title has them is shown with all its columns. */
function search(text: string): { tables: number; columns: number } {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean).map(findStem);
  const hasAll = (haystack: string) => words.every((word) => haystack.includes(word));
  let tables = 0;
  let columns = 0;
  for (const { element, heading, rows } of sections) {
    const isWhole = hasAll(heading);
    const shown = rows.filter((row) => isWhole || hasAll(`${element.id} ${row.text}`));
    for (const row of rows) row.element.hidden = !shown.includes(row);
    element.hidden = shown.length === 0;
    tables += shown.length === 0 ? 0 : 1;
    columns += shown.length;
  }
  root?.classList.toggle("is-searched", words.length > 0);
  return { tables, columns };
}

function tell({ tables, columns }: { tables: number; columns: number }): void {
  if (found === null) return;
  found.textContent = `${columns} ${columns === 1 ? "column" : "columns"} in ${tables} ${tables === 1 ? "table" : "tables"}`;
}

if (field !== null) {
  field.addEventListener("input", () => tell(search(field.value)));
  // A browser that comes back to the page fills the field in again.
  if (field.value !== "") tell(search(field.value));
  // A link to a column that the search hides shows all again.
  addEventListener("hashchange", () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.closest("[hidden]")) {
      field.value = "";
      tell(search(""));
      target.scrollIntoView();
    }
  });
}
