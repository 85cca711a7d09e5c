import type { Chain } from '@chainstead/chains';
import { type Hash, type Hex, type Log, parseAddress } from '@chainstead/core';
import { exampleChain, fieldsOfRow } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nftTrades, WHOLE_BUNDLE_MAX } from './dataset.ts';
import { chainOf, EXAMPLE_SALES } from './marketplaces/testing/example-sales.ts';
import {
  erc20,
  erc721,
  erc1155,
  native,
  orderFulfilled,
  orderHash,
  ordersMatched,
} from './marketplaces/testing/example-seaport.ts';
import { marketplaces } from './marketplaces.ts';
import { punkBids } from './punk-bids.ts';
import { amountsOf, decodeLogs, idsOf } from './testing/example-trades.ts';
import {
  erc721Transfer,
  erc1155Transfer,
  exampleAddress,
  exampleTransaction,
} from './testing/example-transaction.ts';

const CHAINS = [1, 10, 56, 137, 8453, 42_161, 43_114].map((id) =>
  exampleChain({ id, cryptoPunks: id === 1 ? parseAddress('0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb') : null }),
);
const HOSTILE_CASES = 500;

/** Few addresses, tokens and ids, so that logs relate to each other. */
const addresses = fc.integer({ min: 1, max: 4 }).map(exampleAddress);
const SAME_KEY = parseAddress(
  `${exampleAddress(11).slice(0, 10)}${'ab'.repeat(12)}${exampleAddress(11).slice(34)}`,
);
const tokens = fc.oneof(fc.integer({ min: 11, max: 12 }).map(exampleAddress), fc.constant(SAME_KEY));
const ids = fc.bigInt({ min: 0n, max: 2n });
const amounts = fc.oneof(fc.bigInt({ min: 0n, max: 3n }), fc.constant(2n ** 256n - 1n));

const items = fc.oneof(
  fc.tuple(amounts, addresses).map(([amount, to]) => native(amount, to)),
  fc.tuple(tokens, amounts, addresses).map(([token, amount, to]) => erc20(token, amount, to)),
  fc.tuple(tokens, ids, addresses).map(([token, id, to]) => erc721(token, id, to)),
  fc.tuple(tokens, ids, amounts, addresses).map(([token, id, amount, to]) => erc1155(token, id, amount, to)),
);
const hashes = fc.integer({ min: 1, max: 3 }).map(orderHash);
const orders = fc.record({
  hash: hashes,
  offerer: addresses,
  recipient: addresses,
  offer: fc.array(items, { maxLength: 4 }),
  consideration: fc.array(items, { maxLength: 4 }),
});

const word = fc
  .oneof(
    fc.bigInt({ min: 0n, max: 3n }),
    fc.bigInt({ min: 0n, max: 40n }).map((index) => index * 32n),
    fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    addresses.map(BigInt),
  )
  .map((value) => value.toString(16).padStart(64, '0'));
const wildData = fc
  .tuple(fc.array(word, { maxLength: 40 }), fc.constantFrom('', 'ff'))
  .map(([words, rest]): Hex => `0x${words.join('')}${rest}`);

/** Any topics and data from a marketplace of this chain. */
const wildLogs = (chain: Chain) => {
  const deployed = marketplaces.flatMap(({ topics, addresses: of }) =>
    of(chain).flatMap((address) => topics.map((topic) => ({ address, topic }))),
  );
  return fc
    .record({ own: fc.constantFrom(...deployed), indexed: fc.array(word, { maxLength: 3 }), data: wildData })
    .map(({ own, indexed, data }) => ({
      address: own.address,
      topics: [own.topic, ...indexed.map((text): Hash => `0x${text}` as Hash)],
      data,
    }));
};

const moves = fc.oneof(
  fc.tuple(tokens, addresses, addresses, ids).map(([token, from, to, id]) => erc721Transfer(token, from, to, id)),
  fc
    .tuple(tokens, addresses, addresses, ids, amounts)
    .map(([token, from, to, id, amount]) => erc1155Transfer(token, from, to, id, amount)),
);

