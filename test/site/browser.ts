import { writeFile } from "node:fs/promises";
import path from "node:path";
import { chromium } from "playwright-core";
import { vi } from "vitest";
import { makeDirectory } from "../support/make-directory.ts";

/**
 * Starts the Chromium in the npm package @sparticuz/chromium, with the libraries and fonts that the package has for
 * machines without them.
 */
export async function startBrowser() {
  const directory = await makeDirectory();
  // The package changes these variables. Stubbing them makes vi.unstubAllEnvs() restore them.
  for (const name of ["FONTCONFIG_PATH", "LD_LIBRARY_PATH", "HOME"]) vi.stubEnv(name, process.env[name]);
  // The package unpacks itself into TMPDIR. It unpacks its libraries only if it seems to run on AWS Lambda.
  vi.stubEnv("TMPDIR", directory);
  vi.stubEnv("AWS_LAMBDA_JS_RUNTIME", "nodejs22.x");
  try {
    const { default: packaged } = await import("@sparticuz/chromium");
    packaged.setGraphicsMode = false;
    const executablePath = await packaged.executablePath();
    // The package's own configuration looks for fonts in /tmp/fonts. Chromium exits if it finds no font.
    await writeFile(
      path.join(directory, "fonts.conf"),
      `<?xml version="1.0"?><fontconfig><dir>${directory}/fonts</dir><cachedir>${directory}/font-cache</cachedir></fontconfig>`,
    );
    const env = {
      ...(process.env as Record<string, string>),
      HOME: directory,
      FONTCONFIG_FILE: path.join(directory, "fonts.conf"),
      LD_LIBRARY_PATH: path.join(directory, "al2023", "lib"),
    };
    // The package's own arguments would switch off the same-origin policy.
    const args = [
      "--disable-gpu",
      "--disable-domain-reliability",
      "--no-pings",
      "--font-render-hinting=none",
    ];
    const launchOnce = () => chromium.launch({ executablePath, env, args });
    // On a busy machine, Chromium sometimes crashes while it starts.
    const launch = () => launchOnce().catch(launchOnce);
    let browser = await launch();
    return {
      /** Returns the browser. Restarts it if it has crashed. */
      get: async () => {
        if (!browser.isConnected()) browser = await launch();
        return browser;
      },
      stop: () => browser.close(),
    };
  } finally {
    vi.unstubAllEnvs();
  }
}
