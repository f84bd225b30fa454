import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { project, readCompose, readProjectFile } from "../compose/read-compose.ts";
import { makeDirectory } from "../support/make-directory.ts";
import { readBlocks } from "../support/read-blocks.ts";

const kubernetes = "deploy/kubernetes";
const files = readdirSync(path.join(project, kubernetes), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => path.join(kubernetes, name));

const realKubectl = spawnSync("sh", ["-c", "command -v kubectl"], { encoding: "utf8" }).stdout.trim();

/** What the fake kubectl of a release that works does for these requests. */
const working = {
  job: "echo Complete",
  replicas: "echo 3",
  present: "echo deployment.apps/gateway; echo deployment.apps/left",
  applied: "echo deployment.apps/gateway",
};

/** Makes a kubectl that writes down how it is called, and runs the commands for what it is asked. */
async function fakeKubectl(commands: Record<string, string> = {}) {
  const bin = await makeDirectory();
  const log = path.join(bin, "calls");
  const {
    active = "",
    kustomize = "",
    logs = "",
    job = "",
    cluster = "",
    spec = "",
    replicas = "",
    present = "",
    applied = "",
    backup = "",
    ledger = "",
    rollout = "",
  } = commands;
  const script = `#!/bin/sh
echo "$@" >> "${log}"
case "$*" in
  kustomize*) ${kustomize || ":"} ;;
  *"get job/deploy-database --ignore-not-found"*) ${active || ":"} ;;
  *"get job/deploy-database --output"*) ${job || ":"} ;;
  *" logs "*) ${logs || ":"} ;;
  *"rollout status"*) ${rollout || ":"} ;;
  *backup.yaml) ${backup || ":"} ;;
  *"refresh.ts --"*-ledger*) ${ledger || ":"} ;;
  *"get cluster/postgres "*"={.spec"*) ${spec || ":"} ;;
  *"get cluster/postgres --output"*) echo True ;;
  *"get cluster/postgres "*) ${cluster || ":"} ;;
  *--field-manager=autoscaler*) cat >> "${log}"; echo >> "${log}" ;;
  *"get deployment "*) ${replicas || ":"} ;;
  *--selector=app.kubernetes.io/part-of*) ${present || ":"} ;;
  *apply*--output=name*)
    for word; do case $word in --filename=*) cp "\${word#*=}" "${bin}/manifests.yaml" ;; esac; done
    ${applied || ":"} ;;
esac
`;
  writeFileSync(path.join(bin, "kubectl"), script, { mode: 0o755 });
  writeFileSync(path.join(bin, "sleep"), "#!/bin/sh\n", { mode: 0o755 });
  return { bin, calls: () => (existsSync(log) ? readFileSync(log, "utf8") : "") };
}

async function run(script: string, options: string[], bin: string) {
  const env = { PATH: `${bin}:${process.env.PATH}` };
  return spawnSync("sh", [path.resolve(project, script), ...options], {
    cwd: project,
    env,
    encoding: "utf8",
    timeout: 200_000,
  });
}

async function writeManifests(text: string): Promise<string> {
  const file = path.join(await makeDirectory(), "manifests.yaml");
  writeFileSync(file, text.replace(/^/, "  "));
  return file;
}

const readBase = (file: string) =>
  parseAllDocuments(readProjectFile(`${kubernetes}/base/${file}`)).map((it) => it.toJS());

function readCluster(manifests: string) {
  return parseAllDocuments(manifests)
    .map((document) => document.toJS())
    .find(({ kind }) => kind === "Cluster");
}

test.each(files)(
  "%s is valid YAML, and each document has an apiVersion and a kind, or is a patch",
  (file) => {
    for (const document of parseAllDocuments(readProjectFile(file))) {
      expect(document.errors).toEqual([]);
      const content = document.toJS();
      if (Array.isArray(content)) expect(content[0]).toMatchObject({ op: expect.any(String) });
      else expect(content).toMatchObject({ apiVersion: expect.any(String), kind: expect.any(String) });
    }
  },
);

