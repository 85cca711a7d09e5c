import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { createAddressCheck } from './address-policy.ts';
import { InvalidAllowListError } from './egress-error.ts';

const check = createAddressCheck([]);

/** Any address inside of a range. */
function within(cidr: string): fc.Arbitrary<string> {
  const [network, prefixLength] = ipaddr.parseCIDR(cidr);
  const bytes = network.toByteArray();
  return fc.uint8Array({ minLength: bytes.length, maxLength: bytes.length }).map((random) => {
    const mixed = bytes.map((byte, index) => {
      const fixedBits = Math.min(8, Math.max(0, prefixLength - index * 8));
      const mask = (0xff << (8 - fixedBits)) & 0xff;
      return (byte & mask) | ((random[index] ?? 0) & ~mask & 0xff);
    });
    return ipaddr.fromByteArray(mixed).toString();
  });
}

function bytesOf(ipv4: string): readonly number[] {
  return ipaddr.IPv4.parse(ipv4).toByteArray();
}

function embed(ipv4: string, prefix: readonly number[], offset: number): string {
  const bytes = [...prefix, ...Array<number>(16 - prefix.length).fill(0)];
  bytes.splice(offset, 4, ...bytesOf(ipv4));
  return ipaddr.fromByteArray(bytes).toString();
}

const FORBIDDEN_V4 = [
  ['this network', '0.0.0.0/8'],
  ['private', '10.0.0.0/8'],
  ['carrier-grade NAT', '100.64.0.0/10'],
  ['loopback', '127.0.0.0/8'],
  ['link-local with cloud metadata', '169.254.0.0/16'],
  ['private', '172.16.0.0/12'],
  ['IETF assignments', '192.0.0.0/24'],
  ['documentation', '192.0.2.0/24'],
  ['6to4 relays', '192.88.99.0/24'],
  ['private', '192.168.0.0/16'],
  ['benchmarking', '198.18.0.0/15'],
  ['documentation', '198.51.100.0/24'],
  ['documentation', '203.0.113.0/24'],
  ['multicast', '224.0.0.0/4'],
  ['reserved and broadcast', '240.0.0.0/4'],
  ['Azure metadata', '168.63.129.16/32'],
] as const;

const FORBIDDEN_V6 = [
  ['unspecified', '::/128'],
  ['loopback', '::1/128'],
  ['IPv4-compatible', '::/96'],
  ['local-use NAT64', '64:ff9b:1::/48'],
  ['discard', '100::/64'],
  ['Teredo', '2001::/32'],
  ['benchmarking', '2001:2::/48'],
  ['ORCHIDv2', '2001:20::/28'],
  ['documentation', '2001:db8::/32'],
  ['6to4', '2002::/16'],
  ['documentation', '3fff::/20'],
  ['segment routing', '5f00::/16'],
  ['unassigned', '4000::/3'],
  ['unique local with AWS metadata', 'fc00::/7'],
  ['link-local', 'fe80::/10'],
  ['site-local', 'fec0::/10'],
  ['multicast', 'ff00::/8'],
] as const;

const anyForbiddenV4 = fc.oneof(...FORBIDDEN_V4.map(([, cidr]) => within(cidr)));
const anyPublicV4 = fc.ipV4().filter((address) => check(address) === null);

describe('without an allow-list', () => {
  test.each(FORBIDDEN_V4)('refuses IPv4 %s %s', (_name, cidr) => {
    fc.assert(fc.property(within(cidr), (address) => check(address) !== null));
  });

  test.each(FORBIDDEN_V6)('refuses IPv6 %s %s', (_name, cidr) => {
    fc.assert(fc.property(within(cidr), (address) => check(address) !== null));
  });

  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
  ])('allows public IPv4 %s', (address) => {
    expect(check(address)).toBeNull();
  });

  test.each(['2606:4700:4700::1111', '2001:4860:4860::8888', '2a00:1450:4001:800::200e'])(
    'allows public IPv6 %s',
    (address) => {
      expect(check(address)).toBeNull();
    },
  );

  test('judges IPv4-mapped and NAT64 addresses by the IPv4 address in them', () => {
    const mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
    const nat64 = [0x00, 0x64, 0xff, 0x9b];
    fc.assert(
      fc.property(anyForbiddenV4, (inner) => {
        expect(check(embed(inner, mapped, 12))).not.toBeNull();
        expect(check(embed(inner, nat64, 12))).not.toBeNull();
      }),
    );
    fc.assert(
      fc.property(anyPublicV4, (inner) => {
        expect(check(embed(inner, mapped, 12))).toBeNull();
        expect(check(embed(inner, nat64, 12))).toBeNull();
      }),
    );
  });

  test('refuses 6to4, Teredo, IPv4-compatible, IPv4-translated and local-use NAT64 whatever IPv4 address they carry', () => {
    fc.assert(
      fc.property(fc.ipV4(), (inner) => {
        expect(check(embed(inner, [0x20, 0x02], 2))).not.toBeNull();
        expect(check(embed(inner, [0x20, 0x01, 0, 0], 12))).not.toBeNull();
        expect(check(embed(inner, [], 12))).not.toBeNull();
        expect(check(embed(inner, [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], 12))).not.toBeNull();
        expect(check(embed(inner, [0x00, 0x64, 0xff, 0x9b, 0x00, 0x01], 12))).not.toBeNull();
      }),
    );
  });

  test('refuses every IPv6 address outside of 2000::/3 that embeds no public IPv4 address', () => {
    const outside = fc
      .uint8Array({ minLength: 16, maxLength: 16 })
      .filter((bytes) => ((bytes[0] ?? 0) & 0xe0) !== 0x20)
      .map((bytes) => ipaddr.fromByteArray([...bytes]).toString());
    fc.assert(fc.property(outside, (address) => check(address) !== null));
  });

  test.each([
    '',
    'localhost',
    '127.1',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '2130706433',
    '1.2.3',
    '8.8.8.8%eth0',
    'fe80::1%eth0',
  ])('refuses %j, which is not one address in its plain form', (text) => {
    expect(check(text)).toBe('not an IP address');
  });
});

describe('with an allow-list', () => {
  test('allows what is listed and nothing else', () => {
    const some = createAddressCheck(['127.0.0.0/8', '::1', 'fd00::/8']);
    expect(some('127.0.0.1')).toBeNull();
    expect(some('::1')).toBeNull();
    expect(some('fd12:3456::1')).toBeNull();
    expect(some('10.0.0.1')).toBe('private');
    expect(some('fe80::1')).toBe('linkLocal');
    expect(some('169.254.169.254')).toBe('linkLocal');
  });

  test('applies to the IPv4 address in a mapped one', () => {
    const some = createAddressCheck(['127.0.0.0/8']);
    expect(some('::ffff:127.0.0.1')).toBeNull();
    expect(some('::ffff:10.0.0.1')).toBe('private');
  });

  test('of true allows every address', () => {
    const all = createAddressCheck(true);
    fc.assert(fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => all(address) === null));
  });

  test.each([
    '',
    'localhost',
    '10/8',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '010.0.0.0/8',
    '10.0.0.0/-1',
  ])('refuses the entry %j', (entry) => {
    expect(() => createAddressCheck([entry])).toThrow(InvalidAllowListError);
  });
});
