import { readChangesFilter } from "../changes-filter.ts";
import {
  count,
  describeRequirements,
  entityTypes,
  findRequirements,
  listSubjects,
  questionedCostsNote,
  requirements,
  writeBadges,
} from "../finding-words.ts";
import {
  type FoundFindings,
  findingsOnPage,
  mostCounted,
  mostInFile,
  mostWithPhrases,
  mostWithTexts,
  type NamedIds,
  type NamedPrograms,
  type WordsPart,
} from "../findings/find-findings.ts";
import {
  type AskedFindings,
  type Criterion,
  describeCriteria,
  describeValue,
  type Field,
  type FindingCriteria,
  fields,
  flags,
  isSeveral,
  linkAsked,
  linkFindings,
  linkTogether,
  longestWords,
  ofProgram,
  replaceName,
  type Several,
  splitList,
  writeProgram,
} from "../findings/read-criteria.ts";
import { writeFindingsQueries } from "../findings/write-query.ts";
import { formatDay, formatNumber, writeEasternDate } from "../format.ts";
import { type Content, type Html, html } from "../html.ts";
import { states } from "../names.ts";
import type { PageContext } from "../page-context.ts";
import { writeMissing } from "../successors.ts";
import { explainDecisions, noDueDate, writeDueBadge } from "../verdict.ts";
import { markProgram, writeRelatedPrograms } from "./awards.ts";
import { writeExtract } from "./extract.ts";
import { linkToFinding, listEarlier, nameFinding, writeNoText } from "./findings-list.ts";
import { printedLink, writeDocument } from "./layout.ts";
import { countPages, writeNoPage } from "./page-turns.ts";

/** A search for findings, and what was found. */
interface FindingsResult extends AskedFindings {
  page: number;
  /** Whether the page's number was not understood. */
  isPageUnread: boolean;
  similar: SimilarNames;
  found: FoundFindings;
}

const title = "Findings";
const description =
  "Search what auditors found in federal single audits, and what auditees plan to do about it.";

/** The page that searches findings: a form, the findings, and the counts of each filter's values. */
export function writeFindings(context: PageContext, result: FindingsResult): string {
  const { criteria, found, ignored } = result;
  const isShown = found.total > 0 && ignored.length === 0;
  return writeDocument(context, {
    path: "/findings",
    title: [title, ...describe(result)].join(": ").slice(0, 150),
    description,
    feed: readChanges(criteria)?.search,
    body: html`<div class="wrap page">
<h1>Findings</h1>
<p class="lead">What auditors found, and what auditees plan to do about it, newest first.</p>
${writeForm(context, result)}
${writeNotices(result)}
${writeMissing(splitList(criteria.u), { unknown: found.unknown ?? new Map(), replaced: found.replaced ?? [] }, (u) => linkFindings({ ...criteria, u }))}
${writeRelatedWords(result)}
${writeRequirement(result)}
${writeChosen(result)}
<div class="with-counts">
<div>
${result.ignored.length > 0 ? writeRest(result) : writeFound(context, result)}
</div>
${isShown && writeCounts(result)}
</div>
${result.ignored.length === 0 && writeRequest(context, result)}
</div>`,
  });
}

/** The findings, or what to do if there are none. */
function writeFound(context: PageContext, result: FindingsResult): Html {
  const { criteria, found } = result;
  return html`<p class="lead" role="status">${describeTotal(result)}</p>
${criteria.questioned_costs && html`<p class="hint">${questionedCostsNote}</p>`}
${found.is_of_one && found.total > 0 && html`<p class="hint">A management decision is due ${explainDecisions(writeEasternDate(new Date()))}</p>`}
${writeRelatedPrograms(found.related, (aln) => linkFindings({ ...criteria, aln }), {
  isWhole: describeCriteria(criteria).length === 1,
  together: linkTogether(criteria),
})}
${writeNumbers(result)}
${
  found.total === 0
    ? writeAdvice(result)
    : result.page > lastPage(result)
      ? writeNoPage(result.page, lastPage(result), linkFindings(criteria))
      : [found.rows.map((row) => writeFinding(context, result, row)), writePages(result)]
}`;
}