test("the pods' images are those of docker-compose.yml; CloudNativePG runs its own image of PostgreSQL", () => {
  const { services } = readCompose();
  const inCompose = Object.values(services).flatMap(({ image, build }) => [
    image,
    ...((build?.dockerfile_inline ?? "").match(/(?<=^FROM )\S+/gm) ?? []),
  ]);
  const known = inCompose.map((image = "") => image.replace(/\$\{\w+:-([^}]+)\}/, "$1"));
  for (const file of files) {
    for (const [, image = ""] of readProjectFile(file).matchAll(/^ +image: (\S+)$/gm)) {
      if (image !== "single-audit") expect(known, file).toContain(image);
    }
  }
});

test("the gateway's pod has the scripts that start it", () => {
  const [{ spec }] = readBase("gateway.yaml");
  const { containers, initContainers } = spec.template.spec;
  const [{ command, volumeMounts }] = containers;
  const copied = initContainers[0].command.map((file: string) => path.basename(file));
  const mounted = command.filter((word: string) => word.startsWith(volumeMounts[0].mountPath));
  for (const file of mounted) expect(copied).toContain(path.basename(file));
  expect(mounted.map((file: string) => path.basename(file))).toContain("run-until-sent.sh");
});

test("create-secrets.sh creates the Secret of each pod, with the files that it reads and no others", async () => {
  const { bin, calls } = await fakeKubectl();
  const directory = await makeDirectory();
  await run(`${kubernetes}/create-secrets.sh`, [directory], bin);
  const made = new Map(
    [...calls().matchAll(/^create secret generic (\S+) (.*)$/gm)].map(([, name = "", options = ""]) => [
      name,
      [...options.matchAll(/--from-(?:file|literal)=(\w+)=/g)].map(([, key]) => key),
    ]),
  );
  const mounted = new Map<string, string[]>();
  for (const file of files) {
    for (const text of readProjectFile(file).split(/^---$/m)) {
      const [, secret] = text.match(/ secretName: (?!postgres-ca)([\w-]+)/) ?? [];
      if (secret === undefined) continue;
      const read = [...text.matchAll(/single-audit\/(\w+)/g)].map(([, key = ""]) => key);
      mounted.set(secret, [...new Set(read)]);
    }
  }
  // Kong's start script, and the shared parts of PostgREST and of storage, name these files.
  mounted.set("gateway", ["gateway_token", "counters_password"]);
  for (const twin of ["reader", "writer"])
    mounted.set(`postgrest-${twin}`, ["postgrest_db_uri", "jwt_secret"]);
  for (const twin of ["storage", "storage-reader"]) mounted.set(twin, ["access_key", "secret_key"]);
  // CloudNativePG reads these.
  mounted.set("backups", ["backup_access_key", "backup_secret_key"]);
  mounted.set("postgres-owner", ["username", "password"]);
  for (const [secret, keys] of mounted)
    expect([secret, made.get(secret)?.sort()]).toEqual([secret, keys.sort()]);
  expect([...made.keys()].sort()).toEqual([...mounted.keys()].sort());
});

test("the front sends tokens and PDFs to the report service and the rest to the site, which has no password to redeem them", () => {
  const route = readBase("../overlays/production/front.yaml").find(
    ({ kind, metadata }) => kind === "HTTPRoute" && metadata.name === "app",
  );
  expect(route.spec.rules).toEqual([
    {
      matches: [{ path: { type: "PathPrefix", value: "/dissemination/report" } }],
      backendRefs: [{ name: "report-service", port: 8001 }],
    },
    { backendRefs: [{ name: "site", port: 8001 }] },
  ]);
  const commands = ["report-service", "site"].map((name) => {
    const { patches } = parse(readProjectFile(`${kubernetes}/base/${name}/kustomization.yaml`));
    const [{ command, env }] = parse(patches[1].patch).spec.template.spec.containers;
    const url = env.find((each: { name: string }) => each.name.endsWith("_DATABASE_URL")).value;
    const passwords = env.filter((each: { name: string }) => /PASSWORD/.test(each.name));
    return [
      command.slice(3),
      new URL(url).username,
      passwords.map(({ value }: { value: string }) => path.basename(value)),
    ];
  });
  expect(commands).toEqual([
    [["scripts/report-service.ts", "--tokens-only"], "report_service", ["report_service_password"]],
    [["scripts/site.ts"], "site", ["site_password"]],
  ]);
});

