import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** As much of the S3 API as a refresh needs, over objects in memory; one bucket, path style, signatures not looked at. */
export interface MemoryS3 {
  url: string;
  objects: Map<string, Buffer>;
  close: () => Promise<void>;
}

const etagOf = (body: Buffer) => `"${createHash("md5").update(body).digest("hex")}"`;

export async function startMemoryS3(bucket: string): Promise<MemoryS3> {
  const objects = new Map<string, Buffer>();
  const list = (prefix: string, delimiter: string | null) => {
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    const isDirect = (key: string) => delimiter === null || !key.slice(prefix.length).includes(delimiter);
    const folders = keys
      .filter((key) => !isDirect(key))
      .map((key) => key.slice(0, key.indexOf(delimiter ?? "", prefix.length) + 1));
    const contents = keys.filter(isDirect).map((key) => {
      const body = objects.get(key) ?? Buffer.alloc(0);
      const etag = etagOf(body).replaceAll('"', "&quot;");
      return `<Contents><Key>${key}</Key><Size>${body.length}</Size><ETag>${etag}</ETag></Contents>`;
    });
    const prefixes = [...new Set(folders)].map(
      (folder) => `<CommonPrefixes><Prefix>${folder}</Prefix></CommonPrefixes>`,
    );
    return `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>${contents.join("")}${prefixes.join("")}</ListBucketResult>`;
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const url = new URL(request.url ?? "", "http://s3");
    const key = decodeURIComponent(url.pathname.slice(bucket.length + 2));
    const object = objects.get(key);
    if (request.method === "PUT") {
      objects.set(key, body);
      response.setHeader("etag", etagOf(body)).end();
    } else if (request.method === "POST") {
      for (const [, removed = ""] of body.toString().matchAll(/<Key>([^<]+)<\/Key>/g))
        objects.delete(removed);
      response.end('<?xml version="1.0"?><DeleteResult></DeleteResult>');
    } else if (key === "") {
      response.end(list(url.searchParams.get("prefix") ?? "", url.searchParams.get("delimiter")));
    } else if (object === undefined) {
      response.writeHead(404).end("<Error><Code>NoSuchKey</Code></Error>");
    } else if (request.headers["if-match"] !== undefined && request.headers["if-match"] !== etagOf(object)) {
      response.writeHead(412).end("<Error><Code>PreconditionFailed</Code></Error>");
    } else {
      const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
      const part = start === undefined ? object : object.subarray(Number(start), Number(end) + 1);
      response
        .writeHead(start === undefined ? 200 : 206, { etag: etagOf(object), "content-length": part.length })
        .end(part);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