/** Leads to the findings of the rest of the search. Findings of another auditee are no answer. */
const writeRest = (result: FindingsResult): Html =>
  html`<p class="lead" role="status">No findings are shown, because a part of the search was not understood.</p>
<p><a href="${linkFindings(result.criteria)}">Search without it</a>: ${describeTotal(result)}</p>`;

/** Says which numbers of a program are counted together. */
function writeNumbers({ criteria, found: { numbers } }: FindingsResult): Content {
  const { aln_and_letters: together, ...others } = criteria;
  const isWhole = Object.keys(others).length === 0;
  const links = numbers?.map(
    ({ aln, findings }, index) =>
      html`${index > 0 && ", "}<a href="${linkFindings({ ...others, aln })}">${aln}</a>${isWhole && ` (${count(findings, "finding")})`}`,
  );
  return (
    together !== undefined &&
    (links
      ? html`<p>${
          links.length > 1
            ? html`Counted together: ${links}. Choose a number to see only its findings.`
            : html`Public awards have only one of these numbers: ${links}.`
        }</p>`
      : html`<p>No public award has the number ${together}, with or without a letter code.</p>`)
  );
}

/** The criteria in words. */
const describe = ({ criteria, found: { names } }: FindingsResult): string[] =>
  describeCriteria(criteria, names).map(([, words]) => words);

/** A name that was typed, and what it may mean. */
export type Choice =
  | { field: "auditee" | "auditor"; text: string; found: NamedIds }
  | { field: "program"; text: string; programs: NamedPrograms };

/** For a name that nothing has, similar names and the addresses of their findings. */
export type SimilarNames = Partial<Record<Field, { name: string; link: string }[]>>;

/** The page that lists the auditees, auditors or programs that have a name that was typed. */
export function writeChoices(context: PageContext, asked: AskedFindings, choices: Choice[]): string {
  return writeDocument(context, {
    path: "/findings",
    title: `${title}: choose one`,
    description,
    body: html`<div class="wrap page">
<h1>Findings</h1>
${writeForm(context, asked)}
${choices.map((choice) => writeChoice(asked, choice))}
</div>`,
  });
}

function writeChoice(asked: AskedFindings, choice: Choice): Html {
  if (choice.field === "program") {
    const items = choice.programs.map(
      ({ aln, federal_program_name: name, awards }) =>
        html`<li><a href="${linkAsked(replaceName(asked, "program", ofProgram(aln)))}">${aln} ${name}</a> <span class="hint">${count(awards, "award")}</span></li>`,
    );
    return html`<nav aria-label="Choose a program"><h2>Which program?</h2>
<p role="status">These programs are called “${choice.text}” or have names with words that begin with it. Those with the most awards come first. Choose one to see its findings.</p>
<ul>${items}</ul></nav>`;
  }
  const { field, text, found } = choice;
  const more = found.total - found.ids.length;
  const items = found.ids.map(({ id, name, city, state, reports }) => {
    const link = linkAsked(replaceName(asked, field, { [field]: id }));
    const place = [city, state].filter(Boolean).join(", ");
    return html`<li><a href="${link}">${name || "not stated"}</a> <span class="hint">${[place, `${id.length === 9 ? "EIN" : "UEI"} ${id}`, count(reports, "public report")].filter(Boolean).join(" · ")}</span></li>`;
  });
  return html`<nav aria-label="Choose an ${field}"><h2>Which ${field}?</h2>
<p role="status">${found.is_cut ? "More than " : ""}${formatNumber(found.total)} ${field}s have names with the words “${text}”. Choose one to see its findings.</p>
<ul>${items}</ul>
${(more > 0 || found.is_cut) && html`<p>${more > 0 && `${formatNumber(more)} more are not listed. `}Add words of the name${field === "auditee" && " or a state"} to find others.</p>`}</nav>`;
}

/** The changes of reports, which can be filtered only by one state, a program and a list. */
export const readChanges = ({ state, aln, aln_and_letters: together, agency, u }: FindingCriteria) =>
  together === undefined && splitList(state).length < 2
    ? readChangesFilter({ state, aln: aln ?? agency, u })
    : undefined;

