import ipaddr from 'ipaddr.js';
import { InvalidAllowListError } from './egress-error.ts';

type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;
type IpRange = readonly [address: IpAddress, prefixLength: number];

/** Null: may be reached. Otherwise the name of the range that forbids it. */
export type AddressCheck = (address: string) => string | null;

/** Public by its number, but answers only inside Azure's networks: its metadata and configuration host. */
const AZURE_WIRE_SERVER = '168.63.129.16';
/** Everything that IANA has given out as global unicast. What lies outside is special or unassigned (RFC 4291, 2.4). */
const GLOBAL_UNICAST_V6: IpRange = ipaddr.parseCIDR('2000::/3');
/** Where translators of a local network put IPv4 (RFC 8215). */
const LOCAL_NAT64 = ipaddr.parseCIDR('64:ff9b:1::/48');

/**
 * Allows global unicast addresses, and what the allow-list adds. IPv4 inside IPv6 counts as the IPv4 address where a
 * connection really ends there (mapped, RFC 4291; NAT64, RFC 6052); the other embeddings (IPv4-compatible, local-use
 * NAT64, 6to4, Teredo) are refused. Text that is not one address in its plain form is refused.
 * @param allow CIDR ranges and addresses; `true` allows everything (development only).
 * @throws InvalidAllowListError
 */
export function createAddressCheck(allow: readonly string[] | boolean): AddressCheck {
  const allowed = typeof allow === 'boolean' ? [] : allow.map(parseRange);
  return (text) => {
    const address = parsePlain(text);
    if (address === null) return 'not an IP address';
    if (allow === true) return null;
    const forms = [address, ...embeddedIPv4(address)];
    if (forms.some((form) => allowed.some((range) => contains(range, form)))) return null;
    return rangeOf(address);
  };
}

function parseRange(entry: string): IpRange {
  const [text = '', prefix, ...rest] = entry.trim().split('/');
  const address = parsePlain(text);
  if (address === null || rest.length > 0) throw new InvalidAllowListError(entry);
  const bits = address.kind() === 'ipv4' ? 32 : 128;
  const prefixLength = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (!(prefixLength <= bits)) throw new InvalidAllowListError(entry);
  return [address, prefixLength];
}

/** Resolvers give plain dotted decimals and plain IPv6. Octal and short forms, which readers disagree about, are not addresses. */
function parsePlain(text: string): IpAddress | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  // A zone (%eth0) names an interface of this machine: only link-local addresses have one, and they are refused anyway.
  if (!text.includes('%') && ipaddr.IPv6.isValid(text)) return ipaddr.IPv6.parse(text);
  return null;
}

function contains([network, prefixLength]: IpRange, address: IpAddress): boolean {
  if (network instanceof ipaddr.IPv4) return address instanceof ipaddr.IPv4 && address.match(network, prefixLength);
  return address instanceof ipaddr.IPv6 && address.match(network, prefixLength);
}

/** The IPv4 address that a connection to this IPv6 address ends at, if any. */
function embeddedIPv4(address: IpAddress): readonly ipaddr.IPv4[] {
  if (address instanceof ipaddr.IPv4) return [];
  const range = address.range();
  const isNat64 = range === 'rfc6052' && !contains(LOCAL_NAT64, address);
  return range === 'ipv4Mapped' || isNat64 ? [new ipaddr.IPv4(address.toByteArray().slice(12))] : [];
}

function rangeOf(address: IpAddress): string | null {
  const range = address.range() === 'unicast' ? null : address.range();
  if (address instanceof ipaddr.IPv4) return address.toString() === AZURE_WIRE_SERVER ? 'cloud metadata' : range;
  const [inner] = embeddedIPv4(address);
  if (inner !== undefined) return rangeOf(inner);
  return range ?? (contains(GLOBAL_UNICAST_V6, address) ? null : 'outside of global unicast');
}
