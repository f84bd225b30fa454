import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** A new directory, removed with the run's temporary files. */
export const makeDirectory = (name = "test") => mkdtemp(path.join(tmpdir(), `${name}-`));
