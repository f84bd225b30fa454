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

interface Claims {
  accessKeyId: string;
  scope: string[];
  signedHeaders: string[];
  signature: string;
  time: string;
  payloadHash: string;
  /** Milliseconds for which the signature is valid. */
  life: number;
}

/**
 * Verifies a Signature Version 4, in the query or in the header, as AWS describes it for S3:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html and sig-v4-header-based-auth.html
 *
 * @returns the error code with which S3 answers 403, or null if the signature is valid
 */
export function verifySigV4(
  request: SignedRequest,
  { accessKeyId, secretAccessKey, now }: Verifier,
): string | null {
  const [path = "", query = ""] = request.target.split("?");
  const parameters = query.split("&").filter(Boolean).map(readParameter);
  const claims = readQuery(parameters) ?? readHeader(request.headers);
  if (claims === null) return "AccessDenied";
  if (claims.accessKeyId !== accessKeyId) return "InvalidAccessKeyId";

  const canonicalQuery = parameters
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join("&");
  const canonicalRequest = [
    request.method,
    path,
    canonicalQuery,
    ...claims.signedHeaders.map((name) => `${name}:${String(request.headers[name] ?? "").trim()}`),
    "",
    claims.signedHeaders.join(";"),
    claims.payloadHash,
  ].join("\n");
  const stringToSign = [
    "AWS4-HMAC-SHA256",
    claims.time,
    claims.scope.join("/"),
    sha256(canonicalRequest),
  ].join("\n");
  const key = claims.scope.reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${secretAccessKey}`,
  );
  const expected = hmac(key, stringToSign);
  const given = Buffer.from(claims.signature, "hex");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return "SignatureDoesNotMatch";
  if (!claims.signedHeaders.includes("host")) return "AccessDenied";

  const signedAt = Date.parse(
    claims.time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"),
  );
  // AWS takes a clock that is 15 minutes off.
  return now >= signedAt - 900_000 && now < signedAt + claims.life ? null : "AccessDenied";
}

function readQuery(parameters: [string, string][]): Claims | null {
  const { get, size } = {
    get: (name: string) => parameters.find(([key]) => key === name)?.[1] ?? "",
    size: parameters.filter(([name]) => name === "X-Amz-Signature").length,
  };
  if (size !== 1 || get("X-Amz-Algorithm") !== "AWS4-HMAC-SHA256") return null;
  const [accessKeyId = "", ...scope] = get("X-Amz-Credential").split("/");
  return {
    accessKeyId,
    scope,
    signedHeaders: get("X-Amz-SignedHeaders").split(";"),
    signature: get("X-Amz-Signature"),
    time: get("X-Amz-Date"),
    payloadHash: "UNSIGNED-PAYLOAD",
    life: Number(get("X-Amz-Expires")) * 1000,
  };
}

function readHeader(headers: IncomingHttpHeaders): Claims | null {
  const [, accessKeyId, scope, signedHeaders, signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? "",
    ) ?? [];
  if (!accessKeyId || !scope || !signedHeaders || !signature) return null;
  return {
    accessKeyId,
    scope: scope.split("/"),
    signedHeaders: signedHeaders.split(";"),
    signature,
    time: String(headers["x-amz-date"]),
    payloadHash: String(headers["x-amz-content-sha256"]),
    life: 900_000,
  };
}

function readParameter(text: string): [string, string] {
  const [name = "", value = ""] = text.split(/=(.*)/s);
  return [decodeURIComponent(name), decodeURIComponent(value)];
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
