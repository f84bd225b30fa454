import { writeFile } from "node:fs/promises";
import path from "node:path";
import { chromium } from "playwright-core";
import { vi } from "vitest";
import { makeDirectory } from "../support/make-directory.ts";

/**
 * Starts the Chromium that is inside the npm package, with the libraries and fonts that it brings for machines that have
 * none.
 */
export async function startBrowser() {
  const directory = await makeDirectory();
  // The package changes these.
  for (const name of ["FONTCONFIG_PATH", "LD_LIBRARY_PATH", "HOME"]) vi.stubEnv(name, process.env[name]);
  // The package unpacks itself into TMPDIR, and its libraries only where it takes the machine for AWS Lambda.
  vi.stubEnv("TMPDIR", directory);
  vi.stubEnv("AWS_LAMBDA_JS_RUNTIME", "nodejs22.x");
  try {
    const { default: packaged } = await import("@sparticuz/chromium");
    packaged.setGraphicsMode = false;
    const executablePath = await packaged.executablePath();
    // The package's own configuration looks for its fonts in /tmp/fonts; without any font Chromium ends.
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
    // Not the package's arguments: those switch the same-origin policy off.
    const args = [
      "--disable-gpu",
      "--disable-domain-reliability",
      "--no-pings",
      "--font-render-hinting=none",
    ];
    const launch = () => chromium.launch({ executablePath, env, args });
    let browser = await launch();
    return {
      /** Starts it again if it has crashed. */
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
