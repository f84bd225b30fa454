import { isReportId } from "./report-id.ts";
import { signTarget } from "./signed-url.ts";
import { askStorage, type Storage } from "./storage.ts";

export interface LocalStoreOptions {
  /** Base URL of the local storage server, as clients reach it. */
  url: string;
  /** The signing secret of that server. */
  secret: string;
}

const noReport = "0000-00-GSAFAC-0000000000";

/** Storage on this machine's disk, behind a local storage server. */
export function createLocalStore({ url, secret }: LocalStoreOptions): Storage {
  const base = url.replace(/\/+$/, "");

  async function signDownload(reportId: string, { expiresInSeconds }: { expiresInSeconds: number }) {
    if (!isReportId(reportId)) return null;
    const address = `${base}${signTarget(secret, reportId, { expiresInSeconds })}`;
    const status = await askStorage(`is there a file for ${reportId}`, async (signal) => {
      const response = await fetch(address, { method: "HEAD", redirect: "manual", signal });
      if (response.status !== 200 && response.status !== 404) {
        throw new Error(`The storage server answered ${response.status}.`);
      }
      return response.status;
    });
    return status === 200 ? address : null;
  }

  return {
    signDownload,
    // A report that no data set has: the server is there and takes the signature.
    check: async () => {
      await signDownload(noReport, { expiresInSeconds: 10 });
    },
    close: () => {},
  };
}
