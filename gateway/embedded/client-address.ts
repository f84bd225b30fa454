import { BlockList, isIP } from "node:net";

/** Says of an address whether it is a trusted hop. */
export type TrustCheck = (address: string) => boolean;

const familyOf = (address: string) => (isIP(address) === 6 ? "ipv6" : "ipv4");

/**
 * Reads CIDRs or single addresses, like Kong's `trusted_ips`.
 * @throws Error naming the entry that is neither.
 */
export function readTrustedIps(entries: readonly string[]): TrustCheck {
  const trusted = new BlockList();
  for (const entry of entries) {
    const [address = "", size] = entry.split("/");
    const bits = isIP(address) === 6 ? 128 : 32;
    if (isIP(address) === 0 || !(Number(size ?? bits) <= bits)) {
      throw new Error(`"${entry}" is not an IP address or CIDR (example: 10.0.0.0/8). Correct TRUSTED_IPS.`);
    }
    trusted.addSubnet(address, Number(size ?? bits), familyOf(address));
  }
  return (address) => trusted.check(address, familyOf(address));
}

/** An IPv4 peer of a socket that listens on IPv6 comes as `::ffff:a.b.c.d`. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

/**
 * nginx's `real_ip_recursive on`: from the right, the first address that is not a trusted hop. A peer that
 * is not trusted is the client, whatever it says; an entry that is no address ends the search.
 */
export function findClientAddress(
  peer: string,
  forwardedFor: readonly string[],
  isTrusted: TrustCheck,
): string {
  let client = peer;
  for (const entry of forwardedFor.join(",").split(",").reverse()) {
    const address = plainAddress(
      entry.trim().replace(/^(?:\[(.*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/, "$1$2"),
    );
    if (!isTrusted(client) || isIP(address) === 0) break;
    client = address;
  }
  return client;
}