const transactions = fc.constantFrom(...CHAINS).chain((chain) =>
  fc
    .array(
      fc.oneof(
        wildLogs(chain),
        moves,
        orders.map((order) => orderFulfilled(order)),
        fc.array(hashes, { maxLength: 4 }).map((matched) => ordersMatched(matched)),
      ),
      { maxLength: 12 },
    )
    .map((logs) => ({ chain, logs: exampleTransaction(logs) })),
);

/** Changed bytes, by position and new value, and how many bytes are cut off or added at the end. */
const mutation = fc.record({
  bytes: fc.array(fc.tuple(fc.nat(), fc.constantFrom(0x00, 0x01, 0x20, 0x7f, 0xff)), { maxLength: 6 }),
  words: fc.array(fc.tuple(fc.nat(), fc.bigInt(0n, 2n ** 256n - 1n)), { maxLength: 3 }),
  length: fc.integer({ min: -70, max: 70 }),
});

function mutate(
  data: Hex,
  { bytes, words, length }: typeof mutation extends fc.Arbitrary<infer T> ? T : never,
): Hex {
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

/** Sales as marketplaces emit them, with changed data. */
const changedSales = fc
  .tuple(fc.constantFrom(...EXAMPLE_SALES), fc.array(mutation, { minLength: 1, maxLength: 8 }))
  .map(([sale, mutations]) => ({
    chain: chainOf(sale),
    logs: exampleTransaction(
      sale.logs.map((log, place) => {
        const change = mutations[place % mutations.length];
        return change === undefined ? log : { ...log, data: mutate(log.data, change) };
      }),
    ),
  }));
const hostile = fc.oneof(transactions, changedSales);

function keysOf(logs: readonly Log[], chain: Chain): string[] {
  return decodeLogs(logs, chain).map((row) =>
    [row.collectionKey, row.chainId, row.blockNumber, row.transactionIndex, row.logIndex, row.item].join(),
  );
}

describe('whatever is emitted under a marketplace’s address', () => {
  test('decode never throws, and no two rows have the same key', () => {
    fc.assert(
      fc.property(hostile, ({ chain, logs }) => {
        const keys = keysOf(logs, chain);
        expect(new Set(keys).size).toBe(keys.length);
        punkBids.decode(logs, { chain, timestampOf: () => 0 });
      }),
      { numRuns: HOSTILE_CASES },
    );
  });

  test('rows can be written: digits, and arrays of one length that hold the row’s own id', () => {
    fc.assert(
      fc.property(hostile, ({ chain, logs }) => {
        for (const row of decodeLogs(logs, chain)) {
          expect(idsOf(row)).toHaveLength(amountsOf(row).length);
          expect(idsOf(row)).toContain(row.tokenId);
          for (const digits of [...idsOf(row), ...amountsOf(row)]) expect(digits).toMatch(/^\d{1,78}$/);
          for (const amount of amountsOf(row)) expect(BigInt(amount)).toBeLessThan(2n ** 256n);
          expect(row.price ?? '0').toMatch(/^\d+$/);
          for (const address of [row.tokenAddress, row.seller, row.buyer, row.paymentToken ?? row.seller])
            expect(address).toMatch(/^0x[0-9a-f]{40}$/);
          expect(fieldsOfRow(nftTrades.table.copyLine(row))).toHaveLength(nftTrades.table.columns.length);
        }
      }),
      { numRuns: HOSTILE_CASES },
    );
  });
});

test('what a bundle costs grows with its size, not with the square of it', () => {
  const bundle = (size: number) => {
    const offer = Array.from({ length: size }, (_, id) => erc721(exampleAddress(11), 2n ** 255n + BigInt(id)));
    const order = {
      offerer: exampleAddress(1),
      recipient: exampleAddress(2),
      offer,
      consideration: [native(1n)],
    };
    const rows = decodeLogs(exampleTransaction([orderFulfilled(order)]));
    return rows.reduce((sum, row) => sum + nftTrades.table.copyLine(row).length, 0) / size;
  };
  expect(bundle(WHOLE_BUNDLE_MAX * 16)).toBeLessThan(bundle(WHOLE_BUNDLE_MAX) * 2);
});
