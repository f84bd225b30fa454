import type { Auditor } from "./model.ts";
import { composeEin, composePerson, composeZip } from "./people.ts";
import { EXAMPLE_EIN } from "./pinned.ts";
import { createRandom } from "./random.ts";
import { ORGANISATIONS, PEOPLE, PLACES } from "./vocabulary.ts";

export const FIRM_COUNT = 160;

/** Firm `number` of a small market: its reports share its name and EIN. Firm 0 has the example EIN. */
export function composeAuditor(seed: number, number: number): Auditor {
  const random = createRandom(seed, "auditor", number);
  const { state, zip, cities } = random.pick(PLACES);
  const firm = `${random.pick(PEOPLE.lastNames)}, ${random.pick(PEOPLE.lastNames)} ${random.pick(ORGANISATIONS.firmEndings)}`;
  return {
    firm: random.chance(0.4) ? firm.toUpperCase() : firm,
    ein: number === 0 ? EXAMPLE_EIN : composeEin(random),
    address: `${random.integer(1, 9900)} ${random.pick(ORGANISATIONS.streets)}`,
    city: random.pick(cities),
    state,
    zip: composeZip(random, zip),
    contact: composePerson(random, firm, PEOPLE.auditorTitles),
    certifier: composePerson(random, firm, PEOPLE.auditorTitles),
  };
}
