/**
 * Splits s3://bucket/folder. The folder has no slash at its end, and may be empty.
 *
 * @throws Error if the URL does not name a bucket
 */
export function parseBucketUrl(url: string): { bucket: string; folder: string } {
  const [, bucket, folder = ""] = /^s3:\/\/([^/]+)\/?(.*?)\/?$/.exec(url) ?? [];
  if (bucket === undefined) throw new Error(`${url} does not name a bucket. Write s3://bucket/prefix.`);
  return { bucket, folder };
}
