const validDays = 180;

/** `/.well-known/security.txt` (RFC 9116), valid for half a year from the day it is asked for. */
export function writeSecurityTxt(contact: string, now = new Date()): string {
  const expires = new Date(now);
  expires.setUTCHours(0, 0, 0, 0);
  expires.setUTCDate(expires.getUTCDate() + validDays);
  return [
    `Contact: ${contact}`,
    `Expires: ${expires.toISOString().replace(".000", "")}`,
    "Preferred-Languages: en",
    "",
  ].join("\n");
}
