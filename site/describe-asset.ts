import { createHash } from "node:crypto";
import type { VersionDescription } from "./api-description.ts";

/** The description of the served versions as a file whose name holds a hash of its content. */
export interface DescriptionAsset {
  path: string;
  body: Buffer;
}

const made = new WeakMap<VersionDescription[], DescriptionAsset>();

/** Writes a description as a file, once. */
export function describeAsset(api: VersionDescription[]): DescriptionAsset {
  const found = made.get(api);
  if (found !== undefined) return found;
  const body = Buffer.from(JSON.stringify(api));
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 8).toUpperCase();
  const asset = { path: `/assets/api-${hash}.json`, body };
  made.set(api, asset);
  return asset;
}
