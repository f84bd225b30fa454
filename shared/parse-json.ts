/**
 * Parses the text of a JSON file. The error omits the parser's message, which quotes the file and may contain secrets.
 *
 * @throws Error that names the file
 */
export function parseJson<Content>(file: string, text: string): Content {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${file} is not valid JSON.`);
  }
}
