import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { programArguments } from "../../support/compile-programs.ts";
import { withDirectory } from "./read-sample.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

function start(args: string[]) {
  const child = spawn(process.execPath, [...programArguments("scripts/sample.ts"), ...args], { cwd: root });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk));
  child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk));
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, ...output }));
  return { child, ended };
}

/** How far it is, every few seconds: on a busy machine what is small takes them as well. */
const progressAlone = expect.stringMatching(/^((submissions|PDFs): \d+ of \d+\n)*$/);

describe.concurrent("npm run sample", () => {
  it("explains itself", async ({ expect }) => {
    const { code, stdout } = await start(["--help"]).ended;
    expect(code).toBe(0);
    for (const option of ["--out", "--submissions", "--seed", "--pdf", "--from", "--force"])
      expect(stdout).toContain(option);
  });

  it("writes the tables and the PDFs, and PDFs alone from files that are there", ({ expect }) =>
    withDirectory(async (directory) => {
      const out = path.join(directory, "sample");
      const written = await start(["--out", out, "--submissions", "3", "--pdf"]).ended;
      expect(written).toMatchObject({ code: 0, stderr: progressAlone });
      expect(written.stdout).toContain("general: 4 rows\n");
      expect(written.stdout).toContain("4 PDFs in ");
      expect(await readdir(path.join(out, "reports"))).toHaveLength(4);

      const pdfs = await start(["--from", out, "--out", path.join(directory, "pdfs")]).ended;
      expect(pdfs).toMatchObject({ code: 0, stderr: progressAlone });
      expect(await readdir(path.join(directory, "pdfs"))).toEqual(await readdir(path.join(out, "reports")));
    }));

  it("writes into a directory that is not empty only when forced", ({ expect }) =>
    withDirectory(async (directory) => {
      await writeFile(path.join(directory, "notes.txt"), "");
      const refused = await start(["--out", directory, "--submissions", "1"]).ended;
      expect(refused.code).toBe(1);
      expect(refused.stderr).toMatch(/^error: \S+ is not empty\..*--force.*\n$/);
      expect(await readdir(directory)).toEqual(["notes.txt"]);
      const forced = await start(["--out", directory, "--submissions", "1", "--force"]).ended;
      expect(forced.code).toBe(0);
      expect(await readdir(directory)).toHaveLength(12);
    }));

  it.each([
    ["no directory", [], /--out/],
    [
      "a number that is not whole",
      ["--out", "x", "--submissions", "1.5"],
      /--submissions.*whole number from 1/,
    ],
    ["a directory inside a file", ["--out", `${fileURLToPath(import.meta.url)}/x`], /cannot write to/],
    [
      "a source that is not there",
      ["--from", "/no/such/place", "--out", "/tmp/no-such-output"],
      /\/no\/such\/place/,
    ],
    ["options that exclude each other", ["--from", ".", "--out", "x", "--pdf"], /--from.*--pdf/],
  ])("says in one line what is wrong with %s", async (_, args, message) => {
    const { code, stdout, stderr } = await start(args).ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  it("leaves no file behind when it is interrupted, and prints plain lines when piped", ({ expect }) =>
    withDirectory(async (directory) => {
      const { child, ended } = start(["--out", directory, "--submissions", "400000"]);
      child.stderr.once("data", () => child.kill("SIGINT"));
      const { code, stderr } = await ended;
      expect(code).toBe(130);
      expect(stderr).toMatch(/^(submissions: \d+ of 400000\n)+Interrupted\.\n$/);
      expect(await readdir(directory)).toEqual([]);
    }));
});
