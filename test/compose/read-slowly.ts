/**
 * Part of npm run test:compose: many clients read large responses slowly at the same time, from BASE_URL with INDIVIDUAL_KEY.
 * Exits with 1 unless each gets 200 and the whole response.
 */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const readers = 21;
const bytesPerSecond = 400_000;
/** Clients that wait for a response at the same time: fewer than one key may have running in the database. */
const asking = 2;
/** 20,000 rows, more than 50 MB: all of them are more than Kong could keep in memory. */
const path = "/federal_awards?select=*,general(*)&limit=20000&order=report_id,award_reference";

const { BASE_URL: baseUrl = "", INDIVIDUAL_KEY: key = "" } = process.env;

async function ask(): Promise<IncomingMessage> {
  const asked = request(`${baseUrl}${path}`, { agent: false, headers: { "x-api-key": key } });
  asked.end();
  const [response] = await once(asked, "response");
  return response;
}

/** @returns how many bytes came, and how the answer ended */
async function readSlowly(response: IncomingMessage): Promise<string> {
  const start = performance.now();
  let bytes = 0;
  try {
    for await (const chunk of response) {
      bytes += chunk.length;
      await sleep(Math.max(0, start + (bytes / bytesPerSecond) * 1000 - performance.now()));
    }
    return `${response.statusCode}, ${bytes} bytes`;
  } catch (error) {
    const seconds = Math.round((performance.now() - start) / 1000);
    return `${response.statusCode}, cut off after ${bytes} bytes and ${seconds} s: ${(error as Error).message}`;
  }
}

const reading: Promise<string>[] = [];
async function askInTurn(): Promise<void> {
  while (reading.length < readers) {
    const place = reading.length;
    reading[place] = Promise.resolve("");
    reading[place] = readSlowly(await ask());
  }
}
await Promise.all(Array.from({ length: asking }, askInTurn));
const answers = await Promise.all(reading);
const different = [...new Set(answers)];
for (const answer of different)
  console.log(`${answers.filter((it) => it === answer).length} slow readers: ${answer}`);
const isWhole = different.length === 1 && /^200, \d+ bytes$/.test(different[0] ?? "");
process.exitCode = isWhole ? 0 : 1;
