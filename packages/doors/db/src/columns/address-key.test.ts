import { type Address, parseAddress } from '@chainstead/core';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressBytes, sql } from '../sql.ts';
import { addressKey } from './column-types.ts';

const anAddress: fc.Arbitrary<Address> = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => parseAddress(`0x${Buffer.from(bytes).toString('hex')}`));

describe('the key of an address', () => {
  const scratch = scratchOfFile();

  async function inSql(addresses: readonly Address[]): Promise<string[]> {
    const rows = await scratch.database.query<{ key: string; shown: string }>(
      sql`SELECT address_key(address)::text AS key, analytics.wallet_key('0x' || encode(address, 'hex'))::text AS shown
       FROM unnest(${addresses.map(addressBytes)}::bytea[]) WITH ORDINALITY AS given(address, position) ORDER BY position`,
    );
    expect(rows.map(({ shown }) => shown)).toEqual(rows.map(({ key }) => key));
    return rows.map(({ key }) => key);
  }

  test('is the same in SQL', async () => {
    const edges = ['00', '01', '7f', '80', 'ff'].map((byte) => parseAddress(`0x${byte.repeat(20)}`));
    expect(await inSql(edges)).toEqual(edges.map(addressKey));
    await fc.assert(
      fc.asyncProperty(fc.array(anAddress, { minLength: 50, maxLength: 200 }), async (addresses) => {
        expect(await inSql(addresses)).toEqual(addresses.map(addressKey));
      }),
      { numRuns: 20 },
    );
  });

  test('is the signed integer of the first four bytes and the last four', () => {
    expect(addressKey(parseAddress('0x000000ffabababababababababababab00000001'))).toBe(
      String(0xffn * 2n ** 32n + 1n),
    );
    expect(addressKey(parseAddress(`0x${'ff'.repeat(20)}`))).toBe('-1');
    expect(addressKey(parseAddress('0x80000000abababababababababababab00000000'))).toBe(String(-(2n ** 63n)));
  });

  test('of a token is the signed integer of its last four bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anAddress, { minLength: 50, maxLength: 200 }), async (addresses) => {
        const rows = await scratch.database.query<{ key: number }>(
          sql`SELECT token_key(address) AS key FROM unnest(${addresses.map(addressBytes)}::bytea[]) WITH ORDINALITY AS given(address, position) ORDER BY position`,
        );
        expect(rows.map(({ key }) => key)).toEqual(
          addresses.map((address) => addressBytes(address).readInt32BE(16)),
        );
      }),
      { numRuns: 20 },
    );
  });

  test('tells addresses apart that nobody has a key of', () => {
    const known = [
      '0x0000000000000000000000000000000000000000',
      '0x000000000000000000000000000000000000dead',
      '0x0000000000000000000000000000000000000001',
      '0x0000000000000000000000000000000000001010',
      '0x4200000000000000000000000000000000000000',
      '0x4200000000000000000000000000000000000001',
      '0x1111111111111111111111111111111111111111',
      '0xdead000000000000000000000000000000000000',
      '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee',
    ].map(parseAddress);
    expect(new Set(known.map(addressKey)).size).toBe(known.length);
  });
});
