import { describe, expect, test } from 'vitest';
import { addressGroupOf, clientAddressOf } from './client-address.ts';

describe('the address of a client', () => {
  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:10.0.0.7', '10.0.0.7'],
    ['2001:db8::1', '2001:db8::1'],
  ])('of a connection from %s is %s', (remoteAddress, address) => {
    expect(clientAddressOf({ incoming: { socket: { remoteAddress } } })).toBe(address);
  });

  test.each([[undefined], [{}], [{ incoming: null }], [{ incoming: { socket: {} } }]])(
    'is unknown without a connection',
    (env) => {
      expect(clientAddressOf(env)).toBe('unknown');
    },
  );

  test('of IPv6 counts by its network, since one machine has all of that', () => {
    expect(addressGroupOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64');
    expect(addressGroupOf('2001:db8::6')).toBe('2001:db8:0:0::/64');
    expect(addressGroupOf('::1')).toBe('0:0:0:0::/64');
    expect(addressGroupOf('fe80::1%eth0')).toBe('fe80:0:0:0::/64');
    expect(addressGroupOf('10.0.0.7')).toBe('10.0.0.7');
    expect(addressGroupOf('unknown')).toBe('unknown');
  });
});
