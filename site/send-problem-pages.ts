import type { FastifyInstance, FastifyRequest } from "fastify";

export type Problem = {
  status: number;
  body: { message: string; details: string | null; hint: string | null };
};

const noSuchPage = {
  message: "There is no such page.",
  details: null,
  hint: "The address may have changed, or have a typing error.",
};

/**
 * Sends errors as pages to who asks for HTML, as browsers do, and leaves them JSON for programs. One page for one body:
 * it tells nothing that the JSON does not.
 */
export function sendProblemPages(
  app: FastifyInstance,
  write: (request: FastifyRequest, problem: Problem) => Promise<string>,
  headers: Record<string, string>,
): void {
  app.addHook("onSend", async (request, reply, payload) => {
    const isError =
      reply.statusCode >= 400 && /^application\/json/.test(String(reply.getHeader("content-type")));
    if (!isError || request.method !== "GET" || typeof payload !== "string") return payload;
    const body = JSON.parse(payload);
    if (typeof body.message !== "string") return payload;
    reply.header("vary", "Accept");
    if (!prefersHtml(request)) return payload;
    const isOther = body.code === "download_not_found" && !request.url.startsWith("/dissemination/");
    reply.headers(headers).type("text/html; charset=utf-8").removeHeader("content-length");
    return write(request, { status: reply.statusCode, body: isOther ? noSuchPage : body });
  });
}

/** Browsers name text/html when they follow a link; programs that take anything do not. */
function prefersHtml({ headers }: FastifyRequest): boolean {
  return /(^|[,\s])text\/html\s*(,|;|$)/i.test(headers.accept ?? "");
}
