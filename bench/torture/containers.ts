import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { longestRecoveryMilliseconds, type Victim } from "./kill-parts.ts";

/**
 * The containers of a compose project that run. `docker kill` would tell Docker not to start them again, so their first
 * process is killed from outside of them, as the kernel does where memory is short.
 *
 * @throws Error when none runs
 */
export async function listContainers(project: string): Promise<Victim[]> {
  const label = `label=com.docker.compose.project=${project}`;
  const names = (await docker("ps", "--filter", label, "--format", "{{.Names}}")).split("\n").sort();
  if (names[0] === "") throw new Error(`No container of the project ${project} runs.`);
  return names.map((name) => ({
    name: name.replace(`${project}-`, ""),
    longestMilliseconds: longestRecoveryMilliseconds,
    kill: async () => {
      const pid = await docker("inspect", "--format", "{{.State.Pid}}", name);
      if (pid === "0") return false;
      const outside = ["--rm", "--pid", "host", "--user", "root", "--entrypoint", "/bin/sh"];
      await docker("run", ...outside, project, "-c", `kill -KILL ${pid}`);
      return true;
    },
  }));
}

async function docker(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("docker", args);
  return stdout.trim();
}
