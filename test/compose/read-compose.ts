import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";

export const project = path.resolve(import.meta.dirname, "../..");
export const readProjectFile = (name: string) => readFileSync(path.join(project, name), "utf8");

/** The keys of a service in docker-compose.yml that the tests read. */
interface Service {
  image: string;
  build?: { context?: string; args?: string[]; dockerfile_inline?: string };
  user?: string;
  init?: boolean;
  entrypoint?: string[];
  command?: string[];
  env_file?: (string | object)[];
  environment?: Record<string, string>;
  secrets?: string[];
  ports?: string[];
  networks: string[];
  dns_opt?: string[];
  volumes?: string[];
  tmpfs?: string[];
  healthcheck?: { test?: string[]; disable?: boolean };
  stop_signal?: string;
  stop_grace_period?: string;
  depends_on?: Record<string, { condition: string }>;
  restart?: string;
  mem_limit?: string;
  profiles?: string[];
  extends?: string;
}

/** Reads what docker-compose.small.yml changes. */
export const readSmallCompose = (): Record<string, Pick<Service, "environment" | "mem_limit">> =>
  parse(readProjectFile("docker-compose.small.yml")).services;

/** Reads docker-compose.yml, and merges into each service the one that it extends. */
export function readCompose() {
  const compose = parse(readProjectFile("docker-compose.yml"), {
    merge: true,
    customTags: [{ tag: "!reset", resolve: () => undefined }],
  });
  const services: Record<string, Service> = compose.services;
  for (const [name, service] of Object.entries(services)) {
    const { build: _, ...parent } = services[service.extends ?? ""] ?? ({} as Service);
    const environment = { ...parent.environment, ...service.environment };
    services[name] = { ...parent, ...service, environment };
  }
  const networks: Record<string, { internal?: boolean }> = compose.networks;
  const secrets: Record<string, { file: string }> = compose.secrets;
  return { services, networks, secrets };
}

/** The image that most services share. */
export const programImage = "$" + "{COMPOSE_PROJECT_NAME}";

export const parseSeconds = (text = "") => Number(/^(\d+)s$/.exec(text)?.[1]);
