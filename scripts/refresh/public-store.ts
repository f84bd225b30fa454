/**
 * Where the bulk files are kept: `<data set>/<file>` for each data set that can be live, `changes-<number>/<file>` for
 * what a publication has changed, and `manifest.json`, which lists the files of the data set that is live.
 */
export interface PublicStore {
  /** A directory in which files are made; the caller removes it. */
  makeWorkDirectory: () => Promise<string>;
  /** Takes a finished file. */
  put: (key: string, file: string, contentType: string) => Promise<void>;
  /** Replaces a small text at once. */
  putText: (key: string, text: string) => Promise<void>;
  /** @returns undefined if there is none */
  readText: (key: string) => Promise<string | undefined>;
  /** The first parts of the keys of all files. */
  listFolders: () => Promise<string[]>;
  removeFolder: (id: string) => Promise<void>;
}