test("a release stops before it applies anything if the addresses of the ingress controller are missing", async () => {
  const { bin, calls } = await fakeKubectl({ kustomize: 'cat "$2/kustomization.yaml"' });
  const { status, stderr } = await run(
    `${kubernetes}/release.sh`,
    [`${kubernetes}/overlays/production`],
    bin,
  );
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^TRUSTED_IPS is missing in .*production/)]);
  expect(calls()).not.toContain("apply");
});

describe.each([
  { job: "Complete", logs: "exit 1", status: 0 },
  { job: "Failed", logs: "exit 0", status: 1 },
])("a release whose job is $job", ({ job, logs, status }) => {
  test(`exits with ${status}, whether or not its log can be read, and updates the servers only if it succeeded`, async () => {
    const { bin, calls } = await fakeKubectl({ ...working, job: `echo ${job}`, logs });
    const manifests = await writeManifests("TRUSTED_IPS: 10.0.0.1");
    expect((await run(`${kubernetes}/release.sh`, [manifests], bin)).status).toBe(status);
    expect(calls().includes("rollout status")).toBe(status === 0);
  });
});

test("a release is refused while another one deploys the database", async () => {
  const { bin, calls } = await fakeKubectl({ ...working, active: "echo 1" });
  const { status, stderr } = await run(
    `${kubernetes}/release.sh`,
    [await writeManifests("TRUSTED_IPS: 10.0.0.1")],
    bin,
  );
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^Another release is deploying the database/)]);
  expect(calls()).not.toContain("delete job");
});

test("a release keeps the number of pods that an autoscaler sets, and deletes what is no longer part of it", async () => {
  const { bin, calls } = await fakeKubectl(working);
  const scaled = "TRUSTED_IPS: 10.0.0.1\nspec:\n  scaleTargetRef:\n    kind: Deployment\n    name: gateway";
  expect((await run(`${kubernetes}/release.sh`, [await writeManifests(scaled)], bin)).status).toBe(0);
  const lines = calls().split("\n");
  const kept = lines.findIndex((line) => line.includes("--field-manager=autoscaler"));
  expect(JSON.parse(lines[kept + 1] ?? "")).toMatchObject({
    metadata: { name: "gateway" },
    spec: { replicas: 3 },
  });
  expect(kept).toBeLessThan(lines.findIndex((line) => line.startsWith("apply ")));
  expect(lines.filter((line) => line.includes(" delete "))).toEqual([
    expect.stringContaining("delete job/deploy-database"),
    expect.stringMatching(/delete deployment\.apps\/left$/),
  ]);
});

const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;
if (!hasKubectl) process.stderr.write("kubectl is not installed, so no overlay was rendered.\n");

