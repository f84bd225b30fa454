import { readFile } from "node:fs/promises";
import { Command } from "commander";
import { stringify } from "yaml";
import { dotenv } from "zx";
import { type ActiveKey, readActiveKeysOnce } from "../gateway/active-keys.ts";
import { createAdminClient } from "../gateway/admin-client.ts";
import { type Comparison, compareNode, gone, keyParts, type Wanted } from "../gateway/compare-node.ts";
import { createEntityStore } from "../gateway/embedded/entity-store.ts";
import { entityKinds } from "../gateway/entity-defaults.ts";
import { renderBase, renderKey } from "../gateway/render-entities.ts";
import { templateFile } from "../gateway/start-sync.ts";
import { readSyncConfig } from "../gateway/sync-config.ts";
import { describeError } from "../service/describe-error.ts";

const command = new Command("gateway:render")
  .description(
    "Prints what gateway:sync would change in Kong's database, as YAML, and the entities of others in it. It changes\n" +
      "nothing. No key hash and no password is shown.",
  )
  .option("--check", "ask nobody: check the template without any node, and exit 1 if it is not valid")
  .option("--template <file>", "take this file in place of gateway/kong.yml")
  .allowExcessArguments(false)
  .addHelpText("after", "\nEnvironment (or .env): as of gateway:sync. See npm run gateway:sync -- --help.")
  .parse();
const options = command.opts<{ check?: boolean; template?: string }>();

/** Stand in where only the template is to be looked at. */
const placeholders: NodeJS.ProcessEnv = {
  PGHOST: "none",
  GATEWAY_ADMIN_URLS: "http://127.0.0.1:8006",
  POSTGREST_URL: "http://127.0.0.1:8004",
};
/** One key of each kind of limit, so that a check covers what keys add. */
const examples: ActiveKey[] = [
  { tier: "individual", requests_per_hour: 1000, requests_per_day: null, limited_by: "key" as const },
  { tier: "demo", requests_per_hour: 30, requests_per_day: 50, limited_by: "address" as const },
].map((limits, index) => ({
  id: `00000000-0000-4000-8000-00000000000${index}`,
  key_sha256: String(index).repeat(64),
  limits,
  expiresAt: Number.POSITIVE_INFINITY,
}));

try {
  const variables = { ...dotenv.loadSafe(".env"), ...process.env };
  const template = await readFile(options.template ?? templateFile, "utf8");
  if (options.check) {
    const set = Object.entries(variables).filter(([, value]) => value);
    check(template, readSyncConfig({ ...placeholders, ...Object.fromEntries(set) }));
  } else await showDifferences(template, readSyncConfig(variables));
} catch (error) {
  process.stderr.write(`gateway:render: ${describeError(error)}\n`);
  process.exitCode = 1;
}

/** Puts everything into the embedded gateway's store, which refuses what Kong would refuse. */
function check(template: string, config: ReturnType<typeof readSyncConfig>): void {
  const base = renderBase({ ...config, template }, examples[0]?.limits);
  const { put } = createEntityStore();
  for (const kind of ["services", "routes", "plugins"] as const) {
    for (const { id, ...entity } of base[kind]) put(kind, id, entity);
  }
  for (const { consumer, plugin, credential } of examples.map((key) => renderKey(base, key))) {
    put("consumers", consumer.id, consumer);
    if (plugin !== undefined) put("plugins", plugin.id, plugin);
    put("key-auths", credential.id, credential);
  }
  process.stderr.write("The configuration is valid.\n");
}

async function showDifferences(template: string, config: ReturnType<typeof readSyncConfig>): Promise<void> {
  const keys = await readActiveKeysOnce(config.database);
  const wanted: Wanted = {
    base: renderBase({ ...config, template }, keys.sharedLimits()),
    keys: keys.all,
  };
  const shown: Record<string, object> = {};
  for (const adminUrl of config.adminUrls) {
    const admin = createAdminClient({ adminUrl, token: config.adminToken });
    try {
      shown[adminUrl] = describe(await compareNode(admin, () => wanted));
    } finally {
      await admin.close();
    }
  }
  process.stdout.write(stringify(shown, { aliasDuplicateObjects: false, lineWidth: 0 }));
}

/** In words, without what an entity holds: a credential's key is among it. */
function describe({ base, keys, strays, foreign, same }: Comparison): object {
  const changes = [...base, ...strays].map(({ action, kind, id, fields, entity }) => {
    const what = `${action} ${kind} ${String(entity?.name ?? id)}`;
    return fields.length === 0 ? what : `${what}: ${fields.join(", ")}`;
  });
  for (const [id, parts] of keys) {
    const kinds = keyParts.filter((_, index) => parts & (1 << index));
    changes.push(parts === gone ? `remove consumers ${id}` : `write ${kinds.join(", ")} of key ${id}`);
  }
  const others = foreign.toSorted(
    (one, other) => entityKinds.indexOf(one.kind) - entityKinds.indexOf(other.kind),
  );
  return { same, changes, foreign: others.map(({ kind, name }) => `${kind} ${name}`) };
}