function writeForm({ facts }: PageContext, { criteria, ignored }: AskedFindings): Html {
  const years = [...new Set(facts?.totals?.totals_by_state.map((total) => total.audit_year ?? ""))].filter(
    Boolean,
  );
  const { aln, aln_and_letters, agency, ...others } = criteria;
  const program = writeProgram(criteria);
  const values: Partial<Record<Field, string>> = {
    ...others,
    ...(program && { program }),
    ...Object.fromEntries(ignored),
  };
  const input = (name: Field, more: Content, example?: string) =>
    html`<div class="field"><label for="${name}">${fields[name]}${example && html` <span class="hint">such as ${example}</span>`}</label><input id="${name}" name="${name}" value="${values[name]}"${more}></div>`;
  const select = (name: Field, options: string[]) =>
    html`<div class="field"><label for="${name}">${fields[name]}</label><select id="${name}" name="${name}"><option value="">Any</option>${options.map(
      (value) =>
        html`<option value="${value}"${value === values[name] && html` selected`}>${describeValue(name, value)}</option>`,
    )}</select></div>`;
  const box = (name: string, value: string, text: string, isChecked: boolean) =>
    html`<label class="check"><input type="checkbox" name="${name}" value="${value}"${isChecked && html` checked`}> ${text}</label>`;
  const boxes = (name: Several, options: string[]) => {
    const chosen = splitList(criteria[name]);
    // Chosen values come first, because the box scrolls.
    const all = [...new Set([...chosen, ...options])];
    return html`<details class="field"><summary>${fields[name]}${chosen.length > 0 && ` (${chosen.length} used)`}</summary>
<fieldset class="checks" id="${name}" aria-label="${fields[name]}">${all.map((value) => box(name, value, name === "year" ? value : describeValue(name, value), chosen.includes(value)))}</fieldset></details>`;
  };
  const chosen = Object.keys(criteria).filter((name) => name !== "words").length;
  return html`<form class="narrow" action="/findings" aria-label="Search findings">
${input("words", html` type="search" maxlength="${longestWords}" autocomplete="off" aria-describedby="words-hint"`)}
<p class="hint" id="words-hint">Finds words in any order and form. Put exact words and phrases in quotation marks, “or” between alternatives, and a minus before a word to leave out.</p>
<details${Object.keys(criteria).length === 0 && html` open`}><summary>Filters${chosen > 0 && ` (${chosen} used${criteria.words === undefined ? "" : " besides the words"})`}</summary>
<div class="fields">
${input("program", html` autocomplete="off"`, "93.778, Medicaid, HHS, or 84.425* with its letter codes")}
${select("direct", ["Y", "N"])}
${input("accepted_since", html` type="date"`)}
${input("auditee", html` autocomplete="off"`)}
${input("auditor", html` autocomplete="off"`)}
${input("u", html` autocomplete="off"`)}
</div>
<div class="fields">
${boxes("requirement", Object.keys(requirements))}
${boxes("state", Object.keys(states))}
${boxes("year", years.sort().reverse())}
${boxes("entity_type", Object.keys(entityTypes))}
</div>
<fieldset class="row"><legend>Only findings with</legend>${Object.entries(flags).map(([name, text]) => box(name, "Y", text, name in criteria))}</fieldset></details>
<button type="submit">Search findings</button>
</form>`;
}

/** What can be searched for by name. */
const named: Partial<Record<Field, string>> = {
  auditee: "No public report names such an auditee.",
  auditor: "No public report names such an auditor.",
  program: "No program has such a number or name.",
};

const writeSimilarNames = (similar: SimilarNames[Field] = []): Content =>
  similar.length > 0 &&
  html` Did you mean ${similar.map(({ name, link }, index) => html`${index > 0 && " or "}<a href="${link}">${name}</a>`)}?`;

function writeNotices({ ignored, isCut, isPageUnread, similar, found }: FindingsResult): Content {
  const notices = [
    ignored.length > 0 &&
      `Not used, because it was not understood: ${ignored.map(([field, text]) => `${fields[field]} “${text}”`).join("; ")}.`,
    ...ignored.map(
      ([field, text]) =>
        named[field] &&
        html`${named[field]}${writeSimilarNames(similar[field])} <a href="/search?q=${encodeURIComponent(text)}">Search the reports for “${text}”</a>.`,
    ),
    isCut && `Only the first ${longestWords} characters of the words were used.`,
    isPageUnread && "The page number was not understood. This is the first page.",
    found.is_cut &&
      `Only the newest ${formatNumber(mostWithPhrases)} findings that contain all words of the phrase were searched. Add a filter to search others.`,
    found.lacks_words &&
      "The search has only words that nearly every text has, such as “the” and “of”, or no letter or digit. Use other words.",
  ];
  return notices.map((notice) => notice && html`<p class="notice">${notice}</p>`);
}

