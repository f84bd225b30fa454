import { createHmac, timingSafeEqual } from "node:crypto";
import { askStorage, isReportId, longestLifeSeconds, type Storage } from "./storage.ts";

export interface LocalStoreOptions {
  /** Base URL of the local storage server, as clients reach it. */
  url: string;
  /** The signing secret of that server. */
  secret: string;
}

const target = /^(\/reports\/([^/?]+)\.pdf\?expires=([0-9]{10}))&signature=([0-9a-f]{64})$/;
const noReport = "0000-00-GSAFAC-0000000000";

/** Storage on this machine's disk, behind a local storage server. */
export function createLocalStore({ url, secret }: LocalStoreOptions): Storage {
  const base = url.replace(/\/+$/, "");
  const signDownload = async (reportId: string, expiresInSeconds: number) => {
    if (!isReportId(reportId)) return null;
    const address = base + signTarget(secret, reportId, expiresInSeconds);
    return await askStorage(`is there a file for ${reportId}`, async (signal) => {
      const { status } = await fetch(address, { method: "HEAD", redirect: "manual", signal });
      if (status !== 200 && status !== 404) throw new Error(`The storage server answered ${status}.`);
      return status === 200 ? address : null;
    });
  };
  return {
    signDownload,
    check: async () => void (await signDownload(noReport, 10)),
    close: () => {},
  };
}

/** Signs the download of a report's PDF from the local storage server. Returns its path and query. */
export function signTarget(secret: string, reportId: string, expiresInSeconds: number): string {
  const unsigned = `/reports/${reportId}.pdf?expires=${Math.floor(Date.now() / 1000) + expiresInSeconds}`;
  return `${unsigned}&signature=${computeSignature(secret, unsigned).toString("hex")}`;
}

/**
 * Returns the report ID of a path and query, or null if it is not signed, has expired, or was signed for too long. It must
 * arrive exactly as it was signed: another percent-encoding or upper case makes it invalid.
 */
export function verifyTarget(secret: string, sent: string): string | null {
  const [, unsigned = "", reportId = "", expires, signature = ""] = target.exec(sent) ?? [];
  if (!isReportId(reportId)) return null;
  if (!timingSafeEqual(Buffer.from(signature, "hex"), computeSignature(secret, unsigned))) return null;
  const secondsLeft = Number(expires) - Date.now() / 1000;
  return secondsLeft > 0 && secondsLeft <= longestLifeSeconds ? reportId : null;
}

function computeSignature(secret: string, unsigned: string): Buffer {
  return createHmac("sha256", secret).update(unsigned).digest();
}
