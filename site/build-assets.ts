import path from "node:path";
import { build, stop } from "esbuild";

/** Files that the pages load, by the path they are served at. The name holds a hash of the content. */
export type Assets = Map<string, { body: Buffer; type: string }>;

export interface BuiltAssets {
  files: Assets;
  /** The path of an entry point, such as `explorer.js` or `site.css`. */
  locate: (name: string) => string;
}

const types: Record<string, string> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** Bundles the pages' scripts and styles, in memory: what runs is what is read, and nothing is built beforehand. */
export async function buildAssets(): Promise<BuiltAssets> {
  const directory = import.meta.dirname;
  const { outputFiles, metafile } = await build({
    absWorkingDir: directory,
    entryPoints: ["browser/page.ts", "browser/reference.ts", "browser/explorer.tsx", "site.css"],
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    outdir: "assets",
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    minify: true,
    legalComments: "none",
    metafile: true,
    write: false,
    logLevel: "silent",
    tsconfigRaw: { compilerOptions: { jsx: "react-jsx", jsxImportSource: "preact" } },
  });
  await stop();
  const files: Assets = new Map();
  for (const { path: file, contents } of outputFiles) {
    const type = types[path.extname(file)] ?? "application/octet-stream";
    files.set(`/assets/${path.basename(file)}`, { body: Buffer.from(contents), type });
  }
  const entries = new Map(
    Object.entries(metafile.outputs).flatMap(([file, { entryPoint }]) =>
      entryPoint === undefined
        ? []
        : [[path.basename(entryPoint).replace(/\.tsx?$/, ".js"), `/assets/${path.basename(file)}`] as const],
    ),
  );
  return {
    files,
    locate: (name) => {
      const found = entries.get(name);
      if (found === undefined) throw new Error(`${name} is not an entry point of the site.`);
      return found;
    },
  };
}
