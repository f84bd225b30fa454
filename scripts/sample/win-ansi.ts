// What Windows-1252, the encoding of PDF's standard fonts, has beyond Latin-1.
const EXTRAS = "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ";

/** The text in characters that PDF's standard fonts have: other letters lose their accents, the rest become "?". */
export function toWinAnsi(text: string): string {
  if (/^[\u0020-\u007e\u00a0-\u00ff]*$/.test(text)) return text;
  return Array.from(text.replaceAll("ʻ", "‘").replace(/\s/g, " "), (character) => {
    if (isEncodable(character)) return character;
    const bare = character.normalize("NFKD").replace(/\p{Mark}/gu, "");
    return Array.from(bare).every(isEncodable) ? bare : "?";
  }).join("");
}

function isEncodable(character: string): boolean {
  return /^[\u0020-\u007e\u00a0-\u00ff]$/.test(character) || EXTRAS.includes(character);
}
