import { spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { longestStop, project, readCompose, readProjectFile } from "../compose/read-compose.ts";
import { makeDirectory } from "../support/make-directory.ts";

const directory = "deploy/kubernetes";
const files = readdirSync(path.join(project, directory), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => path.join(directory, name));

test.each(files)("%s is valid YAML, and each document has an apiVersion and a kind", (file) => {
  for (const document of parseAllDocuments(readProjectFile(file))) {
    expect(document.errors).toEqual([]);
    expect(document.toJS()).toMatchObject({ apiVersion: expect.any(String), kind: expect.any(String) });
  }
});

test("the pods' images are those of docker-compose.yml; CloudNativePG runs its own image of PostgreSQL", () => {
  const { services } = readCompose();
  const inCompose = Object.values(services).flatMap(({ image, build }) => [
    image,
    ...(typeof build === "object"
      ? [...build.dockerfile_inline.matchAll(/(?:^FROM )(\S+)/gm)].map(([, from]) => from)
      : []),
  ]);
  const known = inCompose.map((image = "") => image.replace(/\$\{\w+:-([^}]+)\}/, "$1"));
  for (const file of files) {
    for (const [, image = ""] of readProjectFile(file).matchAll(/^ +image: (\S+)$/gm)) {
      if (image !== "single-audit") expect(known, file).toContain(image);
    }
  }
});

test("deployments to production promise: the job and compose's migrate know the environment", () => {
  const job = parse(readProjectFile(`${directory}/base/deploy-database.yaml`));
  const [container] = job.spec.jobTemplate.spec.template.spec.containers;
  expect(container.env).toContainEqual({
    name: "ENVIRONMENT",
    valueFrom: { configMapKeyRef: { name: "settings", key: "ENVIRONMENT" } },
  });
  expect(readProjectFile(`${directory}/overlays/production/kustomization.yaml`)).toContain(
    "ENVIRONMENT=production",
  );
  const { migrate, refresher } = readCompose().services;
  expect(migrate?.environment?.ENVIRONMENT).toBe(refresher?.environment?.ENVIRONMENT);
});

test("a gateway pod may stop for as long as Kong lets clients read, and its image has the scripts that start it", () => {
  const [{ spec }] = parseAllDocuments(readProjectFile(`${directory}/base/gateway.yaml`)).map((it) =>
    it.toJS(),
  );
  const { terminationGracePeriodSeconds, containers, initContainers } = spec.template.spec;
  const [{ lifecycle, command, volumeMounts }] = containers;
  expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
    lifecycle.preStop.sleep.seconds + longestStop + 10,
  );
  const copied = initContainers[0].command.map((file: string) => path.basename(file));
  const mounted = command.filter((word: string) => word.startsWith(volumeMounts[0].mountPath));
  for (const file of mounted) expect(copied).toContain(path.basename(file));
  expect(mounted.map((file: string) => path.basename(file))).toContain("run-until-sent.sh");
});

test("create-secrets.sh creates every file of the Secret that a pod mounts", () => {
  const made =
    readProjectFile("scripts/compose-secrets.ts") + readProjectFile(`${directory}/create-secrets.sh`);
  for (const file of files) {
    for (const [, key = ""] of readProjectFile(file).matchAll(/\{ key: (\w+), path: \w+ \}/g)) {
      expect(made, `${file}: ${key}`).toContain(key);
    }
  }
});

test("every rule of a network policy names peers, except the one for the Kubernetes API", () => {
  const text = readProjectFile(`${directory}/base/network-policies.yaml`);
  const open = parseAllDocuments(text).flatMap((document) => {
    const { metadata, spec } = document.toJS();
    const rules = [...(spec.ingress ?? []), ...(spec.egress ?? [])];
    return rules.filter(({ from, to }) => !(from ?? to)?.length).map(() => metadata.name);
  });
  // No selector can match the Kubernetes API, so the production overlay names its addresses.
  expect(open).toEqual(["postgres-reaches-kubernetes-api"]);
  const { patches } = parse(readProjectFile(`${directory}/overlays/production/kustomization.yaml`));
  const narrowed = patches.map(({ patch }: { patch: string }) => parse(patch));
  expect(narrowed).toContainEqual(
    expect.objectContaining({
      metadata: { name: open[0] },
      spec: { egress: [expect.objectContaining({ to: expect.any(Array) })] },
    }),
  );
});

test("a release stops before it applies anything if the addresses of the ingress controller are missing", async () => {
  const bin = await makeDirectory();
  const overlay = `${directory}/overlays/production`;
  const kubectl = `#!/bin/sh\n[ "$1" = kustomize ] && exec cat "$2/kustomization.yaml"; touch "${bin}/applied"; exit 1\n`;
  writeFileSync(path.join(bin, "kubectl"), kubectl, { mode: 0o755 });
  const release = path.join(project, directory, "release.sh");
  const env = { PATH: `${bin}:${process.env.PATH}` };
  const { status, stderr } = spawnSync("sh", [release, overlay], { cwd: project, env, encoding: "utf8" });
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^TRUSTED_IPS is missing in .*production/)]);
  expect(readdirSync(bin)).toEqual(["kubectl"]);
});
