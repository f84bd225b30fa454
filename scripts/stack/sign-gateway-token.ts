import { SignJWT } from "jose";

/**
 * Signs the token that identifies the gateway to PostgREST. Its role can only call request.authorize(). The gateway
 * reads the token from its environment as GATEWAY_TOKEN; no database contains it.
 */
export async function signGatewayToken(jwtSecret: string): Promise<string> {
  return await new SignJWT({ role: "gateway" })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(new TextEncoder().encode(jwtSecret));
}
