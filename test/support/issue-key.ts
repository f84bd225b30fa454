import { createHash } from "node:crypto";

/** Builds a key in the format of access.issue_key, from 32 letters and digits. */
export const issueKey = (random: string, tier = "std") => {
  const checksum = createHash("sha256").update(`${tier}_${random}`).digest("hex").slice(0, 8);
  return `${tier}_${random}${checksum}`;
};
