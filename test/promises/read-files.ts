import { execFileSync, spawnSync } from "node:child_process";
import { parse, parseAllDocuments } from "yaml";
import { dotenv } from "zx";
import { project, readCompose, readProjectFile, readSmallCompose } from "../compose/read-compose.ts";
import type { Manifest } from "./read-manifests.ts";

export const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;

export interface KongYml {
  services: { connect_timeout: number; retries: number; read_timeout: number; write_timeout: number }[];
  plugins: { name: string; config: Record<string, unknown> }[];
}

interface Rule {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
}

export type Files = ReturnType<typeof readFiles>;

/** Reads and renders the files whose promises only Kong, Docker, Kubernetes or Prometheus keep. */
export function readFiles() {
  const rules: { groups: { rules: Rule[] }[] } = parse(
    readProjectFile("deploy/monitoring/prometheus-rules.yml"),
  );
  const prometheus: {
    rule_files: string[];
    scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
  } = parse(readProjectFile("deploy/monitoring/prometheus.yml"));
  return {
    kongEnv: dotenv.parse(readProjectFile("gateway/kong.env")),
    postgrestEnv: dotenv.parse(readProjectFile("scripts/stack/postgrest.env")),
    kongYml: parse(readProjectFile("gateway/kong.yml")) as KongYml,
    compose: readCompose(),
    small: readSmallCompose(),
    /** The users that the stages of the Dockerfile run as. */
    users: [...readProjectFile("Dockerfile").matchAll(/^USER (.+)$/gm)].map(([, user]) => user),
    rules: rules.groups.flatMap((group) => group.rules),
    ruleFiles: prometheus.rule_files,
    scraped: prometheus.scrape_configs,
    /** The Kubernetes objects of each overlay. */
    kind: renderOverlay("kind"),
    production: renderOverlay("production"),
  };
}

function renderOverlay(name: string): Manifest[] {
  if (!hasKubectl) return [];
  const args = ["kustomize", `deploy/kubernetes/overlays/${name}`];
  return parseAllDocuments(execFileSync("kubectl", args, { cwd: project, encoding: "utf8" })).map((it) =>
    it.toJS(),
  );
}
