/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { VNode } from "preact";
import type { PageContext } from "../page-context.ts";
import { ClientPart } from "./client-part.tsx";
import { Layout } from "./layout.tsx";

/** Every table and column of every served version. What it shows, the visitor's browser asks the API for. */
export function ReferencePage(context: PageContext): VNode {
  return (
    <Layout
      context={context}
      path="/reference"
      title="Reference – Single Audit API"
      description="Every table and column of every served version of the Single Audit API, with requests to copy."
      scripts={["reference.js"]}
    >
      <div class="wrap page">
        <h1>Reference</h1>
        <p class="lead">
          Every table and column, as the API describes itself at this moment, with requests that work as they
          are.
        </p>
        <ClientPart context={context} name="reference" />
      </div>
    </Layout>
  );
}
