import type { Auditor } from "./model.ts";
import { composeEin, composePerson, composeZip } from "./people.ts";
import { EXAMPLE_EIN } from "./pinned.ts";
import { createRandom } from "./random.ts";
import { AUDITOR_TITLES, FIRM_ENDINGS, LAST_NAMES, STATES, STREETS } from "./vocabulary.ts";

export const FIRM_COUNT = 160;

/** Firm `number` of a small market: its reports share its name and EIN. Firm 0 has the example EIN. */
export function composeAuditor(seed: number, number: number): Auditor {
  const random = createRandom(seed, "auditor", number);
  const [state, zip, places] = random.pick(STATES);
  const firm = `${random.pick(LAST_NAMES)}, ${random.pick(LAST_NAMES)} ${random.pick(FIRM_ENDINGS)}`;
  return {
    firm: random.chance(0.4) ? firm.toUpperCase() : firm,
    ein: number === 0 ? EXAMPLE_EIN : composeEin(random),
    address: `${random.integer(1, 9900)} ${random.pick(STREETS)}`,
    city: random.pick(places),
    state,
    zip: composeZip(random, zip),
    contact: composePerson(random, firm, AUDITOR_TITLES),
    certifier: composePerson(random, firm, AUDITOR_TITLES),
  };
}
