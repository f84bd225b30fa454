import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { kongSettings } from "../../scripts/stack/kong.ts";
import schema from "./compose.schema.json" with { type: "json" };

const project = path.resolve(import.meta.dirname, "../..");

interface Service {
  image: string;
  build?: string | { dockerfile_inline: string };
  user?: string;
  command?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
  configs?: { source: string; target: string }[];
  ports?: string[];
  networks: string[];
  volumes?: string[];
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  restart?: string;
  mem_limit?: string;
  privileged?: boolean;
  network_mode?: string;
  extends?: { file: string; service: string };
}
interface Compose {
  configs?: Record<string, { file?: string }>;
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
  secrets: Record<string, { file?: string; environment?: string }>;
}

async function readCompose(file: string): Promise<Compose> {
  const text = await readFile(path.join(project, file), "utf8");
  return parse(text, {
    merge: true,
    customTags: [{ tag: "!override", collection: "seq", resolve: (list) => list }],
  });
}
const base = await readCompose("docker-compose.yml");
const scale = await readCompose("docker-compose.scale.yml");
const services = Object.entries(base.services);
const own = Object.entries(scale.services).filter(([, { image }]) => image !== undefined);
const dockerfile = await readFile(path.join(project, "Dockerfile"), "utf8");
const publishAddress = "$" + "{PUBLISH_ADDRESS:-127.0.0.1}";
/** Services that do their work and end. */
const oneShot = ["migrate", "replication-role"];

describe.each(["docker-compose.yml", "docker-compose.scale.yml"])("%s", (file) => {
  test("follows the Compose Specification", async () => {
    const validate = new Ajv({
      strict: false,
      allErrors: true,
      validateFormats: false,
      validateSchema: false,
    }).compile(schema);
    const document = JSON.parse(JSON.stringify(await readCompose(file)));
    validate(document);
    expect(validate.errors ?? []).toEqual([]);
    // The check itself can fail.
    expect(validate({ services: { a: { image: "b", prots: [] } } })).toBe(false);
  });

  test("defines every network, volume and secret that it uses", async () => {
    const { networks, secrets } = base;
    const { services: used, secrets: more = {} } = await readCompose(file);
    for (const service of Object.values(used)) {
      for (const network of service.networks ?? []) expect(networks).toHaveProperty(network);
      for (const secret of service.secrets ?? []) expect({ ...secrets, ...more }).toHaveProperty(secret);
    }
  });
});

describe("who can reach what", () => {
  test("only the API and the report service are published, on loopback by default", () => {
    const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]));
    expect(published).toEqual([
      ["gateway", `${publishAddress}:$\{GATEWAY_PORT:-8000}:8000`],
      ["report-service", `${publishAddress}:$\{APP_PORT:-8001}:8001`],
    ]);
    // Kong's admin port is another than the published one.
    expect(base.services.gateway?.environment?.KONG_ADMIN_LISTEN).toBe("0.0.0.0:8001");
    expect(base.services.gateway?.environment?.KONG_PROXY_LISTEN).toBe("0.0.0.0:8000");
  });

  test("all others but the refresher, which fetches from elsewhere, are on internal networks alone", () => {
    const internal = Object.entries(base.networks)
      .filter(([, { internal }]) => internal === true)
      .map(([name]) => name);
    expect(internal.sort()).toEqual(["database", "gateway", "storage"]);
    const hidden = services
      .filter(([, { networks }]) => networks.every((network) => internal.includes(network)))
      .map(([name]) => name);
    expect(hidden.sort()).toEqual([
      "counters",
      "gateway-sync",
      "migrate",
      "postgres",
      "postgrest",
      "storage",
    ]);
  });

  test("neither Kong nor the storage can reach PostgreSQL, and neither report service nor storage Kong's admin port", () => {
    const on = (network: string) =>
      services.filter(([, { networks }]) => networks.includes(network)).map(([name]) => name);
    expect(on("database")).not.toContain("gateway");
    expect(on("database")).not.toContain("storage");
    for (const network of base.services.gateway?.networks ?? []) {
      expect(on(network)).not.toContain("report-service");
      expect(on(network)).not.toContain("storage");
    }
  });

  test("signed addresses lead to the report service, which passes them on to the storage", () => {
    expect(base.services["report-service"]?.environment).toMatchObject({
      S3_ENDPOINT: "$" + "{S3_ENDPOINT:-http://storage:7070}",
      S3_PUBLIC_ENDPOINT: "$" + "{S3_PUBLIC_ENDPOINT:-http://localhost:$" + "{APP_PORT:-8001}}",
      S3_FORCE_PATH_STYLE: "true",
    });
  });
});

