import { defineConfig } from "vitest/config";

// Vitest gives BASE_URL a meaning of its own in the suites, so the deployment's address goes by another name there.
if (process.env.BASE_URL) process.env.API_URL = process.env.BASE_URL;

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    // The suites share one stack, and some publish data or spend rate limits.
    fileParallelism: false,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
