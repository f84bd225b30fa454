import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Finding } from "./finding.ts";
import { startReaders } from "./readers.ts";
import type { Target } from "./target.ts";

const rounds = 2;
const longestRecoveryMilliseconds = 10_000;
const timeoutMilliseconds = 60_000;
/** So many right responses in a row must each reader receive before the service counts as recovered. */
const rowLength = 20;

/**
 * Kills each container of a Compose project in turn, while readers check each response. Docker starts it again.
 *
 * @param project whose name is also the name of its image
 */
export async function killContainers(target: Target, project: string): Promise<Finding> {
  const label = `label=com.docker.compose.project=${project}`;
  const names = (await docker("ps", "--filter", label, "--format", "{{.Names}}")).split("\n").sort();
  if (names[0] === "") throw new Error(`No container of the project ${project} is running. Start it first.`);
  const readers = await startReaders(target);
  const faults: string[] = [];
  const figures: string[] = [];
  for (const name of names) {
    for (let round = 0; round < rounds; round += 1) {
      await kill(name, project);
      const wait = await readers
        .recovered(performance.now(), rowLength, timeoutMilliseconds)
        .catch((error: Error) => error.message);
      figures.push(`${name} ${typeof wait === "string" ? "never" : `${(wait / 1000).toFixed(1)} s`}`);
      if (typeof wait === "string" || wait > longestRecoveryMilliseconds) faults.push(`${name}: ${wait}`);
      await sleep(1000);
    }
  }
  await readers.stop();
  const { right, unavailable } = readers.counts;
  return {
    figures: `time until all readers got right responses: ${figures.join(", ")}; ${right} right, ${unavailable} unavailable`,
    faults: [...faults, ...new Set(readers.wrong)],
  };
}

/** Kills the first process from outside, as the kernel does if memory is short. After `docker kill`, Docker does not restart it. */
async function kill(name: string, image: string): Promise<void> {
  const findPid = () => docker("inspect", "--format", "{{.State.Pid}}", name);
  while ((await findPid()) === "0") await sleep(20);
  const outside = ["--rm", "--pid", "host", "--user", "root", "--entrypoint", "/bin/sh"];
  await docker("run", ...outside, image, "-c", `kill -KILL ${await findPid()}`);
}

async function docker(...args: string[]): Promise<string> {
  return (await promisify(execFile)("docker", args)).stdout.trim();
}
