/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { VNode } from "preact";
import type { PageContext } from "../page-context.ts";
import { ClientPart } from "./client-part.tsx";
import { Layout } from "./layout.tsx";

/** Build a request, send it from the browser, take it along as a command. */
export function ExplorerPage(context: PageContext): VNode {
  return (
    <Layout
      context={context}
      path="/explorer"
      title="Explorer – Single Audit API"
      description="Build a request to the Single Audit API, send it from the browser, and copy it as a command."
      scripts={["explorer.js"]}
    >
      <div class="wrap page">
        <h1>Explorer</h1>
        <p class="lead">
          Build a request, see what it answers, take it along as a command. It goes from your browser straight
          to the API.
        </p>
        <ClientPart context={context} name="explorer" />
      </div>
    </Layout>
  );
}
