/** A GET request to the API. */
interface ApiRequest {
  /** With path and query, percent-encoded. */
  url: string;
  /** All except the key. */
  headers: Record<string, string>;
  /** The demonstration key is written out; a visitor's own key never is. */
  key: "demonstration" | "own";
}

export const demonstrationKey = "DEMO_KEY";

/** Languages in which a request can be written, and what people call them. */
export const languages = { curl: "curl", python: "Python", r: "R", typescript: "TypeScript" } as const;
export type Language = keyof typeof languages;

/**
 * Writes a request as a complete program that prints the rows. It reads the visitor's own key from the environment
 * variable API_KEY. Python needs only its standard library, R needs httr2 and jsonlite, and TypeScript needs fetch and
 * process.env (Node.js 20, Deno, Bun).
 */
export function writeSnippet(language: Language, request: ApiRequest): string {
  return writers[language](request);
}

const setKeyFirst = "Set the environment variable API_KEY to your key first.";

/** Quotes a text for a POSIX shell. */
export function quoteShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

const writers: Record<Language, (request: ApiRequest) => string> = {
  curl: ({ url, headers, key }) => {
    const ownKey = `"x-api-key: \${API_KEY:?Set it first: export API_KEY=YOUR_KEY}"`;
    const lines = [
      // -g makes curl send brackets in the URL unchanged.
      `curl -sS -g ${quoteShell(url)}`,
      `-H ${key === "own" ? ownKey : quoteShell(`x-api-key: ${demonstrationKey}`)}`,
      ...Object.entries(headers).map(([name, value]) => `-H ${quoteShell(`${name}: ${value}`)}`),
    ];
    return lines.join(" \\\n  ");
  },
  python: (request) => `${request.key === "own" ? `# ${setKeyFirst}\n` : ""}import json
${request.key === "own" ? "import os\n" : ""}import urllib.request

request = urllib.request.Request(
    ${JSON.stringify(request.url)},
    headers={
${listHeaders(request, 'os.environ["API_KEY"]', (name, value) => `        "${name}": ${value},`)}
    },
)
with urllib.request.urlopen(request) as response:
    rows = json.load(response)
print(json.dumps(rows, indent=2))`,
  r: (
    request,
  ) => `${request.key === "own" ? `# ${setKeyFirst} In R: Sys.setenv(API_KEY = "YOUR_KEY")\n` : ""}# install.packages(c("httr2", "jsonlite"))
library(httr2)

response <- request(${JSON.stringify(request.url)}) |>
  req_headers(
${listHeaders(request, 'Sys.getenv("API_KEY")', (name, value) => `    \`${name}\` = ${value},`).replace(/,$/, "")}
  ) |>
  req_perform()
rows <- resp_body_json(response, simplifyVector = TRUE)
options(scipen = 999)
print(rows)`,
  typescript: (request) => `${request.key === "own" ? `// ${setKeyFirst}\n` : ""}async function main() {
  const response = await fetch(${JSON.stringify(request.url)}, {
    headers: {
${listHeaders(request, 'process.env.API_KEY ?? ""', (name, value) => `      "${name}": ${value},`)}
    },
  });
  if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`);
  const rows: Record<string, unknown>[] = await response.json();
  console.log(JSON.stringify(rows, null, 2));
}

main();`,
};

/** Writes a line for each header. JSON's string escapes are valid in Python, R and TypeScript. */
function listHeaders(
  { headers, key }: ApiRequest,
  ownKey: string,
  write: (name: string, value: string) => string,
): string {
  const keyValue = key === "own" ? ownKey : JSON.stringify(demonstrationKey);
  const others = Object.entries(headers).map(([name, value]) => write(name, JSON.stringify(value)));
  return [write("x-api-key", keyValue), ...others].join("\n");
}
