import type { Event, Key } from "./keys.ts";
import { formatDetails, formatTable, formatTime } from "./print.ts";

export function formatKeys(keys: Key[]): string {
  if (keys.length === 0) return "No keys.";
  return formatTable(
    ["KEY", "TIER", "OWNER", "LABEL", "STATUS", "EXPIRES", "LAST USED"],
    keys.map((key) => [
      key.key_prefix,
      key.tier,
      key.owner_email,
      key.label,
      key.status,
      formatTime(key.expires_at, "never"),
      key.last_used_on ?? "never",
    ]),
  );
}

export function formatKey(key: Key): string {
  return formatDetails({
    id: key.id,
    "key prefix": key.key_prefix,
    tier: key.tier,
    owner: key.owner_email,
    label: key.label,
    status: key.status,
    created: formatTime(key.created_at),
    expires: formatTime(key.expires_at, "never"),
    revoked: formatTime(key.revoked_at),
    "last used": key.last_used_on ?? "never",
    agreement: key.agreement_id,
    organisation: key.organisation,
    replaces: key.replaces_id,
  });
}

export function formatHistory(events: Event[]): string {
  return formatTable(
    ["WHEN", "WHO", "DATABASE ROLE", "WHAT"],
    events.map((event) => [
      formatTime(event.at),
      event.operator ?? "unknown",
      event.database_role,
      describeChange(event),
    ]),
  );
}

function describeChange({ before, after }: Event): string {
  if (before === null || after === null) return "issued";
  return Object.keys(after)
    .filter((name) => after[name] !== before[name])
    .map((name) => `${name}: ${before[name] ?? "none"} → ${after[name] ?? "none"}`)
    .join(", ");
}
