import type { Address } from '@chainstead/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Stream } from '../stream.ts';
import { collectAddresses, sightAddresses } from './block-sightings.ts';
import { compileStream } from './compile-stream.ts';
import { indexStreams } from './stream-index.ts';
import { exampleBlock, exampleLog } from './testing/example-block.ts';
import {
  ERC20_TRANSFER,
  ERC721_TRANSFER,
  EXAMPLE_CHAIN_ID,
  eventItem,
  exampleAddress,
  exampleStream,
  TRANSFER_SIGNATURE,
} from './testing/example-stream.ts';
import { matchWhole } from './testing/match-whole.ts';
import { scanBlock } from './testing/naive-scan.ts';
import { storedAndRestored } from './testing/stored-and-restored.ts';

const NOTED = eventItem('event Noted(uint256 amount, address who, bytes note)');
const NOTED_SIGNATURE = 'Noted(uint256,address,bytes)';
const ADDRESSES = Array.from({ length: 24 }, (_, index) => exampleAddress(index));

const address = fc.constantFrom(...ADDRESSES);
const amount = fc.constantFrom(0n, 1n, 5n, 2n ** 160n, 2n ** 256n - 1n);
const log = fc.oneof(
  fc
    .record({ from: address, to: address, value: amount })
    .chain((args) => fc.record({ emitter: address, item: fc.constant(ERC20_TRANSFER), args: fc.constant(args) })),
  fc
    .record({ from: address, to: address, tokenId: amount })
    .chain((args) =>
      fc.record({ emitter: address, item: fc.constant(ERC721_TRANSFER), args: fc.constant(args) }),
    ),
  fc
    .record({
      amount,
      who: address,
      note: fc.constantFrom('0x', '0xab', `0x${'00'.repeat(12)}${'03'.repeat(20)}`),
    })
    .chain((args) => fc.record({ emitter: address, item: fc.constant(NOTED), args: fc.constant(args) })),
);
const transaction = fc.record({
  from: address,
  to: fc.option(address),
  logs: fc.array(
    log.map(({ emitter, item, args }) => exampleLog(emitter, item, args)),
    { maxLength: 4 },
  ),
  transfers: fc.array(fc.record({ from: address, to: address, value: amount }), { maxLength: 2 }),
});
const block = fc.array(transaction, { maxLength: 5 }).map(exampleBlock);

const filter = fc.oneof(
  fc.constant(undefined),
  fc.constant({}),
  fc
    .tuple(fc.constantFrom('eq', 'gt', 'lte', 'ne'), fc.constantFrom('value', 'tokenId', 'amount'), amount)
    .map(([op, name, value]) => ({ [op]: [name, value.toString()] })),
  fc
    .tuple(
      fc.constantFrom('in', 'nin'),
      fc.constantFrom('to', 'who', 'moralis_streams_contract_address'),
      fc.array(address, { maxLength: 8 }),
    )
    .map(([op, name, list]) => ({ [op]: [name, list] })),
  fc
    .boolean()
    .map((spam) => ({ or: [{ eq: ['moralis_streams_possibleSpam', spam] }, { eq: ['note', '0xAB'] }] })),
);
const signature = fc.constantFrom(TRANSFER_SIGNATURE, NOTED_SIGNATURE, 'Other(uint256)');
const stream = fc.record({
  topic0: fc.option(fc.uniqueArray(signature, { maxLength: 2 })),
  abi: fc.option(fc.subarray([ERC20_TRANSFER, ERC721_TRANSFER, NOTED])),
  advancedOptions: fc.option(
    fc.array(fc.record({ topic0: signature, filter, includeNativeTxs: fc.boolean() }), { maxLength: 2 }),
  ),
  allAddresses: fc.boolean(),
  includeNativeTxs: fc.boolean(),
  includeContractLogs: fc.boolean(),
  includeInternalTxs: fc.boolean(),
  includeAllTxLogs: fc.boolean(),
  filterPossibleSpamAddresses: fc.boolean(),
  addresses: fc.subarray(ADDRESSES, { maxLength: 4 }),
});
type StreamParts = typeof stream extends fc.Arbitrary<infer Parts> ? Parts : never;

