/** Paths as tables have them, with no room for a key (43 characters) or a token; gateway/kong.yml says the same to Kong. */
const PLAIN_PATH = /^\/[a-z0-9_/]{0,39}$/;

/** What a log may show of a request's target: the path alone, since the query may hold a key, and only a plain one. */
export function hidePath(target: string): string {
  const [path = ""] = target.split("?");
  return PLAIN_PATH.test(path) ? path : "-";
}

/** Whether an X-Request-Id may be logged, since clients may choose it (db/api/request/note_request_id.sql). */
export function isLoggableId(id: string): boolean {
  return /^(?![A-Za-z0-9]{43}$)[\w.:-]{1,63}$/.test(id);
}
