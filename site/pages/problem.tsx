/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { VNode } from "preact";
import type { PageContext } from "../page-context.ts";
import type { Problem } from "../send-problem-pages.ts";
import { Layout } from "./layout.tsx";

/** An error for whoever came here with a browser: what happened, what to do, where to go. */
export function ProblemPage(context: PageContext, { status, body }: Problem): VNode {
  return (
    <Layout
      context={context}
      path=""
      title={`${body.message.replace(/\.$/, "")} – Single Audit API`}
      description={body.message}
    >
      <div class="wrap page">
        <p class="hint">Status {status}</p>
        <h1>{body.message}</h1>
        {body.details && <p>{body.details}</p>}
        {body.hint && <p>{body.hint}</p>}
        <ul>
          <li>
            <a href="/">Overview</a>: what is here, how to ask, and <a href="/#errors">what errors mean</a>
          </li>
          <li>
            <a href="/reference">Reference</a>: every table and column
          </li>
          <li>
            <a href="/explorer">Explorer</a>: find reports, see them, download them
          </li>
          <li>
            <a href="/files">Files</a>: whole tables, without a key
          </li>
        </ul>
      </div>
    </Layout>
  );
}
