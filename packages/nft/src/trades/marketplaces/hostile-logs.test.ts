/** Whatever stands in a log of a marketplace, decoding gives trades or none; it never fails. */
import type { Hash, Hex, Log } from '@chainstead/core';
import { exampleChain } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { marketplaces } from '../marketplaces.ts';
import { punkBids } from '../punk-bids.ts';
import { amountsOf, decodeLogs, idsOf } from '../testing/example-trades.ts';
import { type ExampleLog, exampleTransaction } from '../testing/example-transaction.ts';
import { tradeRows } from '../trade-rows.ts';
import { chainOf, EXAMPLE_SALES } from './testing/example-sales.ts';

/** Bytes that are changed, by place and new value, and how much is cut off or put on at the end. */
const mutation = fc.record({
  bytes: fc.array(fc.tuple(fc.nat(), fc.constantFrom(0x00, 0x01, 0x20, 0x7f, 0xff)), { maxLength: 6 }),
  words: fc.array(fc.tuple(fc.nat(), fc.bigInt(0n, 2n ** 256n - 1n)), { maxLength: 3 }),
  length: fc.integer({ min: -70, max: 70 }),
});

function mutate(data: Hex, { bytes, words, length }: typeof mutation extends fc.Arbitrary<infer T> ? T : never): Hex {
  const buffer = Buffer.from(data.slice(2), 'hex');
  const resized =
    length < 0
      ? buffer.subarray(0, Math.max(0, buffer.length + length))
      : Buffer.concat([buffer, Buffer.alloc(length, 1)]);
  for (const [place, value] of words) {
    const count = Math.floor(resized.length / 32);
    if (count > 0) Buffer.from(value.toString(16).padStart(64, '0'), 'hex').copy(resized, (place % count) * 32);
  }
  for (const [place, value] of bytes) if (resized.length > 0) resized[place % resized.length] = value;
  return `0x${resized.toString('hex')}`;
}

const sale = fc.constantFrom(...EXAMPLE_SALES);

describe('hostile logs', () => {
  test('changed data of real events', () => {
    fc.assert(
      fc.property(sale, fc.array(mutation, { minLength: 1, maxLength: 8 }), (one, mutations) => {
        const logs = one.logs.map((log, place): ExampleLog => {
          const change = mutations[place % mutations.length];
          return change === undefined ? log : { ...log, data: mutate(log.data, change) };
        });
        for (const row of decodeLogs(exampleTransaction(logs), chainOf(one))) {
          expect(idsOf(row).length).toBe(amountsOf(row).length);
          expect(row.price ?? '0').toMatch(/^[0-9]+$/);
          for (const amount of amountsOf(row)) expect(BigInt(amount)).toBeLessThan(2n ** 256n);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  test('anything under the topics of real events', () => {
    const addresses = new Map(marketplaces.map((one) => [one, one.addresses(chainWithAll(one.protocol))]));
    const words = fc.array(fc.oneof(fc.bigInt(0n, 512n), fc.bigInt(0n, 2n ** 256n - 1n)), { maxLength: 24 });
    const log = fc.record({
      topic: fc.nat(),
      indexed: fc.array(fc.bigInt(0n, 2n ** 256n - 1n), { maxLength: 3 }),
      words,
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...marketplaces),
        fc.array(log, { minLength: 1, maxLength: 5 }),
        (marketplace, raw) => {
          const chain = chainWithAll(marketplace.protocol);
          const own = raw.map(
            ({ topic, indexed, words: data }, logIndex): Log => ({
              ...place(logIndex),
              address: addresses.get(marketplace)?.[0] ?? OTHER,
              topics: [
                ...marketplace.topics.slice(topic % marketplace.topics.length).slice(0, 1),
                ...indexed.map(word),
              ],
              data: `0x${data.map((value) => word(value).slice(2)).join('')}`,
            }),
          );
          const fills = marketplace.fills(own, { chain, logs: own, transfers: [], payments: [] });
          for (const fill of fills)
            for (const row of tradeRows(fill, { marketplace, chainId: 1, blockTimestamp: '', counts: new Map() }))
              for (const amount of amountsOf(row)) expect(BigInt(amount)).toBeLessThan(2n ** 256n);
          punkBids.decode(own, { chain, timestampOf: () => 0 });
        },
      ),
      { numRuns: 3_000 },
    );
  });
});

const OTHER = `0x${'c'.repeat(40)}` as Log['address'];

function chainWithAll(protocol: string) {
  return exampleChain({ marketplaces: [{ protocol, address: OTHER }], cryptoPunks: OTHER });
}

function word(value: bigint): Hash {
  return `0x${value.toString(16).padStart(64, '0')}` as Hash;
}

function place(logIndex: number): Log {
  const [log] = exampleTransaction([{ address: OTHER, topics: [], data: '0x' }], { logIndex });
  if (log === undefined) throw new RangeError('no log');
  return log;
}
