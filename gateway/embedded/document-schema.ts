import { z } from "zod";
import type { EntityKind } from "../entity-defaults.ts";
import { normalizePath } from "./normalize-path.ts";
import { PLUGINS } from "./plugins/index.ts";
import { NOT_IMPLEMENTED, type Plugin } from "./plugins/plugin.ts";

/** A plugin as it stands in the document; `config` is already read by the plugin's own schema. */
export interface PluginEntry {
  name: string;
  instance_name?: string | undefined;
  enabled: boolean;
  config: unknown;
}

const tags = z.array(z.string()).optional();
/** No query, no user, no escapes: nothing that could be dropped on the way to the upstream. */
const HTTP_URL = /^http:\/\/(\[[0-9a-f:.]+\]|[\w.-]+)(:\d{1,5})?(\/[\w.~!$&'()*+,;=:@/-]*)?$/i;
const milliseconds = z.int().min(1).default(60_000);
const name = z.string().regex(/^[\w.~-]+$/, "expected letters, digits and . - _ ~");

function pluginEntry(plugin: Plugin) {
  return z.strictObject({
    name: z.literal(plugin.name),
    instance_name: plugin.instanceName ? z.literal(plugin.instanceName) : z.string().optional(),
    enabled: z.boolean().default(true),
    tags,
    config: plugin.config.prefault({}),
  });
}

function pluginList(plugins: readonly Plugin[]) {
  const [first, ...rest] = plugins.map(pluginEntry);
  if (!first) throw new Error("no plugin is implemented");
  return z.array(z.discriminatedUnion("name", [first, ...rest]) as z.ZodType<PluginEntry>).default([]);
}

const plugins = pluginList(PLUGINS);

const path = z.string().superRefine((path, context) => {
  if (path.startsWith("~")) context.addIssue({ code: "custom", message: `regex paths ${NOT_IMPLEMENTED}` });
  else if (path !== normalizePath(path)) {
    context.addIssue({ code: "custom", message: `expected a normalised path that starts with "/"` });
  }
});

const routeFields = {
  name,
  paths: z.array(path).min(1).optional(),
  methods: z
    .array(z.string().regex(/^[A-Z]+$/))
    .min(1)
    .optional(),
  strip_path: z.boolean().default(true),
  preserve_host: z.boolean().default(false),
  /** Only plain HTTP is spoken here; a route that also takes https is served over http. */
  protocols: z
    .array(z.enum(["http", "https"]))
    .refine((protocols) => protocols.includes("http"), `a route without http ${NOT_IMPLEMENTED}`)
    .optional(),
  /** Bodies stream whatever these say. */
  request_buffering: z.boolean().default(true),
  response_buffering: z.boolean().default(true),
  tags,
};
const hasMatcher = (route: { paths?: unknown; methods?: unknown }) =>
  route.paths !== undefined || route.methods !== undefined;
const route = z.strictObject({ ...routeFields, plugins }).refine(hasMatcher, "needs paths or methods");

const serviceFields = {
  name,
  protocol: z.literal("http").optional(),
  host: z.string().min(1).optional(),
  port: z.int().min(1).max(65_535).optional(),
  path: path.optional(),
  connect_timeout: milliseconds,
  read_timeout: milliseconds,
  write_timeout: milliseconds,
  retries: z.int().min(0).max(32_767).default(5),
  tags,
};
const service = z
  .strictObject({
    ...serviceFields,
    url: z
      .string()
      .regex(HTTP_URL, `expected http://host:port/path; others are ${NOT_IMPLEMENTED}`)
      .optional(),
    routes: z.array(route).default([]),
    plugins,
  })
  .refine((service) => service.url !== undefined || service.host !== undefined, "needs url or host")
  .refine((service) => {
    return (
      service.url === undefined || [service.host, service.port, service.path].every((it) => it === undefined)
    );
  }, "url excludes host, port and path");

const consumerFields = {
  username: z.string().min(1).optional(),
  custom_id: z.string().min(1).optional(),
  tags,
};
const consumer = z
  .strictObject({
    ...consumerFields,
    id: z.uuid().optional(),
    keyauth_credentials: z
      .array(z.strictObject({ id: z.uuid().optional(), key: z.string().min(1), tags }))
      .default([]),
    plugins: pluginList(PLUGINS.filter((plugin) => plugin.onConsumers)),
  })
  .refine((consumer) => consumer.username ?? consumer.custom_id, "needs username or custom_id");

/** The part of Kong's declarative format that is implemented. Anything else is refused. */
export const documentSchema = z.strictObject({
  _format_version: z.literal("3.0"),
  services: z.array(service).default([]),
  plugins,
  consumers: z.array(consumer).default([]),
});

/** The same for single entities, without their ID and what they refer to. A plugin's config has a schema of its own. */
export const entitySchemas: Readonly<Record<EntityKind, z.ZodType>> = {
  services: z.strictObject({ ...serviceFields, host: z.string().min(1) }),
  routes: z.strictObject(routeFields).refine(hasMatcher, "needs paths or methods"),
  plugins: z.strictObject({
    name: z.string(),
    instance_name: z.string().optional(),
    enabled: z.boolean().optional(),
    tags,
  }),
  consumers: z.strictObject(consumerFields),
  "key-auths": z.strictObject({ key: z.string().min(1), tags }),
};

export type DocumentEntry = z.output<typeof documentSchema>;
