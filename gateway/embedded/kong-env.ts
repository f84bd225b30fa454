import path from "node:path";
import { dotenv } from "zx";

// What the embedded gateway takes from Kong's settings. Sizes are in bytes, times in milliseconds.

const settings = dotenv.load(path.join(import.meta.dirname, "../kong.env"));

/** @throws Error if the setting is missing */
function readSetting(name: string): string {
  const value = settings[`KONG_${name}`];
  if (value === undefined) throw new Error(`gateway/kong.env has no KONG_${name}. Set it there.`);
  return value;
}

const readNumber = (name: string) => Number.parseInt(readSetting(name), 10);
const readSeconds = (name: string) => 1000 * readNumber(name);
const readKilobytes = (name: string) => 1024 * readNumber(name);

const [lines, kilobytes] = readSetting("NGINX_HTTP_LARGE_CLIENT_HEADER_BUFFERS")
  .split(" ")
  .map(Number.parseFloat);
/** The longest request line, and the longest header line. */
export const longestLine = 1024 * Number(kilobytes);
export const longestHeaders = Number(lines) * longestLine;
export const longestBody = readKilobytes("NGINX_HTTP_CLIENT_MAX_BODY_SIZE");
export const longestUpstreamHeaders = readKilobytes("NGINX_PROXY_PROXY_BUFFER_SIZE");
export const headersTimeout = readSeconds("NGINX_HTTP_CLIENT_HEADER_TIMEOUT");
export const bodyTimeout = readSeconds("NGINX_HTTP_CLIENT_BODY_TIMEOUT");
export const keepAliveTimeout = readSeconds("NGINX_HTTP_KEEPALIVE_TIMEOUT");
/** How long after its start a request may be sent to another upstream. */
export const repeatTimeout = readSeconds("NGINX_PROXY_PROXY_NEXT_UPSTREAM_TIMEOUT");
export const upstreamIdleTimeout = readSeconds("UPSTREAM_KEEPALIVE_IDLE_TIMEOUT");
export const mostConnections = readNumber("NGINX_EVENTS_WORKER_CONNECTIONS");
export const compressedTypes = readSetting("NGINX_PROXY_GZIP_TYPES").split(" ");
