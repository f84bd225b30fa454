import type { z } from "zod";
import { NOT_IMPLEMENTED } from "./plugins/plugin.ts";

/** One thing that is wrong with a document. `path` is like `services[0].routes[2].name`. */
export interface ConfigProblem {
  path: string;
  message: string;
}

/** Thrown for a document that is refused; `message` has one line a problem. */
export class ConfigError extends Error {
  readonly problems: ConfigProblem[];

  constructor(problems: ConfigProblem[], options?: ErrorOptions) {
    super(problems.map((it) => (it.path ? `${it.path}: ${it.message}` : it.message)).join("\n"), options);
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** Says of each issue where it is and whether Kong could do it. `document` is what the issues are about. */
export function describeIssues(issues: readonly z.core.$ZodIssue[], document: unknown): ConfigProblem[] {
  return issues.flatMap((issue) => {
    const path = issue.path;
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({ path: formatPath([...path, key]), message: NOT_IMPLEMENTED }));
    }
    const value = readPath(document, path);
    const isUnknownPlugin = issue.code === "invalid_union" && issue.discriminator === "name";
    if (isUnknownPlugin || (issue.code === "invalid_value" && value !== undefined)) {
      const what = isUnknownPlugin ? `plugin ${JSON.stringify(value)}` : JSON.stringify(value);
      return [{ path: formatPath(path), message: `${what} ${NOT_IMPLEMENTED}` }];
    }
    const message =
      value === undefined && issue.code !== "custom" ? `missing (${issue.message})` : issue.message;
    return [{ path: formatPath(path), message }];
  });
}

export function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
}

function readPath(value: unknown, path: readonly PropertyKey[]): unknown {
  let here = value;
  for (const part of path) {
    if (typeof here !== "object" || here === null) return undefined;
    here = (here as Record<PropertyKey, unknown>)[part];
  }
  return here;
}
