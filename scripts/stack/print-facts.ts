import { describeRateLimit, type RateLimits } from "../../shared/read-rate-limits.ts";
import type { StackFacts } from "./start-stack.ts";

/** Lists what people need to try the service: URLs, keys, and commands that work as printed. */
export function describeFacts({ base_url, app_url, keys, sample }: StackFacts, limits: RateLimits): string {
  const { public_report_id, suppressed_report_id } = sample;
  const addresses = `The service is ready.

  API             ${base_url}
  app             ${app_url}   (open it in a browser: overview, reference, explorer, files)
  demo key        ${keys.demo}   (${describeRateLimit(limits, "demo")})
  individual key  ${keys.individual}
  Tribal key      ${keys.tribal}`;
  const read = `

A public submission:

  curl -sS '${base_url}/general?report_id=eq.${public_report_id}' -H 'x-api-key: ${keys.demo}'`;
  const download = `

The PDF of a suppressed report, in three steps:

  curl -sS '${base_url}/general?report_id=eq.${suppressed_report_id}' -H 'x-api-key: ${keys.tribal}'

  ACCESS_UUID=$(curl -sS '${base_url}/rpc/request_file_access' -H 'x-api-key: ${keys.tribal}' \\
    -H 'content-type: application/json' \\
    -d '{"report_id": "${suppressed_report_id}"}' | grep -oE '[0-9a-f]{8}(-[0-9a-f]{4,12}){4}')

  curl -fsS -L -o report.pdf "${app_url}/dissemination/report/pdf/ota/$ACCESS_UUID"`;
  return addresses + (public_report_id ? read : "") + (suppressed_report_id ? download : "");
}
