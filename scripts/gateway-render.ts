import { readFile } from "node:fs/promises";
import { Command } from "commander";
import { stringify } from "yaml";
import { dotenv } from "zx";
import { loadConfig } from "../gateway/embedded/declarative-config.ts";
import { maskDocument } from "../gateway/mask-secrets.ts";
import { readActiveKeysOnce } from "../gateway/read-active-keys.ts";
import { type ActiveKey, renderDocument } from "../gateway/render-document.ts";
import { signGatewayToken, templateFile } from "../gateway/start-sync.ts";
import { readSyncConfig, type SyncConfig } from "../gateway/sync-config.ts";
import { describeError } from "../service/describe-error.ts";

const command = new Command("gateway:render")
  .description(
    "Prints the configuration that gateway:sync gives to the gateway's nodes, as YAML, with key hashes, the token\n" +
      "and passwords masked. Where no database is configured it is printed without keys.",
  )
  .option("--check", "print nothing; check it without any node, and exit 1 if it is not valid")
  .option("--template <file>", "render this file in place of gateway/kong.yml")
  .allowExcessArguments(false)
  .addHelpText("after", "\nEnvironment (or .env): as of gateway:sync. See npm run gateway:sync -- --help.")
  .parse();
const options = command.opts<{ check?: boolean; template?: string }>();

/** Stand in where only the template is to be looked at. */
const placeholders: NodeJS.ProcessEnv = {
  GATEWAY_ADMIN_URLS: "http://127.0.0.1:8006",
  POSTGREST_URL: "http://127.0.0.1:8004",
  JWT_SECRET: "a placeholder that verifies nothing",
};
/** One key of each kind of limit, so that a check without a database covers what keys add. */
const examples: ActiveKey[] = [
  { tier: "individual", requests_per_hour: 1000, requests_per_day: null, limited_by: "key" as const },
  { tier: "demo", requests_per_hour: 30, requests_per_day: 50, limited_by: "address" as const },
].map((limits, index) => ({
  ...limits,
  id: `00000000-0000-4000-8000-00000000000${index}`,
  key_sha256: String(index).repeat(64),
}));

try {
  const variables = { ...dotenv.loadSafe(".env"), ...process.env };
  const hasDatabase = Boolean(
    variables.GATEWAY_SYNC_DATABASE_URL || variables.GATEWAY_SYNC_DATABASE_URL_FILE || variables.PGHOST,
  );
  const config: Omit<SyncConfig, "listen" | "adminUrls"> = readSyncConfig(
    hasDatabase ? variables : { PGHOST: "none", ...placeholders, ...withoutEmpty(variables) },
  );
  const document = renderDocument(
    await readFile(options.template ?? templateFile, "utf8"),
    { ...config, gatewayToken: await signGatewayToken(config.jwtSecret) },
    hasDatabase ? await readActiveKeysOnce(config.database) : options.check ? examples : [],
  );
  if (options.check) {
    loadConfig(document);
    process.stderr.write(`The configuration is valid, with ${document.consumers.length} keys.\n`);
  } else {
    if (!hasDatabase) process.stderr.write("Without keys: GATEWAY_SYNC_DATABASE_URL is not set.\n");
    process.stdout.write(stringify(maskDocument(document), { aliasDuplicateObjects: false, lineWidth: 0 }));
  }
} catch (error) {
  process.stderr.write(`gateway:render: ${describeError(error)}\n`);
  process.exitCode = 1;
}

function withoutEmpty(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value));
}
