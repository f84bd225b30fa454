import { z } from "zod";
import { entityTypes } from "./model.ts";
import { choices, readData } from "./read-data.ts";

const list = z.string().transform((text) => text.split("; "));

const place = z.object({
  state: z.string(),
  name: z.string(),
  /** How often it is chosen: how many reports it files. */
  weight: z.coerce.number().positive(),
  /** What its ZIP codes begin with. */
  zip: z.string().regex(/^\d{3}$/),
  cities: list,
  counties: list,
});

const people = z.object({
  firstNames: choices,
  lastNames: choices,
  auditeeTitles: choices,
  auditorTitles: choices,
});

const organisations = z.object({
  auditees: z.record(z.enum(entityTypes), choices),
  puertoRico: choices,
  shortNames: z.record(z.enum(entityTypes), choices),
  words: choices,
  firmEndings: choices,
  passthroughEntities: choices,
  passthroughIds: choices,
  streets: choices,
});

/** States and territories. */
export const PLACES = readData("places.csv", z.array(place));

/** Names and titles of people who do not exist. */
export const PEOPLE = readData("people.json", people);

/**
 * What names of auditees, firms and pass-through entities are made of; they belong to nobody. Filled in: {place} a
 * city, {county}, {state} and {STATE} the state's name, {word}. `puertoRico` is for municipalities and
 * non-profits there. `shortNames` are what narratives call an auditee.
 */
export const ORGANISATIONS = readData("organisations.json", organisations);

const STATE_NAMES = new Map(PLACES.map(({ state, name }) => [state, name]));

/** "California" of "CA"; what is no state is its own name. */
export function nameState(state: string): string {
  return STATE_NAMES.get(state) ?? state;
}