describe.runIf(hasKubectl)("a restore", () => {
  const options = ["--continue-ledger", "--from", "postgres", "--to", "2026-11-22T12:00:00Z"];
  /** Copies what the overlays need, because a restore records its archive. */
  async function copyDeployment(): Promise<string> {
    const copy = await makeDirectory();
    for (const part of ["deploy", "gateway", "scripts/stack"]) {
      cpSync(path.join(project, part), path.join(copy, part), { recursive: true });
    }
    return copy;
  }

  test.each([
    [
      "first backup does not start",
      { backup: "exit 1" },
      /^PostgreSQL is restored, .* did not start\. .*backup\.yaml$/m,
    ],
    [
      "ledger cannot be read",
      { ledger: "exit 1" },
      /^PostgreSQL is restored, .*get 503.* The ledger\).*backup\.yaml$/ms,
    ],
  ])("whose %s says what to run", async (_what, failure, message) => {
    const copy = await copyDeployment();
    const { bin } = await fakeKubectl({ ...working, kustomize: `${realKubectl} kustomize "$2"`, ...failure });
    const { status, stderr } = await run(
      `${copy}/${kubernetes}/restore.sh`,
      [`${copy}/${kubernetes}/overlays/kind`, "--continue-ledger"],
      bin,
    );
    expect([status, stderr]).toEqual([1, expect.stringMatching(message)]);
  });

  test.each(["kind", "production"])(
    "of %s changes only where PostgreSQL comes from and where its backups go",
    async (name) => {
      const copy = await copyDeployment();
      const overlay = `${copy}/${kubernetes}/overlays/${name}`;
      const settings = readFileSync(`${overlay}/kustomization.yaml`, "utf8");
      writeFileSync(`${overlay}/kustomization.yaml`, settings.replace("# - TRUSTED_IPS", "- TRUSTED_IPS"));
      const render = (at: string) =>
        readCluster(execFileSync("kubectl", ["kustomize", at], { encoding: "utf8" }));
      const before = render(overlay);
      const { bin } = await fakeKubectl({
        ...working,
        kustomize: `${realKubectl} kustomize "$2" | tee "${copy}/rendered"`,
      });
      const restore = await run(`${copy}/${kubernetes}/restore.sh`, [overlay, ...options], bin);
      expect([restore.status, restore.stderr]).toEqual([0, ""]);
      const restored = readCluster(readFileSync(`${copy}/rendered`, "utf8"));
      const after = render(overlay);
      const { initdb } = before.spec.bootstrap;
      const archive = { barmanObjectName: "backups", serverName: "postgres" };
      expect(restored).toEqual({
        ...after,
        spec: {
          ...after.spec,
          bootstrap: {
            recovery: {
              source: "archive",
              ...{ database: initdb.database, owner: initdb.owner, secret: initdb.secret },
              recoveryTarget: { targetTime: "2026-11-22T12:00:00Z" },
            },
          },
          externalClusters: [
            { name: "archive", plugin: { name: "barman-cloud.cloudnative-pg.io", parameters: archive } },
          ],
        },
      });
      const [plugin] = after.spec.plugins;
      expect(plugin.parameters.serverName).toMatch(/^postgres-\d{14}$/);
      const { parameters } = after.spec.postgresql;
      expect(parameters["single_audit.server_name"]).toBe(plugin.parameters.serverName);
      plugin.parameters.serverName = "postgres";
      parameters["single_audit.server_name"] = "postgres";
      expect(after).toEqual(before);
      expect(readdirSync(path.dirname(overlay)).sort()).toEqual(["kind", "production"]);
    },
  );

  test("is refused while there is a cluster, and leaves the record of its backups unchanged", async () => {
    const { bin, calls } = await fakeKubectl({
      ...working,
      cluster: "echo cluster.postgresql.cnpg.io/postgres",
    });
    const wanted = [`${kubernetes}/overlays/kind`, "--continue-ledger"];
    const { status, stderr } = await run(`${kubernetes}/restore.sh`, wanted, bin);
    expect([status, stderr]).toEqual([1, expect.stringContaining("There is a PostgreSQL cluster already.")]);
    expect(calls()).not.toContain("apply");
    expect(readProjectFile(`${kubernetes}/overlays/kind/archive.yaml`)).toContain(
      "serverName, value: postgres }",
    );
  });
});

