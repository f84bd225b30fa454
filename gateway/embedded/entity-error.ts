import type { Fields } from "../entity-defaults.ts";

/** A refusal by the Admin API: its status and its body, as Kong has them. */
export class EntityError extends Error {
  readonly status: number;
  readonly body: Fields;

  constructor(status: number, body: Fields & { message: string }) {
    super(body.message);
    this.name = "EntityError";
    this.status = status;
    this.body = body;
  }
}

/** `problems` by the field's path, such as `config.hour`; `@entity` for what concerns several fields. */
export function refuseFields(problems: ReadonlyMap<string, string>): EntityError {
  const sorted = [...problems].sort(([one], [other]) => (one < other ? -1 : 1));
  const fields: Fields = {};
  for (const [path, message] of sorted) {
    if (path === "@entity") fields[path] = [message];
    else setPath(fields, path.split("."), message);
  }
  const list = sorted
    .map(([path, message]) => (path === "@entity" ? message : `${path}: ${message}`))
    .join("; ");
  const what = sorted.length === 1 ? "schema violation" : `${sorted.length} schema violations`;
  return new EntityError(400, { message: `${what} (${list})`, name: "schema violation", code: 2, fields });
}

export function refuseDuplicate(fields: Fields): EntityError {
  const message = `UNIQUE violation detected on '${formatLua(fields)}'`;
  return new EntityError(409, { message, name: "unique constraint violation", code: 5, fields });
}

export function refuseReference(field: string, id: string): EntityError {
  return new EntityError(400, {
    message: `the foreign key '${formatLua({ id })}' does not reference an existing '${field}s' entity.`,
    name: "foreign key violation",
    code: 4,
    fields: { [field]: { id } },
  });
}

export function refuseRemoval(kind: string, referrer: string): EntityError {
  return new EntityError(400, {
    message: `an existing '${referrer}' entity references this '${kind}' entity`,
    name: "foreign key violation",
    code: 4,
    fields: { "@referenced_by": referrer },
  });
}

/** A table as Lua's libraries print it: names in order, no blanks. */
function formatLua(value: unknown): string {
  if (typeof value !== "object" || value === null) return value === null ? "null" : JSON.stringify(value);
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([name, item]) => `${name}=${formatLua(item)}`).join(",")}}`;
}

function setPath(target: Fields, [name = "", ...rest]: string[], message: string): void {
  if (rest.length === 0) {
    target[name] = message;
    return;
  }
  const inner = (target[name] ?? {}) as Fields;
  target[name] = inner;
  if (typeof inner === "object") setPath(inner, rest, message);
}