/** Says how the words were read if a search has more to it than words that all must be there. */
function describeWords(alternatives: WordsPart[][]): string {
  const isPlain =
    alternatives.length === 1 &&
    !alternatives.flat().some((part) => part.is_excluded || part.forms.length > 1);
  if (isPlain) return "";
  const describePart = ({ forms, is_excluded: isExcluded }: WordsPart, index: number) =>
    (isExcluded ? " without " : index > 0 ? ", and for " : "") +
    forms.map((form) => `“${form}”`).join(" or ");
  const read = alternatives.map((parts) =>
    parts
      .toSorted((one, other) => Number(one.is_excluded) - Number(other.is_excluded))
      .map(describePart)
      .join(""),
  );
  return [...new Set(read)].join(", or for ");
}

/** Says how the words were read. */
function writeRelatedWords({ criteria: { words }, found }: FindingsResult): Content {
  const alternatives = words === undefined ? [] : (found.words ?? []);
  const read = describeWords(alternatives);
  const hasForms = alternatives.flat().some(({ forms }) => forms.length > 1);
  return (
    read !== "" &&
    html`<p>Searched for ${read}.${hasForms && " Other forms of these words count too. To find only one form, put it in quotation marks."}</p>`
  );
}

/** Leads from words that name a requirement to the findings that state it, and from a requirement to texts with its words. */
function writeRequirement({ criteria }: FindingsResult): Content {
  const { words, requirement, ...others } = criteria;
  if (requirement === undefined) {
    const links = findRequirements(words ?? "").map((letter, index) => {
      const all = linkFindings({ ...others, requirement: letter });
      const some = linkFindings({ ...criteria, requirement: letter });
      return html`${index > 0 && "; "}<a href="${all}">all findings on requirement ${describeValue("requirement", letter)}</a> (<a href="${some}">those with these words</a>)`;
    });
    return links.length > 0 && html`<p>Texts may use other words. See also ${links}.</p>`;
  }
  const letters = splitList(requirement);
  const subjects = letters
    .flatMap(listSubjects)
    .map(
      (subject, index) =>
        html`${index > 0 && ", "}<a href="${linkFindings({ ...others, words: subject })}">“${subject}”</a>`,
    );
  return html`<p>A finding may state several requirements. These state ${letters.join(" or ")}, alone or with others.
${words === undefined && subjects.length > 0 && html` Texts of other findings may name ${letters.length > 1 ? "them" : "it"} too: search for ${subjects}.`}</p>`;
}

function linkWithout(criteria: FindingCriteria, name: Criterion): string {
  const { [name]: _removed, ...others } = criteria;
  return linkFindings(others);
}

/** Links that remove one of the filters. */
function writeChosen({ criteria, found }: FindingsResult): Content {
  const links = describeCriteria(criteria, found.names).map(
    ([name, words]) =>
      html`<li><a href="${linkWithout(criteria, name)}">Remove<span class="visually-hidden"> the filter</span> ${words}</a></li>`,
  );
  return (
    links.length > 0 &&
    html`<nav aria-label="Filters"><ul class="choices only-screen">${links}${links.length > 1 && html`<li><a href="/findings">Remove all</a></li>`}</ul></nav>`
  );
}

const describeCount = (total: number): string =>
  `${total > mostCounted ? "More than " : ""}${formatNumber(Math.min(total, mostCounted))} ${total === 1 ? "finding" : "findings"}`;

function describeTotal(result: FindingsResult): string {
  const {
    found: { total },
    page,
  } = result;
  const chosen = describe(result);
  if (total === 0) return `No public finding matches${chosen.length > 0 ? `: ${chosen.join(", ")}` : ""}.`;
  const last = lastPage(result);
  return `${describeCount(total)}${chosen.length > 0 ? `: ${chosen.join(", ")}` : " in all public reports"}.${last > 1 && page <= last ? ` Page ${formatNumber(page)} of ${formatNumber(last)}.` : ""}`;
}