describe.runIf(hasKubectl)("a rollback", () => {
  const live: Record<string, string> = {
    imageName: "ghcr.io/cloudnative-pg/postgresql:19.1-minimal-trixie@sha256:0",
    storage: '{"resizeInUseVolumes":true,"size":"80Gi"}',
    walStorage: '{"size":"40Gi"}',
    "plugins[0].parameters.serverName": "postgres-20261128000000",
  };
  const spec = (values = live) =>
    `case "$*" in ${Object.entries(values)
      .map(([path, value]) => `*".spec.${path}}"*) echo '${value}' ;;`)
      .join(" ")} esac`;
  const kustomize = `${realKubectl} kustomize "$2"`;
  const overlay = `${kubernetes}/overlays/kind`;
  const read = (bin: string) =>
    parseAllDocuments(readFileSync(path.join(bin, "manifests.yaml"), "utf8")).map((it) => it.toJS());
  const readOlder = () =>
    parseAllDocuments(
      execFileSync("kubectl", ["kustomize", overlay], { cwd: project, encoding: "utf8" }),
    ).map((it) => it.toJS());

  test("keeps volumes, the directory of backups and PostgreSQL's major version; all else is as in the older release", async () => {
    const { bin } = await fakeKubectl({ ...working, kustomize, spec: spec() });
    const { status, stderr } = await run(`${kubernetes}/release.sh`, [overlay, "--roll-back"], bin);
    expect([status, stderr]).toEqual([0, ""]);
    const expected = readOlder().filter(({ kind }) => kind !== "PersistentVolumeClaim");
    for (const { kind, spec } of expected) {
      if (kind === "Job") spec.template.spec.containers[0].command.push("--roll-back");
      if (kind !== "Cluster") continue;
      const { imageName, storage, walStorage, "plugins[0].parameters.serverName": serverName } = live;
      Object.assign(spec, {
        imageName,
        storage: JSON.parse(storage ?? ""),
        walStorage: JSON.parse(walStorage ?? ""),
      });
      spec.plugins[0].parameters.serverName = serverName;
      spec.postgresql.parameters["single_audit.server_name"] = serverName;
    }
    expect(read(bin)).toEqual(expect.arrayContaining(expected));
    expect(read(bin)).toHaveLength(expected.length);
  });

  test("differs from a release, which stops before it applies another major version of PostgreSQL", async () => {
    const { bin, calls } = await fakeKubectl({ ...working, kustomize, spec: spec() });
    const { status, stderr } = await run(`${kubernetes}/release.sh`, [overlay], bin);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^The cluster has PostgreSQL 19, .* 18\./)]);
    expect(calls()).not.toContain("apply");
  });

  test("takes PostgreSQL back to an older minor version", async () => {
    const { bin } = await fakeKubectl({
      ...working,
      kustomize,
      spec: spec({ ...live, imageName: "ghcr.io/cloudnative-pg/postgresql:18.99-minimal-trixie" }),
    });
    expect((await run(`${kubernetes}/release.sh`, [overlay, "--roll-back"], bin)).status).toBe(0);
    const imageOf = (manifests: { kind: string; spec: { imageName: string } }[]) =>
      manifests.find(({ kind }) => kind === "Cluster")?.spec.imageName;
    expect(imageOf(read(bin))).toBe(imageOf(readOlder()));
  });

  test("replaces the pods before the database, and the database also if pods do not become ready", async () => {
    const { bin, calls } = await fakeKubectl({ ...working, kustomize, spec: spec(), rollout: "exit 1" });
    const { status } = await run(`${kubernetes}/release.sh`, [overlay, "--roll-back"], bin);
    expect(status).toBe(1);
    const steps = calls().match(/rollout status|component=deployment|component!=deployment/g);
    const servers = ["component!=deployment", "rollout status"];
    expect(steps).toEqual([...servers, "component=deployment", ...servers]);
  });
});

