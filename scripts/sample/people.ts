import type { Person } from "./model.ts";
import type { Random } from "./random.ts";
import { PEOPLE } from "./vocabulary.ts";

/** Someone who does not exist: their mail goes to a reserved domain, their number is one of the fictional 555-01xx. */
export function composePerson(random: Random, organisation: string, titles: readonly string[]): Person {
  const first = random.pick(PEOPLE.firstNames);
  const last = random.pick(PEOPLE.lastNames);
  return {
    name: `${first} ${last}`,
    title: random.pick(titles),
    email: `${toSlug(first)}.${toSlug(last)}@${toSlug(organisation).slice(0, 24)}.example.org`,
    phone: `${random.integer(2, 9)}${random.digits(2)}55501${random.digits(2)}`,
  };
}

/** Twelve characters without I and O, which a UEI never has. */
export function composeUei(random: Random): string {
  const characters = "ABCDEFGHJKLMNPQRSTUVWXYZ123456789";
  return Array.from({ length: 12 }, () => characters[random.integer(0, characters.length - 1)]).join("");
}

/** Nine digits; leading zeros happen. */
export function composeEin(random: Random): string {
  return random.digits(9);
}

/** Five or nine digits that begin with the three given. */
export function composeZip(random: Random, prefix: string): string {
  return prefix + random.digits(random.chance(0.4) ? 6 : 2);
}

function toSlug(text: string): string {
  return text
    .normalize("NFD")
    .replace(/[^A-Za-z0-9]/g, "")
    .toLowerCase();
}
