/** Replaces what is not a letter or a digit with spaces, as extensions.split_name() does. */
export const split = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, " ").trim();

/** Removes periods and apostrophes, as extensions.shorten_name() does. */
export const shorten = (text: string): string => text.replace(/[.'‘’]/g, "");

/** The first characters of a text. A character that JavaScript counts as two stays whole, because PostgreSQL refuses half of one. */
export const cut = (text: string, most: number): string => [...text].slice(0, most).join("");

/** Words to compare with those of a list: in lower case, with "and" for "&". */
export const simplify = (text: string): string => split(shorten(text.replaceAll("&", " and "))).toLowerCase();
