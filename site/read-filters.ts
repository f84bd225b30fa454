import { type ErrorResponse, makeError } from "../shared/web/error-responses.ts";
import { findEverydayProgram } from "./names.ts";
import { readers } from "./search/readers.ts";

/** Reads an audit year. Undefined if the text is none. */
export const readYear = (text: string): string | undefined =>
  /^(?:19|20)\d\d$/.test(text) ? text : undefined;

/** Reads the number of a page, from 1, which nothing means too. Undefined if the text is none. */
export function readPage(typed: unknown): number | undefined {
  if ((typed ?? "") === "") return 1;
  return /^[1-9]\d{0,7}$/.test(String(typed)) ? Number(typed) : undefined;
}

/**
 * Reads a program's number or everyday name, or an agency's first two digits, name or abbreviation: "ALN 93.778", "Medicaid", "93", "HHS".
 * Undefined if the text is none of these, or the name of several programs.
 */
export function readAlnOrAgency(text: string): string | undefined {
  const asked = text.trim();
  const [named, other] = findEverydayProgram(asked)?.alns ?? [];
  if (named !== undefined) return other === undefined ? named : undefined;
  const { agency, program } = (readers.program?.read(asked) ?? readers.agency?.read(asked))?.criteria ?? {};
  return program === undefined ? agency : `${agency}.${program}`;
}

/** A program or agency, as the parameter aln or program of an address. Pages take each other's addresses. */
export const pickProgram = ({ aln, program }: Readonly<Record<string, unknown>>): unknown => program || aln;

/** Refuses a file whose filter is not understood: a file of other rows than those that were asked for would go unnoticed. */
export const refuseUnread = (rows: string, path: string): ErrorResponse =>
  makeError(400, "unknown_filter", {
    message: `The file of ${rows} was not sent, because a parameter was not understood.`,
    hint: `Open ${path} with the same parameters to see which one. Then use that page’s link to the file.`,
  });
