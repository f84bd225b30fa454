const keyHash = /\b[0-9a-f]{64}\b/gi;
const token = /\beyJ[\w-]*(\.[\w-]+){1,2}/g;

/** Takes key hashes, tokens and the given secrets out of a text, such as an error that is to be logged. */
export function maskText(text: string, secrets: readonly string[] = []): string {
  const masked = text.replaceAll(keyHash, "<key hash>").replaceAll(token, "<token>");
  return secrets.reduce(
    (rest, secret) => (secret === "" ? rest : rest.replaceAll(secret, "<secret>")),
    masked,
  );
}