function writeAdvice({ criteria, found }: FindingsResult): Html {
  const chosen = describeCriteria(criteria, found.names);
  const removals = chosen.map(
    ([name, words], index) => html`${index > 0 && ", "}<a href="${linkWithout(criteria, name)}">${words}</a>`,
  );
  return html`<h2>What to try</h2>
<ul>
  ${chosen.length > 1 && html`<li>Each finding must match all ${formatNumber(chosen.length)} of these. Remove one: ${removals}.</li>`}
  ${
    criteria.words &&
    html`<li>Use fewer words. One text must contain all words, in any order, and phrases in quotation marks
  exactly as you wrote them.</li>`
  }
  <li><a href="/search">Search for the auditee</a> by its name, UEI or EIN.</li>
  <li>See <a href="/findings">all findings</a>.</li>
</ul>
<p>Findings of suppressed reports cannot be found. If a report was resubmitted, only the newest public version counts.</p>`;
}

type FoundFinding = FoundFindings["rows"][number];

const writeExcerpts = ({ report_id: id, text, plan }: FoundFinding): Html =>
  html`${text ? html`<p>${markWords(text)}</p>` : writeNoText(id)}
${plan && html`<p><strong>Plan:</strong> ${markWords(plan)}</p>`}`;

/** When the management decision on a finding is due. */
const describeDue = ({ management_decision_due: due }: FoundFinding): Content =>
  due === null ? noDueDate : [formatDay(due), writeDueBadge(due, writeEasternDate(new Date()))];

/** A text and a plan, beside each other. */
function writeBeside({ report_id: id, text, plan }: FoundFinding): Html {
  if (!text && !plan) return writeNoText(id);
  const part = (heading: string, written: string | null) =>
    html`<div><h3>${heading}</h3>${written ? html`<p class="text">${markWords(written)}</p>` : writeNoText(id)}</div>`;
  return html`<div class="beside">${part("What the auditor found", text)}
${part("What the auditee plans", plan)}</div>`;
}

function writeFinding({ appUrl }: PageContext, { criteria, found }: FindingsResult, row: FoundFinding): Html {
  const { report_id: id, alns, asked_alns: asked } = row;
  const number = nameFinding(row.reference_number);
  // The report's page marks a program, but not how its awards were received.
  const program = criteria.direct && asked.length === 1 ? asked[0] : writeProgram(criteria);
  const link = linkToFinding(id, row.reference_number, row.place, program);
  const isCut = [row.text, row.plan].some((written) => /^…|…$/.test(written ?? ""));
  const earlier = listEarlier(row.prior_finding_ref_numbers, row.earlier);
  const place = [row.auditee_city, row.auditee_state].filter(Boolean).join(", ");
  const accepted = row.fac_accepted_date && `accepted ${formatDay(row.fac_accepted_date)}`;
  const facts = [place, row.audit_year && `audit year ${row.audit_year}`, accepted];
  const programs = [...asked, ...alns.filter((aln) => !asked.includes(aln))].slice(0, 5).map((aln, index) => {
    const link = html`<a href="/program/${aln}">${aln}</a>`;
    return [index > 0 && ", ", asked.includes(aln) ? markProgram(link) : link];
  });
  return html`<article class="found">
<h2><a href="${link}">${row.auditee_name || "not stated"}: finding ${number}</a></h2>
<p class="hint">${facts.filter(Boolean).join(" · ")}</p>
${writeBadges(row)}
<p>Requirement: ${describeRequirements(row.type_requirement) || "not stated"}. ${alns.length > 0 && html`Programs: ${programs}${alns.length > 5 && `, and ${alns.length - 5} more`}.`} ${earlier && html`Repeat of ${earlier}.`}</p>
${found.is_of_one && html`<p>Management decision due: ${describeDue(row)}</p>`}
${found.is_of_one ? writeBeside(row) : writeExcerpts(row)}
${isCut && html`<p>${printedLink(appUrl, link, `Whole text and plan of finding ${number}`)}</p>`}
<p class="print-only">Report ${id}${!isCut && html`: <span class="address">${appUrl}${link}</span>`}</p>
</article>
`;
}

/** Writes an excerpt. The words between U+0001 and U+0002 are marked. */
function markWords(excerpt: string): Html[] {
  return excerpt.split("\u0001").map((part, index) => {
    const [word = "", ...rest] = index === 0 ? ["", part] : part.split("\u0002");
    return html`${word !== "" && html`<mark>${word}</mark>`}${rest.join("")}`;
  });
}

