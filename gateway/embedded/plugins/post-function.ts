import { z } from "zod";
import { answerError } from "../error-answers.ts";
import { setHeader } from "../headers.ts";
import { isLua } from "./lua.ts";
import { NOT_IMPLEMENTED, type Plugin } from "./plugin.ts";

const AUTHORIZE = `
kong.service.request.set_header("Authorization", "Bearer " .. kong.vault.get("{vault://env/gateway-token}"))`;

const config = z.strictObject({
  access: z.tuple([z.string().refine((text) => isLua(text, AUTHORIZE), NOT_IMPLEMENTED)]),
});

/** Sends the gateway's own token to the upstream, in place of whatever the client sent. */
export const postFunction: Plugin<z.output<typeof config>> = {
  name: "post-function",
  priority: -1_000,
  onConsumers: false,
  instanceName: "authorize-gateway",
  config,
  create: () => ({
    access(exchange) {
      if (exchange.gatewayToken === undefined) {
        return answerError(exchange, 500, "An unexpected error occurred");
      }
      setHeader(exchange.request, "Authorization", `Bearer ${exchange.gatewayToken}`);
      return undefined;
    },
  }),
};
