import type { FastifyReply, FastifyRequest } from "fastify";
import type { PageContext } from "./page-context.ts";

export type AddRoute = (
  url: string,
  handler: (request: FastifyRequest, reply: FastifyReply) => unknown,
) => void;

/** What the parts of the site serve their pages with. */
export interface PageRoutes {
  addRoute: AddRoute;
  /** Reads the facts, unless there are some already. */
  describeContext: (request: FastifyRequest, facts?: Promise<PageContext["facts"]>) => Promise<PageContext>;
  sendPage: SendPage;
}

/** Sends a page. Only the visitor's own cache may keep a private one. */
export type SendPage = (
  request: FastifyRequest,
  reply: FastifyReply,
  body: string,
  options?: { status?: number; isPrivate?: boolean },
) => FastifyReply;
