import { BlockList, isIP } from "node:net";

/** Says of an address whether it is a trusted hop. */
export type TrustCheck = (address: string) => boolean;

/**
 * Reads CIDRs or single addresses, like Kong's `trusted_ips`.
 * @throws Error naming the entry that is neither.
 */
export function readTrustedIps(entries: readonly string[]): TrustCheck {
  const trusted = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix, ...rest] = entry.split("/");
    const family = isIP(address);
    const bits = family === 6 ? 128 : 32;
    const size = prefix === undefined ? bits : /^\d+$/.test(prefix) ? Number(prefix) : Number.NaN;
    if (family === 0 || rest.length > 0 || !(size <= bits)) {
      throw new Error(`trusted address "${entry}": expected an IP address or a CIDR such as 10.0.0.0/8`);
    }
    trusted.addSubnet(address, size, family === 6 ? "ipv6" : "ipv4");
  }
  return (address) => trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** An IPv4 peer of a socket that listens on IPv6 comes as `::ffff:a.b.c.d`. */
export function plainAddress(address: string): string {
  return address.toLowerCase().startsWith("::ffff:") && isIP(address.slice(7)) === 4
    ? address.slice(7)
    : address;
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
    if (!isTrusted(client)) break;
    const address = plainAddress(withoutPort(entry.trim()));
    if (isIP(address) === 0) break;
    client = address;
  }
  return client;
}

function withoutPort(entry: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(entry)?.[1] ?? entry;
}
