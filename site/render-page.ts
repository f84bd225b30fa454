import type { VNode } from "preact";
import { render } from "preact-render-to-string";
import type { VersionDescription } from "./api-description.ts";
import type { PageContext } from "./page-context.ts";
import { ReferencePage } from "./pages/reference.tsx";

/** Writes a page as a document. */
export function renderPage(page: VNode): string {
  return `<!doctype html>${render(page)}`;
}

const references = new WeakMap<VersionDescription[], Map<string, Buffer>>();

/** Writes the reference, once a deployment and data set: it is the largest page. */
export function renderReference(context: PageContext): string | Buffer {
  const { facts } = context;
  if (facts === undefined) return renderPage(ReferencePage(context));
  const { api, versions } = facts;
  const known = references.get(api) ?? new Map<string, Buffer>();
  references.set(api, known);
  const version = api.find(({ schema }) => schema === context.asked.version)?.schema;
  const key = JSON.stringify([version, versions]);
  const body = known.get(key) ?? Buffer.from(renderPage(ReferencePage(context)));
  known.set(key, body);
  return body;
}
