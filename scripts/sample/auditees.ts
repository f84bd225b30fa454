import type { Auditee, EntityType } from "./model.ts";
import { composeEin, composePerson, composeUei, composeZip } from "./people.ts";
import { findPin, findPinnedGroup, PINNED_COUNT } from "./pinned.ts";
import { ENTITY_TYPES, FISCAL_YEAR_ENDS, TRIBAL_EVERY } from "./proportions.ts";
import { createRandom, type Random, spreadEvenly } from "./random.ts";
import { nameState, ORGANISATIONS, PEOPLE, PLACES } from "./vocabulary.ts";

export const YEARS_PER_AUDITEE = 3;

/** The first such group. */
const FIRST_TRIBAL = 2;

const PLACE_CHOICES = PLACES.map((place) => [place, place.weight] as const);

/**
 * Who submission `index` is about, and in which of their years it stands (0, 1, 2). After the pinned
 * submissions, three in a row are one auditee's.
 */
export function composeAuditee(
  seed: number,
  index: number,
): { auditee: Auditee; group: number; year: number } {
  const isPinned = index < PINNED_COUNT;
  const group = isPinned ? -1 : Math.floor((index - PINNED_COUNT) / YEARS_PER_AUDITEE);
  const year = isPinned ? 0 : (index - PINNED_COUNT) % YEARS_PER_AUDITEE;
  const fixed = isPinned
    ? { fiscalYearEndMonth: 6, ...findPin(index)?.auditee }
    : findPinnedGroup(group)?.auditee;
  const random = createRandom(seed, isPinned ? "pinned auditee" : "auditee", isPinned ? index : group);
  const [kind, size] = spreadEvenly(seed, isPinned ? index : group);
  const isTribal = group >= 0 && group % TRIBAL_EVERY === FIRST_TRIBAL;
  const entityType = fixed?.entityType ?? (isTribal ? "tribal" : chooseEntityType(kind));
  return { auditee: { ...inventAuditee(random, entityType, size, fixed?.name), ...fixed }, group, year };
}

function chooseEntityType(u: number): EntityType {
  return ENTITY_TYPES.find(([end]) => u < end)?.[1] ?? "unknown";
}

function inventAuditee(random: Random, entityType: EntityType, size: number, fixedName?: string): Auditee {
  const { state, zip, cities, counties } = random.weigh(PLACE_CHOICES);
  const city = random.pick(cities);
  const isMunicipality = state === "PR" && (entityType === "local" || entityType === "non-profit");
  const name = random
    .pick(isMunicipality ? ORGANISATIONS.puertoRico : ORGANISATIONS.auditees[entityType])
    .replace("{place}", city)
    .replace("{county}", random.pick(counties))
    .replace("{word}", random.pick(ORGANISATIONS.words))
    .replace("{state}", nameState(state));
  const words = name.split(" ");
  const shouted = words[0] === words[0]?.toUpperCase() && words.length > 1 ? name.toUpperCase() : name;
  return {
    entityType,
    name: shouted,
    uei: composeUei(random),
    ein: composeEin(random),
    address: `${random.integer(1, 9900)} ${random.pick(ORGANISATIONS.streets)}`,
    city,
    state,
    zip: composeZip(random, zip),
    contact: composePerson(random, fixedName ?? name, PEOPLE.auditeeTitles),
    certifier: composePerson(random, fixedName ?? name, PEOPLE.auditeeTitles),
    size,
    fiscalYearEndMonth: random.weigh(FISCAL_YEAR_ENDS),
  };
}