describe.each([...services, ...own])("the service %s", (name, service) => {
  const inherited =
    service.extends === undefined ? service : { ...base.services[service.extends.service], ...service };

  test("has a pinned image", () => {
    const { build, image } = service;
    const pinned = /^[\w./-]+:v?\d+\.\d+(\.\d+)?(-\w+)?$/;
    if (typeof build === "object") {
      for (const [, from = ""] of build.dockerfile_inline.matchAll(/(?:^FROM |--from=)(\S+)/gm)) {
        expect(from).toMatch(pinned);
      }
      expect(image).toBe(`single-audit-${name}`);
    } else if (build !== undefined) expect(image).toBe("single-audit");
    else expect(image).toMatch(pinned);
  });

  test("is contained", () => {
    expect(inherited).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      restart: oneShot.includes(name) ? "on-failure:3" : "unless-stopped",
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
    });
    expect(inherited.cap_add).toBeUndefined();
    expect(inherited.privileged).toBeUndefined();
    expect(inherited.network_mode).toBeUndefined();
    expect(inherited.volumes?.join() ?? "").not.toContain("docker.sock");
  });

  test("does not run as root", () => {
    if (service.build === ".") {
      expect(inherited.user).toBeUndefined();
      expect(dockerfile).toMatch(/^USER node$/m);
    } else expect(inherited.user).toMatch(/^([1-9]\d*:[1-9]\d*|kong)$/);
  });

  test("has a health check", () => {
    if (oneShot.includes(name)) return;
    expect(inherited.healthcheck?.test[0]).toMatch(/^CMD(-SHELL)?$/);
  });

  test("waits for what it needs to be healthy, or done", () => {
    for (const [needed, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect(base.services[needed] ?? scale.services[needed]).toBeDefined();
      expect([needed, condition]).toEqual([
        needed,
        oneShot.includes(needed) ? "service_completed_successfully" : "service_healthy",
      ]);
    }
  });

  test("gets no secret by its environment or command", () => {
    for (const [variable, value] of Object.entries(service.environment ?? {})) {
      if (/PASSWORD|SECRET|TOKEN|KEY|DB_URI|DATABASE_URL/.test(variable)) {
        expect([variable, value]).toEqual([
          variable,
          expect.stringMatching(
            variable.endsWith("_FILE") ? /^\/run\/secrets\/\w+$/ : /^@\/run\/secrets\/\w+$/,
          ),
        ]);
      }
      expect(value).not.toMatch(/:\/\/[^/]*:[^/]*@/);
      const file = /\/run\/secrets\/(\w+)$/.exec(value)?.[1];
      if (file !== undefined) expect(service.secrets).toContain(file);
    }
  });
});

test("every secret is a file", () => {
  for (const { file, environment } of Object.values({ ...base.secrets, ...scale.secrets })) {
    expect(file).toMatch(/^\.\/secrets\/\w+$/);
    expect(environment).toBeUndefined();
  }
});

test("PostgREST's health check asks its admin server", () => {
  const { environment, healthcheck } = base.services.postgrest ?? {};
  expect(healthcheck?.test.at(-1)).toBe(`http://127.0.0.1:${environment?.PGRST_ADMIN_SERVER_PORT}/ready`);
});

describe("PostgreSQL's settings", () => {
  /** What a command would start, with programs that print their arguments in place of PostgreSQL's. */
  async function runCommand(command: string, limit: string): Promise<string> {
    const directory = await mkdtemp(path.join(tmpdir(), "compose-"));
    try {
      await writeFile(path.join(directory, "limit"), limit);
      for (const name of ["docker-entrypoint.sh", "postgres"]) {
        await writeFile(path.join(directory, name), `#!/bin/sh\necho "${name} $*"\n`, { mode: 0o755 });
      }
      const [mounted] = base.services.postgres?.configs ?? [];
      const script = path.join(project, base.configs?.[mounted?.source ?? ""]?.file ?? "");
      const meant = command
        .replaceAll("$$", "$")
        .replace(mounted?.target ?? "", `${script} ${path.join(directory, "limit")}`);
      const env = { PATH: `${directory}:${process.env.PATH}` };
      return (await promisify(execFile)("/bin/sh", ["-ec", meant], { env })).stdout.trim();
    } finally {
      await rm(directory, { recursive: true });
    }
  }
  const [command = ""] = base.services.postgres?.command ?? [];
  const settings = [
    "-c shared_buffers=512MB -c effective_cache_size=1536MB -c max_wal_size=2GB -c jit=off",
    "-c log_line_prefix=%m,%p,%a: -c log_parameter_max_length=0 -c log_parameter_max_length_on_error=0",
  ].join(" ");

  test("follow the container's limit", async () => {
    expect(base.services.postgres).toMatchObject({ entrypoint: ["/bin/sh", "-ec"], mem_limit: "2g" });
    expect(await runCommand(command, "2147483648\n")).toBe(`docker-entrypoint.sh postgres ${settings}`);
    expect(await runCommand(command, "max\n")).toContain("shared_buffers=256MB");
  });

  test("are the same where there are replicas", async () => {
    const [primary = ""] = scale.services.postgres?.command ?? [];
    expect(await runCommand(primary, "2147483648")).toBe(
      `docker-entrypoint.sh postgres ${settings} -c hba_file=/etc/postgresql/pg_hba.conf -c max_slot_wal_keep_size=8GB`,
    );
    const replica = scale.services["postgres-replica"];
    expect(replica?.configs).toEqual(base.services.postgres?.configs);
    const [start = ""] = /^ *exec postgres [\s\S]*$/m.exec(replica?.command?.[0] ?? "") ?? [];
    const started = await runCommand(start, "2147483648");
    expect(started.slice(0, started.indexOf(" -c hot_standby"))).toBe(`postgres ${settings}`);
  });
});

