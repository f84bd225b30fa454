import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { copyText } from "./copy-text.ts";

/** A button that copies a text and says that it did. */
export function CopyButton({
  text,
  name = "Copy",
  label,
}: {
  text: string;
  name?: string;
  label: string;
}): VNode {
  const [said, setSaid] = useState("");
  // Another text has not been copied yet.
  useEffect(() => setSaid(""), [text]);
  const copy = async () => {
    setSaid((await copyText(text)) ? "Copied." : "Select the text and copy it.");
  };
  return (
    <>
      <button type="button" class="small plain" aria-label={label} onClick={copy}>
        {name}
      </button>
      <span role="status" class="hint">
        {said}
      </span>
    </>
  );
}
