import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  kongProgram,
  readKongYml,
  type Started,
  startEmbedded,
  startRealKong,
  startUpstream,
} from "./gateways.ts";
import { keys } from "./issued-keys.ts";

// Readers may be on replicas, and only the primary server can write a token.

const started: Started[] = [];
const keep = (it: Started) => started[started.push(it) - 1] as Started;
let config: string;
let reader: Started;

beforeAll(async () => {
  reader = keep(await startUpstream((_, response) => response.end("reader")));
  const writer = keep(await startUpstream((_, response) => response.end("writer")));
  config = await readKongYml({ "${POSTGREST_WRITER_URL}": writer.url });
});
afterAll(async () => {
  for (const { close } of started) await close();
});

const gateways = [
  ["the embedded gateway", () => startEmbedded(config, reader.url)],
  ...(kongProgram ? ([["Kong", () => startRealKong(kongProgram ?? "", config, reader.url)]] as const) : []),
] as const;

it.each(gateways)(
  "%s sends calls to the writer and all else to the readers, and counts both",
  async (_, start) => {
    const { url } = keep(await start());
    const ask = async (method: string, path: string) => {
      const response = await fetch(url + path, { method, headers: { "x-api-key": keys.standard } });
      const text = await response.text();
      // Kong counts after it has answered.
      await sleep(300);
      return [text, Number(response.headers.get("x-ratelimit-remaining-hour"))] as const;
    };
    const [first, remaining] = await ask("GET", "/general");
    expect(first).toBe("reader");
    expect(await ask("POST", "/rpc/request_file_access")).toEqual(["writer", remaining - 1]);
    expect(await ask("HEAD", "/general")).toEqual(["", remaining - 2]);
  },
);
