import { useEffect, useState } from "preact/hooks";
import type { ServedVersion } from "../client-settings.ts";
import { askDescription } from "./ask-description.ts";
import type { Description } from "./read-description.ts";
import type { Answer } from "./send-request.ts";

export type DescriptionState =
  | { state: "asking" }
  | { state: "there"; description: Description }
  | { state: "refused"; answer: Answer }
  | { state: "unreachable"; message: string };

/** The description of a version, and a function that asks for it again, with the key as it is then. */
export function useDescription(
  apiUrl: string,
  version: ServedVersion | undefined,
  key: string,
): [DescriptionState, () => void] {
  const [state, setState] = useState<DescriptionState>({ state: "asking" });
  const [turn, setTurn] = useState(0);
  // Not at each keystroke in the key, but when told to.
  useEffect(() => {
    if (version === undefined) return;
    let isCurrent = true;
    setState({ state: "asking" });
    askDescription(apiUrl, version, key).then(
      (outcome) => {
        if (!isCurrent) return;
        setState(
          "description" in outcome
            ? { state: "there", description: outcome.description }
            : { state: "refused", answer: outcome.answer },
        );
      },
      (error: Error) => {
        if (isCurrent) setState({ state: "unreachable", message: error.message });
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [apiUrl, version, turn]);
  return [state, () => setTurn(turn + 1)];
}
