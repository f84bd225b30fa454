import type { Readable } from "node:stream";

/** How long to wait for storage, in milliseconds. */
export interface StorageLimits {
  /** For a connection. */
  connect: number;
  /** For the response to a request. */
  answer: number;
  /** While no byte of a file is read or sent. */
  idle: number;
  /** In all, for one file. Time in which its reader reads nothing does not count. */
  total: number;
  /** How often to try. */
  tries: number;
}

/** How to reach and use an S3 API. */
export interface S3Options {
  region?: string | undefined;
  /** AWS if absent. */
  endpoint?: string | undefined;
  /** Puts the bucket's name into the path rather than the host. */
  forcePathStyle?: boolean;
  /** The AWS standard chain if absent: environment, profile, container, instance. */
  credentials?: Credentials | undefined;
  /** For the ledger, if it has its own. */
  ledgerCredentials?: Credentials | undefined;
}

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

export interface StorageOptions extends S3Options {
  limits?: StorageLimits | undefined;
  /** Ends everything that waits for storage. */
  signal?: AbortSignal | undefined;
}

/** A part of an object, in bytes. */
export interface Range {
  start: number;
  /** Inclusive. */
  end: number;
}

/** A file of a directory or bucket. */
export interface StoredFile {
  /** A path, or s3://… */
  path: string;
  /** Bytes as stored. */
  size: number;
  /** Reads the bytes as stored. */
  open: () => Promise<Readable>;
  /** A text that changes when the content does. */
  identify: () => Promise<string>;
  /** @throws Error if the file has changed since it was listed */
  checkUnchanged: () => Promise<void>;
}

/** The objects in a directory, or under a prefix of a bucket. Keys are paths below it. Errors name the path or s3://… */
export interface Objects {
  /** @throws Error if it cannot be reached */
  check: (signal: AbortSignal) => Promise<void>;
  /**
   * Whether there is such a file.
   *
   * @throws Error if the directory or bucket itself is missing
   */
  has: (key: string, signal?: AbortSignal) => Promise<boolean>;
  /** The CSV files directly in it, or those with another ending, by name. */
  listFiles: (ending?: RegExp) => Promise<StoredFile[]>;
  /** The names of the folders directly in it. */
  listFolders: () => Promise<string[]>;
  removeFolder: (name: string) => Promise<void>;
  open: (key: string, range?: Range) => Promise<Readable>;
  /** @returns undefined if there is none */
  readText: (key: string) => Promise<string | undefined>;
  /** Makes a local directory for unfinished files. The caller removes it. */
  makeWorkDirectory: () => Promise<string>;
  /** Stores a finished local file. May move it. */
  putFile: (key: string, file: string) => Promise<void>;
  /** Writes a small file in one step. Replaces an existing one. */
  put: (key: string, content: string | Buffer) => Promise<void>;
  /**
   * Writes a small file in one step, unless there is one already.
   *
   * @returns whether it was written
   */
  create: (key: string, content: string) => Promise<boolean>;
  close: () => void;
}
