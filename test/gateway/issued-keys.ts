import { createHash } from "node:crypto";

/** Keys with which the gateway has nothing to find fault. */
export const keys = {
  standard: issueKey("std", "a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8"),
  other: issueKey("std", "b1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8"),
  issuedEarlier: "earlier".padEnd(43, "0123456789"),
};

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** As access.issue_key makes them. */
export function issueKey(tier: string, random: string): string {
  return `${tier}_${random}${sha256(`${tier}_${random}`).slice(0, 8)}`;
}
