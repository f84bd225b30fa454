import { readFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "yaml";

export const project = path.resolve(import.meta.dirname, "../..");

/** A service of a compose file, as far as the tests look. */
export interface Service {
  image: string;
  build?: string | { dockerfile_inline: string };
  user?: string;
  entrypoint?: string[];
  command?: string[];
  env_file?: { path: string; format?: string }[];
  environment?: Record<string, string>;
  secrets?: string[];
  configs?: { source: string; target: string }[];
  ports?: string[];
  networks: string[];
  volumes?: string[];
  healthcheck?: { test: string[] };
  stop_signal?: string;
  stop_grace_period?: string;
  depends_on?: Record<string, { condition: string }>;
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  restart?: string;
  mem_limit?: string;
  cpus?: number;
  privileged?: boolean;
  network_mode?: string;
  extends?: string | { service: string };
}
/** A compose file, as far as the tests look. */
export interface Compose {
  configs?: Record<string, { file?: string }>;
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
  secrets: Record<string, { file?: string; environment?: string }>;
}

/** Images are named after the project. */
export const programImage = "$" + "{COMPOSE_PROJECT_NAME}";

/** Reads a compose file; its services have what they extend, which may stand in `parent`. */
export async function readCompose(file: string, parent?: Compose): Promise<Compose> {
  const text = await readFile(path.join(project, file), "utf8");
  const compose = parse(text, {
    merge: true,
    customTags: [
      { tag: "!override", collection: "seq", resolve: (list) => list },
      { tag: "!reset", resolve: () => undefined },
    ],
  });
  const known = { ...parent?.services, ...compose.services };
  for (const [name, service] of Object.entries<Service>(compose.services)) {
    const { extends: extended } = service;
    if (extended === undefined) continue;
    const { build: _, ...others } = known[typeof extended === "string" ? extended : extended.service];
    const environment = { ...others.environment, ...service.environment };
    const secrets = [...(others.secrets ?? []), ...(service.secrets ?? [])];
    compose.services[name] = { ...others, ...service, environment, secrets };
  }
  return compose;
}
export const base = await readCompose("docker-compose.yml");
export const scale = await readCompose("docker-compose.scale.yml", base);
export const services = Object.entries(base.services);
export const own = Object.entries(scale.services).filter(([, { image }]) => image !== undefined);
/** gateway/kong.env */
export const settings: Record<string, string> = Object.fromEntries(
  (await readFile(path.join(project, "gateway/kong.env"), "utf8"))
    .split("\n")
    .flatMap((line) => (/^\w+=/.test(line) ? [[line.split("=", 1)[0], line.replace(/^\w+=/, "")]] : [])),
);
export const dockerfile = await readFile(path.join(project, "Dockerfile"), "utf8");
export const publishAddress = "$" + "{PUBLISH_ADDRESS:-127.0.0.1}";
/** Services that do their work and end. */
export const oneShot = ["migrate", "replication-role"];
/** Commands that people run. */
export const tools = ["keys", "agreements", "publish"];
