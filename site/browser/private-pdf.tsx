import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Answer } from "./ask.ts";
import { Refusal } from "./refusal.tsx";
import type { Shown } from "./use-explorer.ts";

/** A button that gets a suppressed report's PDF with a one-time token. Shown only if the key can see the report. */
export function PrivatePdf({
  explorer,
  outcome: { asked, key },
  reportId,
}: Shown & { reportId: string }): VNode {
  const [answer, setAnswer] = useState<Answer>();
  const request = async () => {
    const headers = { "content-profile": asked.schema, "content-type": "application/json" };
    const body = JSON.stringify({ report_id: reportId });
    const found = await explorer.askApi("/rpc/request_file_access", { method: "POST", headers, key, body });
    setAnswer(found);
    if (found.status !== 200) return;
    const href = `/dissemination/report/pdf/ota/${JSON.parse(found.text).access_uuid}`;
    Object.assign(document.createElement("a"), { href, target: "_blank", rel: "noopener" }).click();
  };
  return (
    <div aria-live="polite">
      <p>
        <button type="button" onClick={request}>
          Get the PDF with your key
        </button>
      </p>
      {answer?.status === 200 && (
        <p>The PDF opens in a new tab or is downloaded. To get it again, press the button again.</p>
      )}
      {answer && answer.status !== 200 && <Refusal answer={answer} explorer={explorer} table="general" />}
    </div>
  );
}
