import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, test } from "vitest";
import { parse } from "yaml";
import { project, readProjectFile } from "./compose/read-compose.ts";
import { makeDirectory } from "./support/make-directory.ts";

// What others publish (actions, images, packages) cannot change unseen, and sees no secret.

interface Step {
  name?: string;
  id?: string;
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
  env?: Record<string, string>;
}
interface Job {
  permissions?: Record<string, string>;
  steps: Step[];
}
interface Workflow {
  permissions?: Record<string, string>;
  jobs: Record<string, Job>;
}

const folder = ".github/workflows";
const workflows = readdirSync(path.join(project, folder)).map((name) => {
  const text = readProjectFile(`${folder}/${name}`);
  return { name, text, workflow: parse(text) as Workflow };
});
const jobs = workflows.flatMap(({ name, workflow }) =>
  Object.entries(workflow.jobs).map(([job, it]) => ({ place: `${name}, ${job}`, workflow, ...it })),
);
const installs = (step: Step) => /\bnpm (ci|i|install)\b/.test(step.run ?? "");
const namesSecret = (part: unknown) => /\$\{\{[^}]*\b(secrets|github\.token)\b/.test(JSON.stringify(part));

describe.each(workflows)("$name", ({ text, workflow }) => {
  it("pins each action to a commit, and states its version", () => {
    for (const [line] of text.matchAll(/^.*\buses: (?!\.\/).*$/gm))
      expect(line).toMatch(/uses: [\w-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it("gives secrets only to steps", () => {
    const { jobs: all, ...rest } = workflow;
    expect(namesSecret(rest)).toBe(false);
    for (const { steps: _, ...job } of Object.values(all)) expect(namesSecret(job)).toBe(false);
  });
});

describe.each(jobs.filter(({ steps }) => steps.some(installs)))(
  "$place",
  ({ steps, permissions, workflow }) => {
    it("installs packages in a step without a secret, and keeps Git's token from it", () => {
      for (const step of steps.filter(installs)) expect(namesSecret(step)).toBe(false);
      for (const { uses, with: options } of steps)
        if (uses?.startsWith("actions/checkout@")) expect(options?.["persist-credentials"]).toBe(false);
    });

    // Any step of a job with id-token can sign as the repository.
    it("may only read", () => expect(permissions ?? workflow.permissions).toEqual({ contents: "read" }));
  },
);

describe("the plan of a pull request", () => {
  const find = (job: string, wanted: (step: Step) => boolean) =>
    jobs.find(({ place }) => place === `plan.yml, ${job}`)?.steps.find(wanted)?.run ?? "";
  const planStep = find("plan", ({ id }) => id === "plan");
  const commentStep = find("comment", ({ name }) => name === "Comment");

  /** Runs the step that plans, with a program that stands for npm. Returns its outputs. */
  async function plan(url: string, printed: string, status: number) {
    const directory = await makeDirectory();
    writeFileSync(path.join(directory, "printed"), printed);
    writeFileSync(path.join(directory, "npm"), `#!/bin/sh\ncat ${directory}/printed\nexit ${status}\n`, {
      mode: 0o755,
    });
    const output = path.join(directory, "output");
    writeFileSync(output, "");
    const env = { PATH: `${directory}:${process.env.PATH}`, GITHUB_OUTPUT: output, DATABASE_URL: url };
    expect(spawnSync("bash", ["-e", "-c", planStep], { cwd: directory, env }).status).toBe(0);
    const written = readFileSync(output, "utf8");
    const [, found] = /^status=(\d+)$/m.exec(written) ?? [];
    const [, , text] = /^text<<(.*)\n([\s\S]*)\n\1\n$/m.exec(written) ?? [];
    return { status: found, text };
  }

  /** Runs the step that comments, with a program that stands for gh. */
  async function comment(text: string, status: string) {
    const directory = await makeDirectory();
    const body = path.join(directory, "body");
    writeFileSync(path.join(directory, "gh"), `#!/bin/sh\ncat > ${body}\n`, { mode: 0o755 });
    const env = { PATH: `${directory}:${process.env.PATH}`, PLAN: text, STATUS: status, NUMBER: "1" };
    const run = spawnSync("bash", ["-e", "-c", commentStep], { cwd: directory, env });
    return { status: run.status, body: readFileSync(body, "utf8") };
  }

  it("becomes a comment, whatever it contains, and fails the check if the deployment would fail", async () => {
    const printed = "Migration one would run:\n    select '$(touch made) `id` ```';\nPlan abc\n";
    for (const [status, checked] of [
      [3, 0],
      [0, 0],
      [1, 1],
      [4, 4],
    ] as const) {
      const planned = await plan("postgres://planner", printed, status);
      expect(planned).toEqual({ status: String(status), text: printed });
      const { body, ...rest } = await comment(planned.text ?? "", planned.status ?? "");
      expect(rest).toEqual({ status: checked });
      expect(body).toContain(printed);
    }
  });

  it("is shortened to the maximum length of a comment", async () => {
    const { text = "" } = await plan("postgres://planner", "x".repeat(100_000), 3);
    expect((await comment(text, "3")).body.length).toBeLessThan(65_536);
  });

  it("is left out in a repository without the planner's URL", async () => {
    expect(await plan("", "", 0)).toEqual({ status: undefined, text: undefined });
  });
});

describe("renovate.json", () => {
  interface Manager {
    description: string;
    managerFilePatterns: string[];
    matchStrings: string[];
    autoReplaceStringTemplate?: string;
  }
  const { customManagers, kubernetes }: { customManagers: Manager[]; kubernetes: Manager } = JSON.parse(
    readProjectFile("renovate.json"),
  );
  const reads = ({ managerFilePatterns }: Manager, file: string) =>
    managerFilePatterns.some((pattern) => new RegExp(pattern.slice(1, -1)).test(file));
  const readGroups = ({ matchStrings }: Manager, text: string) =>
    matchStrings.flatMap((pattern) =>
      [...text.matchAll(new RegExp(pattern, "g"))].map(({ groups, 0: whole }) => ({ whole, ...groups })),
    ) as { whole: string; depName: string; currentValue: string; currentDigest?: string }[];

  /** Images that Renovate's own managers do not read, because no key `image` names them. */
  const own = /(?:FROM |--from=|imageName: |docker run .* |node_image: )((?:[\w-]+[./])*[\w-]+:\S*\d\S*)/g;

  test.each(["docker-compose.yml", "deploy/kubernetes/base/postgres.yaml", ".github/workflows/ci.yml"])(
    "reads each image of %s, and can pin it",
    (file) => {
      const text = readProjectFile(file);
      const managers = customManagers.filter((manager) => reads(manager, file));
      const found = managers.flatMap((manager) => readGroups(manager, text));
      const names = [...text.matchAll(own)].map(([, image = ""]) => image.split(":")[0]);
      expect(found.map(({ depName }) => depName).sort()).toEqual(names.sort());
      for (const manager of managers)
        for (const { depName, currentValue } of readGroups(manager, text)) {
          const { autoReplaceStringTemplate: template } = manager;
          if (template === undefined) {
            expect(depName).toBe("postgrest/postgrest");
            continue;
          }
          const digest = `sha256:${"a".repeat(64)}`;
          const pinned = template
            .replace("{{depName}}", depName)
            .replace("{{newValue}}", currentValue)
            .replace(/\{\{#if newDigest\}\}@\{\{newDigest\}\}\{\{\/if\}\}/, `@${digest}`);
          expect(readGroups(manager, pinned)).toEqual([
            { whole: pinned, depName, currentValue, currentDigest: digest },
          ]);
        }
    },
  );

  test.each(["deploy/kubernetes/operators/kustomization.yaml", "docs/scaling.md"])(
    "reads each manifest that %s takes from a release",
    (file) => {
      const text = readProjectFile(file);
      const managers = customManagers.filter((manager) => reads(manager, file));
      const found = managers.flatMap((manager) => readGroups(manager, text).map(({ whole }) => whole));
      expect(found.sort()).toEqual([...text.matchAll(/https:\S+\.yaml/g)].map(([url]) => url).sort());
    },
  );

  test("reads the manifests of deploy/kubernetes", () => {
    for (const file of readdirSync(path.join(project, "deploy/kubernetes"), { recursive: true }))
      if (/\.yaml$/.test(String(file))) expect(reads(kubernetes, `deploy/kubernetes/${file}`)).toBe(true);
  });
});
