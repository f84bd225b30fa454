import { request } from "undici";
import { maskText } from "./mask-secrets.ts";

/** A node has read the document and will not have it. What it had before stays in force. */
export class DocumentRefused extends Error {
  override name = "DocumentRefused";
}

/** What Kong answers with 400 when asked for `flatten_errors` (Kong: POST /config). */
interface Refusal {
  message?: string;
  flattened_errors?: {
    entity_type?: string;
    entity_name?: string;
    errors?: { field?: string; message?: string; messages?: string[] }[];
  }[];
}

const statusTimeoutMilliseconds = 3_000;
/** Kong answers when every worker has taken the document in: seconds where there are many keys. */
const postTimeoutMilliseconds = 60_000;
const describedErrors = 10;

/** The hash that a node without a configuration has (Kong: DECLARATIVE_EMPTY_CONFIG_HASH). */
export const emptyHash = "0".repeat(32);

/** The hash of the configuration that a node serves, which is `emptyHash` after a restart (Kong: GET /status). */
export async function readConfigurationHash(adminUrl: string, signal: AbortSignal): Promise<string> {
  const { statusCode, body } = await request(new URL("/status", adminUrl), {
    signal: AbortSignal.any([signal, AbortSignal.timeout(statusTimeoutMilliseconds)]),
  });
  if (statusCode !== 200) {
    await body.dump();
    throw new Error(`GET /status was answered with ${statusCode}`);
  }
  const { configuration_hash: hash } = (await body.json()) as { configuration_hash?: string };
  if (hash === undefined) {
    throw new Error(
      "GET /status names no configuration_hash. The node has a database; set KONG_DATABASE=off",
    );
  }
  return hash;
}

/**
 * Gives a node its whole configuration. It is in force for the next request.
 *
 * @throws DocumentRefused with Kong's reasons, without key hashes and the given secrets
 * @throws Error when the node cannot be reached or is busy
 */
export async function postDocument(
  adminUrl: string,
  document: Uint8Array,
  secrets: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  // undici's own call sends the bytes as they are; fetch would copy them for each node.
  const { statusCode, body } = await request(new URL("/config?check_hash=1&flatten_errors=1", adminUrl), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: document,
    signal: AbortSignal.any([signal, AbortSignal.timeout(postTimeoutMilliseconds)]),
  });
  // 304: the node has this very document already. Kong sends all entities back with 201; nobody keeps them.
  if (statusCode === 200 || statusCode === 201 || statusCode === 304) {
    for await (const _ of body);
    return;
  }
  const text = await body.text();
  if (statusCode === 400) throw new DocumentRefused(maskText(describeRefusal(text), secrets));
  if (statusCode === 413) {
    const megabytes = Math.ceil(document.length / 2 ** 20);
    throw new DocumentRefused(
      `the document is too large (413). It has ${megabytes} MB: raise KONG_NGINX_ADMIN_CLIENT_MAX_BODY_SIZE and KONG_NGINX_ADMIN_CLIENT_BODY_BUFFER_SIZE`,
    );
  }
  throw new Error(`POST /config was answered with ${statusCode}: ${maskText(text.slice(0, 500), secrets)}`);
}

/** Kong's flattened errors, one a line. The entities themselves hold key hashes and are left out. */
function describeRefusal(text: string): string {
  let refusal: Refusal;
  try {
    refusal = JSON.parse(text);
  } catch {
    return text.slice(0, 500);
  }
  const lines = (refusal.flattened_errors ?? []).flatMap(({ entity_type, entity_name, errors = [] }) =>
    errors.map(({ field, message, messages = [] }) =>
      [[entity_type, entity_name, field].filter(Boolean).join(" "), message ?? messages.join("; ")].join(
        ": ",
      ),
    ),
  );
  if (lines.length === 0) return (refusal.message ?? text).slice(0, 500);
  const more = lines.length - describedErrors;
  return [...lines.slice(0, describedErrors), ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}
