import { createHash } from "node:crypto";

/** Builds a key in the format of access.issue_key, from 32 letters and digits. */
export const issueKey = (random: string) => {
  const checksum = createHash("sha256").update(`std_${random}`).digest("hex").slice(0, 8);
  return `std_${random}${checksum}`;
};
