import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import schema from "./compose.schema.json" with { type: "json" };
import {
  base,
  dockerfile,
  oneShot,
  own,
  programImage,
  project,
  publishAddress,
  readCompose,
  scale,
  services,
  settings,
  tools,
} from "./read-compose.ts";

describe.each(["docker-compose.yml", "docker-compose.scale.yml"])("%s", (file) => {
  test("follows the Compose Specification", async () => {
    const validate = new Ajv({
      strict: false,
      allErrors: true,
      validateFormats: false,
      validateSchema: false,
    }).compile(schema);
    const document = JSON.parse(JSON.stringify(await readCompose(file, base)));
    validate(document);
    expect(validate.errors ?? []).toEqual([]);
    // The check itself can fail.
    expect(validate({ services: { a: { image: "b", prots: [] } } })).toBe(false);
  });

  test("defines every network, volume and secret that it uses", async () => {
    const { networks, secrets } = base;
    const { services: used, secrets: more = {} } = await readCompose(file, base);
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
      "agreements",
      "counters",
      "keys",
      "migrate",
      "postgres",
      "postgrest",
      "storage",
      "storage-reader",
    ]);
  });

  test("neither Kong nor the storage reaches PostgreSQL, and Kong reaches neither the report service nor the storage", () => {
    const on = (network: string) =>
      services.filter(([, { networks }]) => networks.includes(network)).map(([name]) => name);
    for (const name of ["gateway", "storage", "storage-reader"]) expect(on("database")).not.toContain(name);
    for (const network of base.services.gateway?.networks ?? []) {
      expect(on(network)).not.toContain("report-service");
      expect(on(network)).not.toContain("storage");
    }
  });

  test("signed addresses lead to the report service, which passes them on to the storage", () => {
    expect(base.services["report-service"]?.environment).toMatchObject({
      S3_ENDPOINT: "$" + "{S3_ENDPOINT:-http://storage-reader:7070}",
      S3_PUBLIC_ENDPOINT: "$" + "{S3_PUBLIC_ENDPOINT:-http://localhost:$" + "{APP_PORT:-8001}}",
      S3_FORCE_PATH_STYLE: "true",
    });
  });
});

test("the report service cannot write to the bundled storage", () => {
  const { "report-service": report, "storage-reader": reader } = base.services;
  expect(report?.secrets?.filter((secret) => secret.startsWith("storage"))).toEqual(reader?.secrets);
  expect(base.services.storage?.secrets).not.toEqual(reader?.secrets);
  expect(reader?.volumes).toEqual(["storage:/data:ro"]);
});

test("each image is built by one service, so that none replaces another, and is named after its project", () => {
  const all = [base, scale].flatMap((file) => Object.values(file.services));
  const built = all.filter(({ build }) => build);
  const images = built.map(({ image }) => image);
  expect(images.toSorted()).toEqual([programImage, `${programImage}-postgrest`, `${programImage}-storage`]);
});

