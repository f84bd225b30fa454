import { createHmac, timingSafeEqual } from "node:crypto";
import { isReportId } from "./report-id.ts";
import { longestLifeSeconds } from "./storage.ts";

const target = /^\/reports\/([^/?]+)\.pdf\?expires=([0-9]{10})&signature=([0-9a-f]{64})$/;

/**
 * Signs the download of one report's PDF from the local storage server.
 *
 * @returns the request target: path and query, to be put behind the server's base URL
 */
export function signTarget(
  secret: string,
  reportId: string,
  { expiresInSeconds, now = Date.now() }: { expiresInSeconds: number; now?: number },
): string {
  const expires = Math.floor(now / 1000) + expiresInSeconds;
  const unsigned = writeUnsigned(reportId, String(expires));
  return `${unsigned}&signature=${computeSignature(secret, unsigned).toString("hex")}`;
}

/**
 * Checks a request target exactly as it was sent. It has one spelling only: one character more, less or other
 * makes it invalid, percent-encoding and upper case included.
 *
 * @returns the report ID, or null if the target is not signed, not valid any more, or valid for too long
 */
export function verifyTarget(secret: string, sent: string, now = Date.now()): string | null {
  const [, reportId, expires, signature] = target.exec(sent) ?? [];
  if (reportId === undefined || expires === undefined || signature === undefined) return null;
  const expected = computeSignature(secret, writeUnsigned(reportId, expires));
  if (!timingSafeEqual(Buffer.from(signature, "hex"), expected)) return null;
  const millisecondsLeft = Number(expires) * 1000 - now;
  const isInTime = millisecondsLeft > 0 && millisecondsLeft <= longestLifeSeconds * 1000;
  return isInTime && isReportId(reportId) ? reportId : null;
}

function writeUnsigned(reportId: string, expires: string): string {
  return `/reports/${reportId}.pdf?expires=${expires}`;
}

function computeSignature(secret: string, unsigned: string): Buffer {
  return createHmac("sha256", secret).update(unsigned).digest();
}
