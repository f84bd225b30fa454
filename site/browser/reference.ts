// Searches the tables and columns in the page.

const root = document.getElementById("reference");
const field = document.querySelector<HTMLInputElement>("#search");
const found = document.getElementById("found");
const sections = [...document.querySelectorAll<HTMLElement>(".reference-table")];

/** A word without its ending, so that "repeated" finds "repeat". */
const findStem = (word: string) => (word.length > 5 ? word.replace(/(ed|ing|es|s)$/, "") : word);

/** Shows only the columns whose own text and table heading together contain all words. */
function search(text: string): void {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean).map(findStem);
  let columns = 0;
  for (const section of sections) {
    const heading = section.querySelector("h2")?.textContent ?? "";
    const rows = [...section.querySelectorAll<HTMLElement>("tbody tr")];
    for (const row of rows) {
      const haystack = `${heading} ${row.textContent}`.toLowerCase();
      row.hidden = !words.every((word) => haystack.includes(word));
    }
    const shown = rows.filter(({ hidden }) => !hidden).length;
    section.hidden = shown === 0;
    columns += shown;
  }
  root?.classList.toggle("is-searched", words.length > 0);
  const tables = sections.filter(({ hidden }) => !hidden).length;
  if (found === null) return;
  found.textContent = `${columns} ${columns === 1 ? "column" : "columns"} in ${tables} ${tables === 1 ? "table" : "tables"}`;
}

if (field !== null) {
  field.addEventListener("input", () => search(field.value));
  // When a visitor returns to the page, the browser may restore the field's text.
  if (field.value !== "") search(field.value);
}
