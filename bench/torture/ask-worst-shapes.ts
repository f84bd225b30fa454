import { readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import { listProcesses, readMegabytes } from "../process-time.ts";
import { createTally, type Finding, type PartOptions, type Target } from "./part.ts";
import { sendRequest } from "./send-request.ts";

/** From general to its awards, to their reports, and so on. */
const nest = (depth: number, table = "federal_awards"): string => {
  if (depth === 0) return "report_id";
  return `report_id,${table}(${nest(depth - 1, table === "general" ? "federal_awards" : "general")})`;
};
const list = (count: number, item: string) => Array.from({ length: count }, () => item).join(",");
const all = [
  "federal_awards",
  "findings",
  "findings_text",
  "corrective_action_plans",
  "notes_to_sefa",
  "passthrough",
];

interface Shape {
  name: string;
  path: string;
  key: "demo" | "individual";
  together: number;
  /** Whether it is too large or too deep to be run at all. */
  isRefused?: boolean;
}

const shapes: Shape[] = [
  {
    name: "embedding 8 deep",
    path: `/general?select=${nest(8)}`,
    key: "individual",
    together: 50,
    isRefused: true,
  },
  { name: "embedding 6 deep", path: `/general?select=${nest(6)}`, key: "individual", together: 50 },
  ...[
    {
      name: "all embedded in general",
      path: `/general?select=*,${all.map((name) => `${name}(*)`).join(",")}&limit=20000`,
    },
    {
      name: "awards with their reports",
      path: "/federal_awards?select=*,general(*)&order=cluster_name&limit=20000",
    },
    {
      name: "awards of the reports of awards",
      path: "/federal_awards?select=*,general(*,federal_awards(*))&limit=20000",
    },
  ].map((shape): Shape => ({ ...shape, key: "demo", together: 8 })),
  {
    name: "parentheses 7,000 deep",
    path: `/general?or=${"(".repeat(7000)}`,
    key: "individual",
    together: 20,
    isRefused: true,
  },
  {
    name: "2,351 columns",
    path: `/general?select=${list(2351, "report_id")}`,
    key: "individual",
    together: 20,
    isRefused: true,
  },
];

/** How long a client with another key may wait meanwhile, and how soon a shape is refused. */
const longestWaitMilliseconds = 5000;
const longestRefusalMilliseconds = 2000;
const witnessPauseMilliseconds = 50;

/** Sends the shapes that cost the most, many at once, while a client with another key asks for little. */
export async function askWorstShapes(target: Target, { report }: PartOptions): Promise<Finding> {
  const faults: string[] = [];
  const figures: string[] = [];
  const memory = target.own && watchMemory(target.own.pid());
  for (const shape of shapes) {
    const { statuses, seconds, longestWait, wrong } = await tryShape(target, shape);
    const line = `${shape.together} × ${shape.name}: ${statuses}, ${seconds.toFixed(1)} s, a witness waited ${longestWait.toFixed(0)} ms at most`;
    figures.push(line);
    report(line);
    faults.push(...wrong);
    if (longestWait > longestWaitMilliseconds) {
      faults.push(`${shape.name}: a client with another key waited ${longestWait.toFixed(0)} ms.`);
    }
  }
  if (memory !== undefined) {
    for (const { part, peak, limit } of await memory.stop()) {
      figures.push(`${part} ${peak} of ${limit} MB`);
      if (peak > limit) faults.push(`${part} took ${peak} MB; docker-compose.yml gives it ${limit} MB.`);
    }
  }
  return { figures: figures.join("; "), faults };
}

async function tryShape(target: Target, { name, path: shape, key, together, isRefused = false }: Shape) {
  const wrong: string[] = [];
  const statuses = createTally();
  const witness = startWitness(target, wrong);
  const value = key === "demo" ? "DEMO_KEY" : target.keys.next(key);
  const isHere = new URL(target.baseUrl).hostname.startsWith("127.");
  // The demonstration key's limit is the address's: 24 requests from one are within it.
  const localAddress = key === "demo" && isHere ? "127.77.0.1" : undefined;
  const start = performance.now();
  const send = async () => {
    const wire = { method: "GET", path: shape, headers: [["x-api-key", value]] as [string, string][] };
    const { status, headers, body } = await sendRequest(target.baseUrl, wire, { localAddress });
    const code = status >= 400 ? /"code":\s*"([^"]*)"/.exec(body)?.[1] : undefined;
    statuses.add(code === undefined ? status : `${status} ${code}`);
    const milliseconds = performance.now() - start;
    if (isRefused && (status !== 400 || milliseconds > longestRefusalMilliseconds)) {
      wrong.push(`${name} was answered ${status} after ${milliseconds.toFixed(0)} ms.`);
    }
    const isAway = [429, 503].includes(status) && Number(headers["retry-after"]) > 0;
    const isTooLong = status === 500 && code === "57014";
    if (status >= 429 && !isAway && !isTooLong)
      wrong.push(`${name} was answered ${status}: ${body.slice(0, 200)}`);
  };
  await Promise.all(
    Array.from({ length: together }, () => send().catch((error) => wrong.push(`${name}: ${error.message}`))),
  );
  const seconds = (performance.now() - start) / 1000;
  return { statuses, seconds, longestWait: await witness.stop(), wrong };
}

