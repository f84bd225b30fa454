import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** Creates a directory, which is removed at the end of the run with all temporary files. */
export const makeDirectory = (name = "test") => mkdtemp(path.join(tmpdir(), `${name}-`));
