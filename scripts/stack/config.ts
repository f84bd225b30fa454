import path from "node:path";
import { z } from "zod";
import { gatewayConfigFile } from "../../shared/read-rate-limits.ts";
import { databaseUrl, listenPort, readVariables } from "../../shared/read-variables.ts";
import { environments } from "../../shared/timetable.ts";
import { contact, contactIsMissing, hasContact } from "../../site/config.ts";
import { checkPort, findFreePort } from "../servers/find-free-port.ts";

const port = (fallback: number) => listenPort.default(fallback);
const file = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((name) => path.resolve(name));
const memoryProblem = "should be megabytes, 256 or more";

const environment = z
  .object({
    GATEWAY_PORT: port(8000),
    APP_PORT: port(8001),
    DATABASE_PORT: port(8003),
    POSTGREST_PORT: port(8004),
    POSTGREST_ADMIN_PORT: port(8005),
    GATEWAY_METRICS_PORT: port(0),
    APP_METRICS_PORT: port(0),
    GATEWAY: z.enum(["embedded", "kong"], "should be embedded or kong").default("embedded"),
    GATEWAY_CONFIG: file(gatewayConfigFile()),
    KONG_BIN: z.string().optional(),
    DATABASE_URL: databaseUrl("user").optional(),
    DATABASE_MEMORY: z.coerce.number(memoryProblem).int(memoryProblem).min(256, memoryProblem).default(1024),
    POSTGREST_BIN: z.string().optional(),
    /** Separated by commas. */
    TRUSTED_IPS: z.string().default(""),
    ENVIRONMENT: z.enum(environments, `should be ${environments.join(", ")}`).optional(),
    CONTACT: contact.optional(),
    SECURITY_CONTACT: contact.optional(),
    STACK_DIRECTORY: file(".stack"),
  })
  .refine(hasContact, contactIsMissing);

/** The configuration of the local stack. */
export type StackConfig = z.infer<typeof environment>;
type PortVariable = Extract<keyof StackConfig, `${string}_PORT`>;

/**
 * Reads the stack's configuration from environment variables. An empty value counts as unset.
 *
 * @throws Error with one line for each malformed variable
 */
export function readStackConfig(variables: NodeJS.ProcessEnv): StackConfig {
  const set = Object.entries(variables).flatMap(([name, value]) => (value ? [[name, value] as const] : []));
  return readVariables(environment, Object.fromEntries(set));
}

/**
 * Replaces each port 0 with a free port, and checks that the other ports are free.
 *
 * @throws Error that names a taken port and the variable to change
 */
export async function choosePorts(config: StackConfig): Promise<StackConfig> {
  const chosen = { ...config };
  const names = Object.keys(environment.shape).filter((name): name is PortVariable => name.endsWith("_PORT"));
  for (const name of names) {
    const wanted = config[name] || (await findFreePort());
    await checkPort(wanted).catch((cause: NodeJS.ErrnoException) => {
      const reason = cause.code === "EADDRINUSE" ? "is taken" : `cannot be used (${cause.code})`;
      const remedy = `Set ${name} to another port, or to 0 for any free one.`;
      throw new Error(`Port ${wanted} ${reason}. ${remedy}`, { cause });
    });
    chosen[name] = wanted;
  }
  return chosen;
}
