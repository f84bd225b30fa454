import type { Readable } from "node:stream";
import type { Objects, Range, S3Options } from "../../shared/objects/objects.ts";
import { openObjects } from "../../shared/objects/open-objects.ts";
import { callStorage, hastyLimits } from "../../shared/web/call-storage.ts";
import { ErrorWithResponse, makeError } from "../../shared/web/error-responses.ts";

/** The text in a compressed CSV file. Its parts can be decompressed without those before them (RFC 1951, no gzip header). */
export interface CompressedText {
  bytes: number;
  /** The bytes of text in each part. The last one may have fewer. */
  part_bytes: number;
  /** Where each part starts in the file. */
  starts: number[];
}

export interface PublicFile {
  name: string;
  bytes: number;
  sha256: string;
  /** Only of files that list changes. Others were published with their data set. */
  published_at?: string;
  /** Only of tables as CSV. */
  text?: CompressedText;
}

/** A file with public rows. */
export interface TableFile extends PublicFile {
  table: string;
  audit_year: string | null;
  format: string;
  rows: number;
}

/** The parts of the refresh's `manifest.json` that this service reads. */
export interface Manifest {
  data_set: string;
  published_at: string;
  files: TableFile[];
  changes: PublicFile[];
}

/** The bulk files belong to a data set that is not live, so they may have reports that were suppressed since. */
class FilesNotLive extends ErrorWithResponse {
  override name = "FilesNotLive";
}

const filesNotLive = makeError(
  503,
  "files_not_current",
  {
    message: "The bulk files do not belong to the live data set.",
    details: "Another data set was published or rolled back. Its files are not available yet.",
    hint: "Try again in a few seconds. If this lasts, use the API, or ask the operator to refresh with PUBLIC_DATA set.",
  },
  { "retry-after": "10" },
);

/** The bulk files of the published data set. Both methods return, or throw StorageUnavailable, within 3 s. */
export interface PublicFiles {
  /** Reads the newest manifest, parsed and as text. Returns undefined if there is none. */
  readManifest: () => Promise<{ manifest: Manifest; text: string } | undefined>;
  open: (folder: string, name: string, range: Range) => Promise<Readable>;
}

/** @param location a directory, or s3://bucket/prefix */
export function openPublicFiles(location: string, options: S3Options = {}): PublicFiles {
  let opened: Promise<Objects> | undefined;
  const objects = () => {
    opened ??= openObjects(location, { ...options, limits: hastyLimits });
    return opened;
  };
  return {
    readManifest: () =>
      callStorage("the manifest of the bulk files", async () => {
        const text = await (await objects()).readText("manifest.json");
        return text === undefined ? undefined : { manifest: JSON.parse(text) as Manifest, text };
      }),
    open: (folder, name, range) =>
      callStorage(`the bulk file ${name}`, async () => (await objects()).open(`${folder}/${name}`, range)),
  };
}

/**
 * Gives out only the files of the live data set. Asks for its ID after reading the manifest, so that no file is given out
 * once another data set is live.
 *
 * @param readLiveId throws if the files may not be given out
 */
export function requireLive(files: PublicFiles, readLiveId: () => Promise<string>): PublicFiles {
  return {
    ...files,
    /** @throws FilesNotLive, and what readLiveId throws */
    readManifest: async () => {
      const found = await files.readManifest();
      const live = await readLiveId();
      if (found !== undefined && found.manifest.data_set !== live)
        throw new FilesNotLive(
          `The bulk files belong to ${found.manifest.data_set}, but ${live} is live.`,
          filesNotLive,
        );
      return found;
    },
  };
}