test("Kong has the settings that it has without Docker", () => {
  const environment = base.services.gateway?.environment ?? {};
  // Compose reads $$ as a dollar sign.
  const meant = Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, value.replaceAll("$$", "$")]),
  );
  expect(meant).toMatchObject(kongSettings);
  expect(base.services.gateway?.image).toMatch(/^kong:3\.9\.\d+$/);
});

test("Kong's access log holds no query string, where a key may stand", () => {
  const { KONG_NGINX_HTTP_LOG_FORMAT = "", KONG_PROXY_ACCESS_LOG } = base.services.gateway?.environment ?? {};
  expect(KONG_PROXY_ACCESS_LOG).toBe("/dev/stdout without_query");
  expect(KONG_NGINX_HTTP_LOG_FORMAT).toMatch(/^without_query '[^']*'$/);
  expect(KONG_NGINX_HTTP_LOG_FORMAT).not.toMatch(
    /\$(request\b(?!_)|request_uri|args|query_string|http_|upstream_uri)/,
  );
});

describe("the image", () => {
  test("is built in two stages on a pinned image, without development's packages", () => {
    const stages = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    expect(stages).toHaveLength(2);
    for (const stage of stages) expect(stage).toMatch(/^node:20\.\d+\.\d+-bookworm-slim$/);
    expect(dockerfile).toContain("npm ci --omit=dev --omit=optional");
  });

  test("gets the programs that compose runs, and neither tests nor secrets", async () => {
    const lines = (await readFile(path.join(project, ".dockerignore"), "utf8")).split("\n");
    const copied = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
    expect(lines).toContain("*");
    expect(copied).not.toContain("test");
    for (const entry of copied) await expect(stat(path.join(project, entry)), entry).resolves.toBeDefined();
    const needed = new Set<string>();
    for (const [, { build, command = [] }] of services) {
      if (build === ".") needed.add(command.find((word) => word.endsWith(".ts")) ?? "none");
    }
    // A set goes on over what is added to it meanwhile: the modules that these programs import.
    for (const module of needed) {
      expect(copied, module).toContain(module.split("/")[0]);
      const text = await readFile(path.join(project, module), "utf8");
      for (const [, imported = ""] of text.matchAll(/(?:from |import\()"(\.[^"]+\.tsx?)"/g)) {
        needed.add(path.join(path.dirname(module), imported));
      }
    }
    expect(needed.size).toBeGreaterThan(50);
  });
});

test("npm run compose:secrets makes every secret once, closed to others, and never in git", async () => {
  const directory = await mkdtemp(path.join(tmpdir(), "secrets-"));
  try {
    const target = path.join(directory, "secrets");
    const run = () =>
      promisify(execFile)(process.execPath, [
        ...["--import", "tsx", "scripts/compose-secrets.ts", "--directory", target],
      ]);
    await run();
    const wanted = Object.values({ ...base.secrets, ...scale.secrets }).map(({ file = "" }) =>
      path.basename(file),
    );
    expect((await readdir(target)).sort()).toEqual([".gitignore", ...wanted].sort());
    expect((await stat(target)).mode & 0o777).toBe(0o700);
    expect(await readFile(path.join(target, ".gitignore"), "utf8")).toBe("*\n");
    const read = async () =>
      Object.fromEntries(
        await Promise.all(
          wanted.map(async (name) => [name, await readFile(path.join(target, name), "utf8")]),
        ),
      );
    const made = await read();
    expect(made.postgrest_db_uri).toBe(
      `postgres://authenticator:${made.authenticator_password}@postgres:5432/single_audit`,
    );
    expect(made.counters_config).toBe(`requirepass ${made.counters_password}`);
    for (const content of Object.values(made)) expect(content).toMatch(/^\S.{19,}$/);
    await run();
    expect(await read()).toEqual(made);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
