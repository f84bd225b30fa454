import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export interface SignedRequest {
  method: string;
  /** Path and query as they were sent. */
  target: string;
  headers: IncomingHttpHeaders;
}

export interface Verifier {
  accessKeyId: string;
  secretAccessKey: string;
  now: number;
}

/**
 * Verifies a Signature Version 4, in the query or in the header, as AWS describes it for S3:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html and sig-v4-header-based-auth.html
 *
 * @returns the error code with which S3 answers 403, or null if the signature is valid
 */
export function verifySigV4(
  { method, target, headers }: SignedRequest,
  { accessKeyId, secretAccessKey, now }: Verifier,
): string | null {
  const [path = "", query = ""] = target.split("?");
  const parameters = query.split("&").filter(Boolean).map(readParameter);
  const claims = readClaims(parameters, headers);
  if (claims === null) return "AccessDenied";
  const [claimedId, ...scope] = claims.credential.split("/");
  if (claimedId !== accessKeyId) return "InvalidAccessKeyId";

  const signedHeaders = claims.signedHeaders.split(";");
  const canonicalRequest = [
    method,
    path,
    parameters
      .filter(([name]) => name !== "X-Amz-Signature")
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join("&"),
    ...signedHeaders.map((name) => `${name}:${String(headers[name] ?? "").trim()}`),
    "",
    claims.signedHeaders,
    claims.payloadHash,
  ].join("\n");
  const hash = createHash("sha256").update(canonicalRequest).digest("hex");
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  const expected = hmac(key, ["AWS4-HMAC-SHA256", claims.time, scope.join("/"), hash].join("\n"));
  const given = Buffer.from(claims.signature, "hex");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return "SignatureDoesNotMatch";
  if (!signedHeaders.includes("host")) return "AccessDenied";

  const signedAt = Date.parse(claims.time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  // AWS takes a clock that is 15 minutes off.
  return now >= signedAt - 900_000 && now < signedAt + claims.seconds * 1000 ? null : "AccessDenied";
}

function readClaims(parameters: [string, string][], headers: IncomingHttpHeaders) {
  const signatures = parameters.filter(([name]) => name === "X-Amz-Signature");
  const get = (name: string) => parameters.find(([key]) => key === name)?.[1] ?? "";
  if (signatures.length === 1 && get("X-Amz-Algorithm") === "AWS4-HMAC-SHA256")
    return {
      credential: get("X-Amz-Credential"),
      signedHeaders: get("X-Amz-SignedHeaders"),
      signature: get("X-Amz-Signature"),
      time: get("X-Amz-Date"),
      payloadHash: "UNSIGNED-PAYLOAD",
      seconds: Number(get("X-Amz-Expires")),
    };
  const form = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
  const [, credential, signedHeaders, signature] = form.exec(headers.authorization ?? "") ?? [];
  if (!credential || !signedHeaders || !signature) return null;
  const [time, payloadHash] = [String(headers["x-amz-date"]), String(headers["x-amz-content-sha256"])];
  return { credential, signedHeaders, signature, time, payloadHash, seconds: 900 };
}

function readParameter(text: string): [string, string] {
  const [name = "", value = ""] = text.split(/=(.*)/s);
  return [decodeURIComponent(name), decodeURIComponent(value)];
}

const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
