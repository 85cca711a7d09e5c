import { isIPv6 } from 'node:net';

const MAPPED = '::ffff:';
/** The holder of one IPv6 address controls all addresses with the same first half. */
const IPV6_GROUPS = 4;

/** Address of the connection; behind a proxy, the proxy's. `unknown` without a connection. */
export function clientAddressOf(env: unknown): string {
  const incoming = memberOf(env, 'incoming');
  const address = memberOf(memberOf(incoming, 'socket'), 'remoteAddress');
  if (typeof address !== 'string' || address === '') return 'unknown';
  return address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address;
}

export function addressGroupOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('%', 1).join('').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return `${[...left, ...zeros, ...right].slice(0, IPV6_GROUPS).join(':')}::/64`;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
