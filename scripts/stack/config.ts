import path from "node:path";
import { z } from "zod";
import { gatewayConfigFile } from "../../service/read-rate-limits.ts";
import { databaseAddress, describeVariable, listenPort } from "../../service/read-variables.ts";
import { environments } from "../../service/timetable.ts";
import { contact, contactIsMissing, hasContact } from "../../site/config.ts";
import { type HeldPort, holdFreePort, holdPort } from "../servers/find-free-port.ts";

const port = (fallback: number) => listenPort.default(fallback);

const environment = z
  .object({
    GATEWAY_PORT: port(8000),
    APP_PORT: port(8001),
    STORAGE_PORT: port(8002),
    DATABASE_PORT: port(8003),
    POSTGREST_PORT: port(8004),
    POSTGREST_ADMIN_PORT: port(8005),
    GATEWAY_METRICS_PORT: port(0),
    APP_METRICS_PORT: listenPort.optional(),
    GATEWAY: z.enum(["embedded", "kong"], "should be embedded or kong").default("embedded"),
    KONG_BIN: z.string().min(1, "should be the path of the kong program").optional(),
    DATABASE_URL: databaseAddress("user").optional(),
    DATABASE_MEMORY: z.coerce
      .number("should be megabytes, 256 or more")
      .int("should be megabytes, 256 or more")
      .min(256, "should be megabytes, 256 or more")
      .default(1024),
    POSTGREST_BIN: z.string().min(1, "should be the path of the postgrest program").optional(),
    /** Separated by commas. */
    TRUSTED_IPS: z.string().default(""),
    ENVIRONMENT: z.enum(environments, `should be ${environments.join(", ")}`).optional(),
    CONTACT: contact.optional(),
    SECURITY_CONTACT: contact.optional(),
    STACK_DIRECTORY: z.string().min(1, "should be the path of a directory").default(".stack"),
  })
  .refine(hasContact, contactIsMissing);

type Environment = z.infer<typeof environment>;
export type PortVariable = Extract<keyof Environment, `${string}_PORT`>;

/** How the one-machine stack is to run. */
export interface StackConfig extends Environment {
  directory: string;
  /** The kong.yml that the gateway runs. */
  gatewayConfig: string;
}

/**
 * Reads the stack's configuration from environment variables. An empty value counts as unset.
 *
 * @throws Error with one line for each malformed variable
 */
export function readStackConfig(variables: NodeJS.ProcessEnv): StackConfig {
  const set = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ""));
  const { data, error } = environment.safeParse(set);
  if (data === undefined) {
    // The value is shown where it cannot be a secret.
    const lines = error.issues.map(({ path: [name], message }) => {
      const value = set[String(name)];
      const shown = name === "DATABASE_URL" || value === undefined ? "" : `=${value}`;
      return describeVariable(`${String(name)}${shown}`, message);
    });
    throw new Error(lines.join("\n"));
  }
  return {
    ...data,
    directory: path.resolve(data.STACK_DIRECTORY),
    gatewayConfig: path.resolve(set.GATEWAY_CONFIG ?? gatewayConfigFile()),
  };
}

/**
 * Settles every port: 0 becomes a free one.
 *
 * @throws Error that names a taken port and the variable that moves it
 */
export async function settlePorts(config: StackConfig): Promise<StackConfig> {
  const settled = { ...config };
  const held = [];
  try {
    for (const name of Object.keys(environment.shape).filter(isPortVariable)) {
      const wanted = config[name];
      if (wanted === undefined) continue;
      const holding = await (wanted === 0 ? holdFreePort() : holdWantedPort(name, wanted));
      held.push(holding);
      settled[name] = holding.port;
    }
  } finally {
    await Promise.all(held.map(({ close }) => close()));
  }
  return settled;
}

function isPortVariable(name: string): name is PortVariable {
  return name.endsWith("_PORT");
}

function holdWantedPort(name: PortVariable, wanted: number): Promise<HeldPort> {
  return holdPort(wanted).catch((cause: NodeJS.ErrnoException) => {
    const reason =
      cause.code === "EADDRINUSE"
        ? `Port ${wanted} is taken`
        : `Port ${wanted} cannot be used (${cause.code})`;
    throw new Error(`${reason}. Set ${name} to another port, or to 0 for any free one.`, { cause });
  });
}