function expectSameMatches(
  given: ReturnType<typeof exampleBlock>,
  parts: readonly StreamParts[],
  spam: ReadonlySet<Address>,
) {
  const streams = parts.map(({ addresses, advancedOptions, ...config }, index) => {
    const options = advancedOptions as Stream['advancedOptions'];
    return {
      addresses,
      stream: exampleStream({ ...config, advancedOptions: options, id: String(index).padStart(4, '0') }),
    };
  });
  const watched = new Map<Address, string[]>();
  const sightings = sightAddresses(given);
  const candidates = collectAddresses(sightings);
  for (const {
    addresses,
    stream: { id },
  } of streams)
    for (const one of addresses) if (candidates.has(one)) watched.set(one, [...(watched.get(one) ?? []), id]);
  const index = indexStreams(
    streams.map((one) => compileStream(one.stream)),
    EXAMPLE_CHAIN_ID,
  );
  const facts = { isSpam: (one: Address) => spam.has(one) };
  const matches = matchWhole(sightings, watched, index, facts);
  const isWatched = (text: string, at: number): boolean => watched.has(`0x${text.slice(at, at + 40)}` as Address);
  expect(matchWhole(sightAddresses(given, isWatched), watched, index, facts)).toEqual(matches);

  const actual = matches.map((match) => ({
    streamId: match.streamId,
    logs: match.logs.map(({ logIndex, triggeredBy }) => [logIndex, triggeredBy.toSorted()]),
    transactions: match.transactions.map(({ index: at, triggeredBy }) => [at, triggeredBy.toSorted()]),
    internalTransactions: match.internalTransactions.map(({ transactionHash, from, to, value, triggeredBy }) => {
      return [transactionHash, from, to, value, triggeredBy.toSorted()];
    }),
  }));
  const transfers = given.internalTransfers ?? [];
  const expected = streams.flatMap(({ stream: one, addresses }) => {
    const found = scanBlock(given, one, new Set(addresses), spam);
    const internalTransactions = found?.internalTransactions.map(([place, causes]) => {
      const transfer = transfers[place];
      return [transfer?.transactionHash, transfer?.from, transfer?.to, transfer?.value.toString(), causes];
    });
    return found === null ? [] : { streamId: one.id, ...found, internalTransactions };
  });
  expect(actual).toEqual(expected);
  for (const match of matches) {
    const items = [...match.logs, ...match.transactions, ...match.internalTransactions];
    expect(new Set(match.triggeredBy)).toEqual(new Set(items.flatMap(({ triggeredBy }) => triggeredBy)));
    expect(JSON.stringify(storedAndRestored(match))).toBe(JSON.stringify(match));
  }
}

/** A thousand streams are too long for a message: the seed is enough to reproduce them. */
function brief<Values>({ failed, seed, counterexamplePath, errorInstance }: fc.RunDetails<Values>): void {
  if (failed) throw new Error(`Failed with seed ${seed}, path ${counterexamplePath}`, { cause: errorInstance });
}

const spamSet = fc.subarray(ADDRESSES, { maxLength: 6 }).map((list) => new Set(list));

describe('matching random blocks', () => {
  test('finds what a scan over the streams finds', () => {
    fc.assert(fc.property(block, fc.array(stream, { maxLength: 6 }), spamSet, expectSameMatches), {
      numRuns: 1_000,
    });
  });

  test('finds it with 1,000 random streams', () => {
    const thousand = fc.array(stream, { minLength: 1_000, maxLength: 1_000, size: 'max' });
    fc.assert(fc.property(block, thousand, spamSet, expectSameMatches), {
      numRuns: 10,
      endOnFailure: true,
      reporter: brief,
    });
  });
});