/** A client with other keys, who asks for one row again and again. */
function startWitness(target: Target, wrong: string[]) {
  let isStopped = false;
  let longestWait = 0;
  const asking = (async () => {
    while (!isStopped) {
      const start = performance.now();
      const wire = {
        method: "GET",
        path: "/general?limit=1",
        headers: [["x-api-key", target.keys.next("tribal")]] as [string, string][],
      };
      const answer = await sendRequest(target.baseUrl, wire).catch((error: Error) => error);
      longestWait = Math.max(longestWait, performance.now() - start);
      if (answer instanceof Error) wrong.push(`A witness had no answer: ${answer.message}`);
      else if (answer.status !== 200) wrong.push(`A witness was answered ${answer.status}.`);
      await sleep(witnessPauseMilliseconds);
    }
  })();
  return {
    stop: async () => {
      isStopped = true;
      await asking;
      return longestWait;
    },
  };
}

/** Reads the memory of the stack's programs again and again: of PostgreSQL what all its processes hold together. */
function watchMemory(pid: number) {
  const peaks = { postgres: 0, postgrest: 0, node: 0 };
  const read = () => {
    const processes = listProcesses(pid);
    const sum = (program: "postgres" | "postgrest") => {
      const each = processes.filter((one) => one.program === program).map((one) => readMegabytes(one.pid));
      return each.reduce((all, { own }) => all + own, 0) + Math.max(0, ...each.map(({ shared }) => shared));
    };
    peaks.postgres = Math.max(peaks.postgres, sum("postgres"));
    peaks.postgrest = Math.max(peaks.postgrest, sum("postgrest"));
    for (const each of processes) {
      if (each.program === "node") peaks.node = Math.max(peaks.node, readMegabytes(each.pid).now);
    }
  };
  const timer = setInterval(read, 100);
  return {
    stop: async () => {
      clearInterval(timer);
      const limits = await readLimits();
      return [
        { part: "PostgreSQL", peak: peaks.postgres, limit: limits.postgres },
        { part: "PostgREST", peak: peaks.postgrest, limit: limits.postgrest },
        { part: "the largest Node process", peak: peaks.node, limit: limits.gateway },
      ];
    },
  };
}

/** In MB, as the compose file gives them. */
async function readLimits(): Promise<{ postgres: number; postgrest: number; gateway: number }> {
  const file = path.resolve(import.meta.dirname, "../../docker-compose.yml");
  const { services } = parse(await readFile(file, "utf8"), { merge: true });
  const read = (name: string) => {
    const [, number, unit] = /^(\d+)([mg])$/.exec(services[name].mem_limit) ?? [];
    return Number(number) * (unit === "g" ? 1024 : 1);
  };
  return { postgres: read("postgres"), postgrest: read("postgrest"), gateway: read("gateway") };
}
