/**
 * Parses the text of a file. What is wrong with it is not told: the words for it quote the file, which may hold secrets.
 *
 * @throws Error that names the file
 */
export function parseJson<Content>(file: string, text: string): Content {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${file} is not JSON: it is broken.`);
  }
}
