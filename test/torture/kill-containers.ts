import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Finding } from "./finding.ts";
import { startReaders } from "./readers.ts";
import type { Target } from "./target.ts";

const rounds = 2;
const longestRecoveryMilliseconds = 10_000;
const timeoutMilliseconds = 60_000;
/** The service counts as recovered when each reader has received this many correct responses in a row. */
const rowLength = 20;

/**
 * Kills the containers of a Compose project one by one, while readers check every response. Docker restarts them.
 *
 * @param project the name of the project, and of its image
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
    figures: `recovery times: ${figures.join(", ")}; ${right} correct responses, ${unavailable} unavailable`,
    faults: [...faults, ...new Set(readers.wrong)],
  };
}

/** Kills a container's main process from the host. Unlike after `docker kill`, Docker then restarts the container. */
async function kill(name: string, image: string): Promise<void> {
  const findPid = () => docker("inspect", "--format", "{{.State.Pid}}", name);
  while ((await findPid()) === "0") await sleep(20);
  const outside = ["--rm", "--pid", "host", "--user", "root", "--entrypoint", "/bin/sh"];
  await docker("run", ...outside, image, "-c", `kill -KILL ${await findPid()}`);
}

async function docker(...args: string[]): Promise<string> {
  return (await promisify(execFile)("docker", args)).stdout.trim();
}
