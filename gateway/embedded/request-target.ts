import { isUtf8 } from "node:buffer";
import { type Answer, answerProxyError } from "./error-answers.ts";
import type { Exchange } from "./plugins/plugin.ts";

/** nginx's `large_client_header_buffers`: the longest request line in bytes. */
const MAX_REQUEST_LINE = 32_768;

/** 414 for a request line over 32 KB, 400 for a target that nginx would not read. */
export function refuseRequestLine(exchange: Exchange, url: string): Answer | undefined {
  if (exchange.method.length + url.length + " HTTP/1.1\r\n".length + 1 > MAX_REQUEST_LINE) {
    return answerProxyError(exchange, 414, "URI too long");
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\x00-\x20\x7f]/.test(url) || url === "*" || url.split("?")[0]?.includes("%00"))
    return answerProxyError(exchange, 400, "Bad request");
  return undefined;
}

/** Path and query as sent, without the `http://host` of an absolute target. */
export function splitTarget(target: string): [path: string, query: string] {
  const local = target.replace(/^https?:\/\/[^/?]*/i, "");
  const question = local.indexOf("?");
  if (question < 0) return [local || "/", ""];
  return [local.slice(0, question) || "/", local.slice(question + 1)];
}

/** Whether the bytes are UTF-8; `text` has one character a byte. */
export function holdsUtf8(text: string): boolean {
  return isUtf8(Buffer.from(text, "latin1"));
}