test("a release names every image by the digest that its tag has", async () => {
  const { jobs } = parse(readProjectFile(".github/workflows/release.yml"));
  const { run: render } = jobs.release.steps.find(
    ({ name }: { name: string }) => name === "Render the manifests",
  );
  const rendered = [
    "image: kong:3.9.1",
    "- image: single-audit@sha256:1",
    "  imageName: postgresql:18",
    "  image: kong:3.9.1",
  ];
  const bin = await makeDirectory();
  const programs = {
    kustomize: "",
    kubectl: `printf '%s\\n' '${rendered.join("' '")}'`,
    docker: "echo sha256:2",
  };
  for (const [name, does] of Object.entries(programs)) {
    writeFileSync(path.join(bin, name), `#!/bin/sh\n${does}\n`, { mode: 0o755 });
  }
  const env = { PATH: `${bin}:${process.env.PATH}`, OVERLAY: bin, IMAGE: "single-audit" };
  const script = render.replace(/\$\{\{.*?\}\}/g, "sha256:1");
  expect(spawnSync("bash", ["-e", "-c", script], { cwd: bin, env, encoding: "utf8" }).status).toBe(0);
  expect(readFileSync(path.join(bin, "manifests.yaml"), "utf8").trim().split("\n")).toEqual([
    "image: kong:3.9.1@sha256:2",
    "- image: single-audit@sha256:1",
    "  imageName: postgresql:18@sha256:2",
    "  image: kong:3.9.1@sha256:2",
  ]);
});

test("pods on a lost node are replaced after 30 s, and the operators and the refresher have a second pod on another node", () => {
  const read = (component: string) => {
    const { patches } = parse(readProjectFile(`${kubernetes}/${component}/kustomization.yaml`));
    const operations = patches.flatMap(({ patch }: { patch: string }) => parse(patch));
    return new Map<string, unknown>(
      operations.map(({ path: at, value }: { path: string; value: unknown }) => [at, value]),
    );
  };
  for (const component of ["restricted", "operators"]) {
    const patches = read(component);
    expect(patches.get("/spec/template/spec/tolerations")).toEqual(
      ["unreachable", "not-ready"].map((taint) => ({
        key: `node.kubernetes.io/${taint}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 30,
      })),
    );
  }
  // If a pod has several topology constraints that may be violated, the scheduler ignores all of them on a node without a zone.
  const nodes = [expect.objectContaining({ topologyKey: "kubernetes.io/hostname", maxSkew: 1 })];
  expect(read("operators").get("/spec/template/spec/topologySpreadConstraints")).toEqual(nodes);
  expect(read("restricted").get("/spec/template/spec/affinity")).toMatchObject({
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { podAffinityTerm: { topologyKey: "kubernetes.io/hostname" } },
      ],
    },
  });
  expect(read("operators").get("/spec/replicas")).toBe(2);
  // Calls wait for a refresher after a failover.
  const [refresher] = readBase("refresher.yaml");
  expect(refresher.spec.replicas).toBe(2);
});

test("on-cluster.sh runs the commands in each section of docs/scaling.md", () => {
  const [document, script] = [
    readProjectFile("docs/scaling.md"),
    readProjectFile("test/kubernetes/on-cluster.sh"),
  ];
  for (const [, heading = ""] of document.matchAll(/^## (.+)$/gm)) {
    if (readBlocks(document, heading).some(({ language }) => language === "sh"))
      expect(script).toMatch(new RegExp(`\\b(run|section) "?${heading}\\b`));
  }
});

test("on-cluster.sh runs the commands of the alerts' runbooks, or the runbook says that they were not tried", () => {
  const script = readProjectFile("test/kubernetes/on-cluster.sh");
  const parts = Array.from(script.matchAll(/run Alerts "(.+)"/g), ([, part = ""]) => part);
  const commands = readBlocks(readProjectFile("docs/operations.md"), "Alerts").filter(
    ({ language }) => language === "sh",
  );
  expect(commands).not.toEqual([]);
  for (const { prose, text } of commands) {
    const isRun = parts.some((part) => text.includes(part));
    expect(isRun || /not tried\s+on a cluster/.test(prose), text).toBe(true);
  }
});
