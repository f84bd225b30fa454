import type { Fields } from "../entity-defaults.ts";
import { EntityError } from "./entity-error.ts";

const defaultSize = 100;
const largestSize = 1_000;

/**
 * One page of a list, as Kong has it: `size`, `tags` (all of them, by comma) and `offset`, which `next` holds.
 *
 * @throws EntityError for a size or an offset that is none
 */
export function listPage(url: URL, all: readonly Fields[]): Fields {
  const size = readSize(url.searchParams.get("size"));
  const offset = url.searchParams.get("offset");
  const tags = url.searchParams.get("tags");
  const wanted = tags?.split(",") ?? [];
  const data: Fields[] = [];
  let hasMore = false;
  for (let index = offset === null ? 0 : findAfter(all, readOffset(offset)); index < all.length; index += 1) {
    const entity = all[index];
    if (entity === undefined || !wanted.every((tag) => (entity.tags as string[] | null)?.includes(tag)))
      continue;
    hasMore = data.length === size;
    if (hasMore) break;
    data.push(entity);
  }
  if (!hasMore) return { data, next: null };
  const next = Buffer.from(JSON.stringify([data.at(-1)?.id])).toString("base64url");
  const filter = tags === null ? "" : `&tags=${encodeURIComponent(tags)}`;
  return { data, offset: next, next: `${url.pathname}?offset=${next}${filter}&size=${size}` };
}

function readSize(text: string | null): number {
  const size = text === null ? defaultSize : Number(text);
  if (Number.isInteger(size) && size >= 1 && size <= largestSize) return size;
  const message = `size must be an integer between 1 and ${largestSize}`;
  throw new EntityError(400, { message, name: "invalid size", code: 9 });
}

function readOffset(text: string): string {
  try {
    const [id] = JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as unknown[];
    if (typeof id === "string") return id;
  } catch {
    // Refused below.
  }
  const message = `'${text}' is not a valid offset: bad json encoding`;
  throw new EntityError(400, { message, name: "invalid offset", code: 7 });
}

/** The index of the first entity after the ID. */
function findAfter(all: readonly Fields[], id: string): number {
  let from = 0;
  let to = all.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (String(all[middle]?.id) <= id) from = middle + 1;
    else to = middle;
  }
  return from;
}
