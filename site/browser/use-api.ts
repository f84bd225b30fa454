import { useState } from "preact/hooks";
import type { ClientSettings } from "../client-settings.ts";
import { demonstrationKey } from "../request-snippets.ts";
import { type Answer, ask } from "./ask.ts";
import { keepTabKey, readTabKey } from "./tab-key.ts";

/** The key, and a function that sends requests with it. */
export function useApi({ apiUrl }: ClientSettings) {
  const [ownKey, setOwnKey] = useState(readTabKey);
  const [lastAnswer, setLastAnswer] = useState<Answer>();
  const key = ownKey === "" ? demonstrationKey : ownKey;
  return {
    ownKey,
    /** The visitor's own key, or else the demonstration key. */
    key,
    setOwnKey: (key: string) => {
      keepTabKey(key);
      setOwnKey(key);
    },
    askApi: async (target: string, options: RequestInit & { key?: string }) => {
      const answer = await ask(apiUrl + target, { key, ...options });
      if (answer.status !== 0) setLastAnswer(answer);
      return answer;
    },
    /** The API's last response, whose headers say how many requests are left. */
    lastAnswer,
  };
}

export type Api = ReturnType<typeof useApi>;
