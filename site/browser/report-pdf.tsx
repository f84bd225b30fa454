import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Answer } from "./ask.ts";
import { Refusal } from "./refusal.tsx";
import type { Row } from "./row-parts.ts";
import type { Shown } from "./use-explorer.ts";

/** A link to a public report's PDF, or a button that gets a suppressed one. */
export function ReportPdf({ explorer, outcome, report }: Shown & { report: Row | undefined }): VNode | null {
  if (report?.is_public === false)
    return <PrivatePdf explorer={explorer} outcome={outcome} reportId={String(report.report_id)} />;
  return report?.is_public === true ? (
    <p>
      <a class="button" href={`/dissemination/report/pdf/${report.report_id}`}>
        PDF of the report
      </a>
    </p>
  ) : null;
}

/** A button that gets a suppressed report's PDF with a one-time token. Shown only if the key can see the report. */
function PrivatePdf({ explorer, outcome: { asked, key }, reportId }: Shown & { reportId: string }): VNode {
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
