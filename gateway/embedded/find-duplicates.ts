import type { ConfigProblem } from "./config-error.ts";
import type { DocumentEntry } from "./document-schema.ts";

/** What must be unique in a document. A credential is named by its place, never by its value. */
export function findDuplicates(document: DocumentEntry): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const seen = new Map<string, string>();
  const claim = (kind: string, value: string | undefined, path: string) => {
    if (value === undefined) return;
    const first = seen.get(`${kind}:${value}`);
    if (first === undefined) seen.set(`${kind}:${value}`, path);
    else problems.push({ path, message: `the same as ${first}; it must be unique` });
  };
  const claimPlugins = (plugins: DocumentEntry["plugins"], at: string) => {
    for (const [index, plugin] of plugins.entries()) {
      claim(`plugin of ${at}`, plugin.name, `${at}plugins[${index}].name`);
      claim("plugin instance", plugin.instance_name, `${at}plugins[${index}].instance_name`);
    }
  };

  claimPlugins(document.plugins, "");
  for (const [index, service] of document.services.entries()) {
    const at = `services[${index}].`;
    claim("service", service.name, `${at}name`);
    claimPlugins(service.plugins, at);
    for (const [number, route] of service.routes.entries()) {
      claim("route", route.name, `${at}routes[${number}].name`);
      claimPlugins(route.plugins, `${at}routes[${number}].`);
    }
  }
  for (const [index, consumer] of document.consumers.entries()) {
    const at = `consumers[${index}].`;
    claim("consumer id", consumer.id, `${at}id`);
    claim("username", consumer.username, `${at}username`);
    claim("custom_id", consumer.custom_id, `${at}custom_id`);
    claimPlugins(consumer.plugins, at);
    for (const [number, credential] of consumer.keyauth_credentials.entries()) {
      claim("credential", credential.key, `${at}keyauth_credentials[${number}].key`);
      claim("credential id", credential.id, `${at}keyauth_credentials[${number}].id`);
    }
  }
  return problems;
}
