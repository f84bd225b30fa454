/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { ComponentChildren, VNode } from "preact";

const errors: { status: number; when: ComponentChildren; what: ComponentChildren }[] = [
  {
    status: 400,
    when: "The query is not one that the API understands, or asks for more than one answer may hold.",
    what: (
      <>
        Read <code>message</code> and <code>hint</code> in the answer; compare names with the reference.
      </>
    ),
  },
  {
    status: 401,
    when: "No key, or one that is unknown, revoked or expired; or a Tribal key is needed.",
    what: (
      <>
        Send a key in <code>x-api-key</code>. Ask for a new one if yours has ended.
      </>
    ),
  },
  {
    status: 404,
    when: (
      <>
        No such table; no report with the <code>report_id</code> that was asked for; a download link that was
        used or is too old.
      </>
    ),
    what: "Check the name. For a download, ask for access again.",
  },
  { status: 405, when: "Something else than reading.", what: "Use GET: the data cannot be changed here." },
  {
    status: 406,
    when: (
      <>
        No such version in <code>accept-profile</code>.
      </>
    ),
    what: "The message lists those that are served.",
  },
  {
    status: 412,
    when: (
      <>
        A new data set came while you were paging with <code>If-Match</code>.
      </>
    ),
    what: "Start again from the first page.",
  },
  { status: 416, when: "An offset past the last row, with a count asked for.", what: "You have all rows." },
  {
    status: 429,
    when: "Your key or address is over its limit.",
    what: (
      <>
        Come back after as many seconds as <code>Retry-After</code> says, or get a key of your own.
      </>
    ),
  },
  {
    status: 503,
    when: "A part of the service is away, or switched off.",
    what: "Try again in a few seconds. No download link is used up by it.",
  },
];

/** What went wrong, and what to do about it. */
export function ErrorsSection(): VNode {
  return (
    <section aria-labelledby="errors">
      <h2 id="errors">When an answer is an error</h2>
      <p>
        Every error is an HTTP status with a JSON body: <code>message</code> says what is wrong, and{" "}
        <code>code</code>, <code>details</code> and <code>hint</code> say more where there is more to say.
      </p>
      <table class="stacked">
        <caption class="visually-hidden">Errors, and what to do about each</caption>
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">When</th>
            <th scope="col">What to do</th>
          </tr>
        </thead>
        <tbody>
          {errors.map(({ status, when, what }) => (
            <tr key={status}>
              <th scope="row">{status}</th>
              <td>{when}</td>
              <td data-label="What to do">{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