const lastPage = ({ found: { total } }: FindingsResult): number =>
  countPages(total, { most: mostCounted, onPage: findingsOnPage });

function writePages(result: FindingsResult): Content {
  const { criteria, page } = result;
  const last = lastPage(result);
  const turns = [
    page > 1 && html`<li><a rel="prev" href="${linkFindings(criteria, page - 1)}">Previous page</a></li>`,
    page < last && html`<li><a rel="next" href="${linkFindings(criteria, page + 1)}">Next page</a></li>`,
  ];
  return last > 1 && html`<nav aria-label="Pages of findings"><ul class="choices">${turns}</ul></nav>`;
}

/** The filters whose values are counted, as criteria. */
const counted: Record<string, string> = {
  requirement: "Requirement",
  year: "Audit year",
  state: "State",
  agency: "Agency",
  entity_type: "Kind of auditee",
};
const mostValues = 8;

/** How many of the findings have each value of each filter. A value is a link that adds the filter. */
function writeCounts({ criteria, found: { counts, total } }: FindingsResult): Html {
  const link = (more: FindingCriteria, text: string, findings: number) =>
    html`<li><a href="${linkFindings({ ...criteria, ...more })}">${text}</a> (${formatNumber(findings)})</li>`;
  const lists = Object.entries(counted).map(([name, heading]) => {
    const isProgram = name === "agency" && (criteria.aln ?? criteria.aln_and_letters) !== undefined;
    const chosen = isSeveral(name) ? splitList(criteria[name]) : [];
    const values = counts.filter(
      (each) =>
        each.name === name &&
        !isProgram &&
        // If several values were chosen, links narrow the search to one of them.
        (chosen.length > 1 ? chosen.includes(each.value) : !(name in criteria)),
    );
    if (name === "year") values.sort((one, other) => other.value.localeCompare(one.value));
    const links = values.map(({ value, findings }) =>
      link({ [name]: value }, describeValue(name, value), findings),
    );
    const rest = links.slice(mostValues);
    return (
      links.length + chosen.length > 0 &&
      html`<h3>${heading}</h3>${links.length > 0 && html`<ul>${links.slice(0, mostValues)}</ul>`}
${rest.length > 0 && html`<details><summary>${rest.length} more: ${heading.toLowerCase()}</summary><ul>${rest}</ul></details>`}
${chosen.length > 0 && html`<p><a href="#${name}">Add another under “Filters”</a></p>`}`
    );
  });
  const others: [name: string, more: FindingCriteria, text: string][] = [
    ...Object.entries(flags).map(([name, text]): [string, FindingCriteria, string] => [
      name,
      { [name]: "Y" },
      text,
    ]),
    ["direct", { direct: "Y" }, "Direct awards"],
    ["passed_through", { direct: "N" }, "Passed-through awards"],
  ];
  const flagLinks = others.map(([name, more, text]) => {
    const findings = counts.find((each) => each.name === name)?.findings ?? 0;
    const isChosen = Object.keys(more).some((key) => key in criteria);
    return findings > 0 && !isChosen && link(more, text, findings);
  });
  return html`<aside class="counts only-screen" aria-labelledby="counts"><h2 id="counts">Narrow by</h2>
${total > mostCounted && html`<p class="hint">Counted among the newest ${formatNumber(mostCounted)} findings.</p>`}
${flagLinks.some(Boolean) && html`<h3>With</h3><ul>${flagLinks}</ul>`}
${lists}</aside>`;
}

function writeRequest(context: PageContext, result: FindingsResult): Html {
  const { criteria, found } = result;
  const csv = linkFindings(criteria, 1, "/findings.csv");
  const withTexts = `${csv}${csv.includes("?") ? "&" : "?"}texts=Y`;
  return writeExtract(context, {
    title: [title, ...describe(result)].join(", "),
    path: linkFindings(criteria),
    changes: readChanges(criteria),
    rows: [
      {
        name:
          found.total > mostInFile
            ? `The newest ${formatNumber(mostInFile)} of these findings`
            : "These findings",
        csv,
      },
      {
        name: `The newest ${formatNumber(mostWithTexts)}, with the first 10,000 characters of their texts and plans`,
        csv: withTexts,
      },
      ...writeFindingsQueries(criteria, found),
    ],
  });
}
