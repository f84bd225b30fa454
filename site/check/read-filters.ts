/** Reads an audit year. Undefined if the text is none. */
export const readYear = (text: string): string | undefined =>
  /^(?:19|20)\d\d$/.test(text) ? text : undefined;

/** Reads the number of a program, or the two digits of an agency: "93.778", "ALN 93.778", "93". Undefined if the text is neither. */
export const readAlnOrAgency = (text: string): string | undefined =>
  /^(?:(?:ALN|CFDA)[ .:]*)?(\d\d(?:\.[A-Z0-9]{1,6})?)$/i.exec(text.trim())?.[1]?.toUpperCase();
