import { SignJWT } from "jose";

/**
 * The token that PostgREST knows the gateway by. It names a role that may do nothing but ask for authorization. The
 * gateway reads it from its environment as GATEWAY_TOKEN; it stands in no database.
 */
export async function signGatewayToken(jwtSecret: string): Promise<string> {
  return await new SignJWT({ role: "gateway" })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(new TextEncoder().encode(jwtSecret));
}