describe.each([...services, ...own])("the service %s", (name, service) => {
  test("has a pinned image", () => {
    const { build, image } = service;
    const pinned = /^[\w./-]+:v?\d+\.\d+(\.\d+)?(-\w+)?(@sha256:[0-9a-f]{64})?$/;
    if (typeof build === "object") {
      for (const [, from = ""] of build.dockerfile_inline.matchAll(/(?:^FROM |--from=)(\S+)/gm)) {
        expect(from.replace(/\$\{\w+:-([^}]+)\}/, "$1")).toMatch(pinned);
      }
      expect(image).toBe(`${programImage}-${name}`);
    } else if (image !== undefined && !image.startsWith(programImage)) expect(image).toMatch(pinned);
  });

  test("is contained", () => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      restart: oneShot.includes(name) ? "on-failure:3" : tools.includes(name) ? "no" : "unless-stopped",
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      cpus: expect.toBeOneOf([1, 2]),
    });
    expect(service.cap_add).toBeUndefined();
    expect(service.privileged).toBeUndefined();
    expect(service.network_mode).toBeUndefined();
    expect(service.volumes?.join() ?? "").not.toContain("docker.sock");
  });

  test("does not run as root", () => {
    if (service.image === programImage) {
      expect(service.user).toBeUndefined();
      expect(dockerfile).toMatch(/^USER node$/m);
    } else expect(service.user).toMatch(/^([1-9]\d*:[1-9]\d*|kong)$/);
  });

  test("has a health check", () => {
    if (oneShot.includes(name) || tools.includes(name)) return;
    expect(service.healthcheck?.test[0]).toMatch(/^CMD(-SHELL)?$/);
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
      if (/PASSWORD|SECRET(?!S_)|TOKEN|KEY|DB_URI|DATABASE_URL/.test(variable)) {
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
  async function runCommand(command: string, limit: string, file = "memory.max"): Promise<string> {
    const directory = await mkdtemp(path.join(tmpdir(), "compose-"));
    try {
      await mkdir(path.join(directory, "memory"));
      await writeFile(path.join(directory, file), limit);
      for (const name of ["docker-entrypoint.sh", "postgres"]) {
        await writeFile(path.join(directory, name), `#!/bin/sh\necho "${name} $*"\n`, { mode: 0o755 });
      }
      const [mounted] = base.services.postgres?.configs ?? [];
      const script = path.join(project, base.configs?.[mounted?.source ?? ""]?.file ?? "");
      const meant = command.replaceAll("$$", "$").replace(mounted?.target ?? "", `${script} ${directory}`);
      const env = { PATH: `${directory}:${process.env.PATH}` };
      return (await promisify(execFile)("/bin/sh", ["-ec", meant], { env })).stdout.trim();
    } finally {
      await rm(directory, { recursive: true });
    }
  }
  const [command = ""] = base.services.postgres?.command ?? [];
  const expected = [
    "-c shared_buffers=819MB -c shared_preload_libraries=pg_prewarm -c effective_cache_size=1536MB -c max_wal_size=2GB -c jit=off",
    "-c log_line_prefix=%m,%p,%a: -c log_parameter_max_length=0 -c log_parameter_max_length_on_error=0",
    "-c log_min_messages=log",
  ].join(" ");

  test("follow the container's limit", async () => {
    expect(base.services.postgres).toMatchObject({ entrypoint: ["/bin/sh", "-ec"], mem_limit: "6400m" });
    expect(await runCommand(command, "2147483648\n")).toBe(`docker-entrypoint.sh postgres ${expected}`);
    expect(await runCommand(command, "max\n")).toContain("shared_buffers=409MB");
  });

  test("follow the limit of a cgroup of version 1", async () => {
    const file = "memory/memory.limit_in_bytes";
    expect(await runCommand(command, "2147483648\n", file)).toBe(`docker-entrypoint.sh postgres ${expected}`);
    expect(await runCommand(command, "9223372036854771712\n", file)).toContain("shared_buffers=409MB");
  });

  test("are the same where there are replicas", async () => {
    const [primary = ""] = scale.services.postgres?.command ?? [];
    expect(await runCommand(primary, "2147483648")).toBe(
      `docker-entrypoint.sh postgres ${expected} -c hba_file=/etc/postgresql/pg_hba.conf -c max_slot_wal_keep_size=8GB`,
    );
    const replica = scale.services["postgres-replica"];
    expect(replica?.configs).toEqual(base.services.postgres?.configs);
    const [start = ""] = /^ *exec postgres [\s\S]*$/m.exec(replica?.command?.[0] ?? "") ?? [];
    const started = await runCommand(start, "2147483648");
    expect(started.slice(0, started.indexOf(" -c hot_standby"))).toBe(`postgres ${expected}`);
  });
});

describe("Kong", () => {
  const { gateway, "report-service": reportService } = base.services;
  const environment = gateway?.environment ?? {};

  test("has the settings that it has without Docker, unchanged", async () => {
    expect(gateway?.image).toMatch(/^kong:3\.9\.\d+$/);
    // `raw`: Compose would read the dollar signs of nginx's variables.
    expect(gateway?.env_file).toEqual([{ path: "./gateway/kong.env", format: "raw" }]);
    for (const name of Object.keys(environment)) expect(settings).not.toHaveProperty(name);
  });

  test("starts with gateway/start.sh, and with the rules and the plugin of this repository", () => {
    const files = (gateway?.configs ?? []).map(({ source, target }) => [
      target,
      base.configs?.[source]?.file,
    ]);
    expect(Object.fromEntries(files)).toEqual({
      "/etc/kong/kong.yml": "./gateway/kong.yml",
      "/opt/gateway/start.sh": "./gateway/start.sh",
    });
    expect(gateway?.entrypoint).toEqual(["/bin/sh", "/opt/gateway/start.sh", "/etc/kong/kong.yml"]);
    expect(gateway?.volumes).toContain("./gateway/plugins:/opt/gateway/kong/plugins:ro");
    expect(settings.KONG_LUA_PACKAGE_PATH).toBe("/opt/gateway/?.lua;;");
    expect(environment.SECRETS_DIRECTORY).toBe("/run/secrets");
  });

  test("has no admin API, and no database", () => {
    expect(settings).toMatchObject({
      KONG_DATABASE: "off",
      KONG_ADMIN_LISTEN: "off",
      KONG_ADMIN_GUI_LISTEN: "off",
    });
  });

  test("lets readers finish before Docker kills it: 40 MB at 100 KB/s", () => {
    const shutdown = Number(settings.KONG_NGINX_MAIN_WORKER_SHUTDOWN_TIMEOUT?.replace(/s$/, ""));
    expect(shutdown).toBeGreaterThan(400);
    expect(gateway?.stop_signal).toBe("SIGQUIT");
    expect(Number(gateway?.stop_grace_period?.replace(/s$/, ""))).toBeGreaterThan(shutdown);
  });

  test("has the limits that the pages show", () => {
    expect(reportService?.configs).toEqual([{ source: "kong", target: "/app/gateway/kong.yml" }]);
  });
});

test("Kong's access log holds no query string, where a key may stand", () => {
  const { KONG_NGINX_HTTP_LOG_FORMAT = "" } = settings;
  expect(base.services.gateway?.environment?.KONG_PROXY_ACCESS_LOG).toBe("/dev/stdout without_query");
  expect(KONG_NGINX_HTTP_LOG_FORMAT).toMatch(/^without_query '[^']*'$/);
  expect(KONG_NGINX_HTTP_LOG_FORMAT).not.toMatch(
    /\$(request\b(?!_)|request_uri|args|query_string|http_|upstream_uri)/,
  );
});
