import path from "node:path";
import { build, stop } from "esbuild";

export interface BuiltAssets {
  /** By path. A path contains a hash of its file's content. */
  files: Map<string, { body: Buffer; type: string }>;
  /** Returns the path of an entry point, such as `explorer.js` or `site.css`. */
  locate: (name: string) => string;
}

/** Bundles the scripts and styles in memory, so that there is no build step. */
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
  const files: BuiltAssets["files"] = new Map();
  const entries = new Map<string, string>();
  for (const { path: file, contents } of outputFiles) {
    const type = file.endsWith(".css") ? "text/css" : "text/javascript";
    files.set(`/assets/${path.basename(file)}`, {
      body: Buffer.from(contents),
      type: `${type}; charset=utf-8`,
    });
  }
  for (const [file, { entryPoint }] of Object.entries(metafile.outputs)) {
    const name = entryPoint && path.basename(entryPoint).replace(/\.tsx?$/, ".js");
    if (name) entries.set(name, `/assets/${path.basename(file)}`);
  }
  return {
    files,
    locate: (name) => entries.get(name) ?? name,
  };
}
