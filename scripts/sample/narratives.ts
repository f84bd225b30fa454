import type { Award, Filing } from "./model.ts";
import { PHRASES } from "./phrases.ts";
import { FINDING_LENGTHS, PLAN_LENGTHS } from "./proportions.ts";
import { at, invertQuantiles, type Random } from "./random.ts";
import { ORGANISATIONS, PEOPLE } from "./vocabulary.ts";

/** What a text is about. `requirement` is the letters of type_requirement. */
export type Subject = { filing: Filing; award: Award; requirement: string };

// Sections whose sentences exclude each other.
const ONE_SENTENCE: ReadonlySet<string> = new Set(["Questioned costs", "Views of responsible officials"]);
const MANY_SENTENCES = PHRASES.finding.length - ONE_SENTENCE.size;

/** A finding: sections from criteria to views of officials, each as long as its share of the whole. */
export function composeFindingText(random: Random, subject: Subject): string {
  const length = invertQuantiles(FINDING_LENGTHS, random.next());
  const separator = random.pick(["\n", "\n\n", " ", "\r\n"]);
  return PHRASES.finding
    .map(({ title, phrases }) => {
      const share = ONE_SENTENCE.has(title) ? 0 : length / MANY_SENTENCES - title.length;
      return `${title}: ${composeText(random, phrases, subject, share)}`;
    })
    .join(separator);
}

/** A corrective action plan. A tribal auditee's first sentence is about its enterprises. */
export function composePlan(random: Random, subject: Subject): string {
  const length = invertQuantiles(PLAN_LENGTHS, random.next());
  const isTribal = subject.filing.auditee.entityType === "tribal";
  const opening = isTribal ? `${fillIn(random, random.pick(PHRASES.tribalPlan), subject)} ` : "";
  return opening + composeText(random, PHRASES.plan, subject, length - opening.length);
}

/** Sentences in the order of the phrases, from a random one on, until the length is reached. At least one. */
export function composeText(
  random: Random,
  phrases: readonly string[],
  subject: Subject,
  length: number,
): string {
  let position = random.integer(0, phrases.length - 1);
  let text = fillIn(random, at(phrases, position), subject);
  while (text.length < length) {
    position = (position + 1) % phrases.length;
    text += ` ${fillIn(random, at(phrases, position), subject)}`;
  }
  return text;
}

/** Long texts came in pieces: now and then one is split over rows with the same key. Joined, they are the text. */
export function splitText(random: Random, text: string): string[] {
  const isSplit = text.length > 10_000 || (text.length > 1_500 && random.chance(0.08));
  if (!isSplit) return [text];
  const size = Math.ceil(text.length / random.integer(2, 3));
  const pieces: string[] = [];
  for (let start = 0; start < text.length; start += size) pieces.push(text.slice(start, start + size));
  return pieces;
}

function fillIn(random: Random, phrase: string, { filing, award, requirement }: Subject): string {
  return phrase.replace(/\{(\w+)\}/g, (_, slot: string) => {
    if (slot === "auditee") return nameShortly(filing);
    if (slot === "program") return award.federal_program_name;
    if (slot === "number") {
      return `Assistance Listing No. ${award.federal_agency_prefix}.${award.federal_award_extension}`;
    }
    if (slot === "n") return String(random.integer(1, 9));
    if (slot === "m") return String(random.integer(15, 90));
    if (slot === "dollars") return formatDollars(random.integer(1_100, 2_400_000));
    if (slot === "year") return String(filing.auditYear);
    if (slot === "prior") return String(filing.auditYear - random.integer(2, 9));
    if (slot === "title") return random.pick(PEOPLE.auditeeTitles);
    return PHRASES.requirements[random.pick([...requirement])] ?? "compliance";
  });
}

/** "$1,234,567", the same in every locale. */
export function formatDollars(amount: number): string {
  const digits = String(Math.abs(amount)).replace(/\B(?=(\d{3})+$)/g, ",");
  return amount < 0 ? `-$${digits}` : `$${digits}`;
}

/** "the County": one word throughout a submission. */
function nameShortly({ auditee, index }: Filing): string {
  const names = ORGANISATIONS.shortNames[auditee.entityType];
  return at(names, index % names.length);
}
