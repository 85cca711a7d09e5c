import { type Address, type Hash, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { decodeNftTransfers, NFT_TRANSFER_KINDS, nftTransferTopics } from '@chainstead/events/token-events';
import {
  ALICE,
  BOB,
  batchLog,
  CAROL,
  COLLECTION,
  consecutiveLog,
  erc20Log,
  erc721Log,
  placed,
  punkAssignLog,
  punkBoughtLog,
  punkTransferLog,
  singleLog,
  unindexedLog,
} from '@chainstead/events/token-events/testing';
import type { HistoryFilter } from '@chainstead/sync/datasets';
import { exampleChain } from '@chainstead/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nftHistories } from './dataset.ts';

const PUNKS = `0x${'b4'.repeat(20)}` as Address;
const KITTIES = `0x${'06'.repeat(20)}` as Address;
const CHAIN = exampleChain({ cryptoPunks: PUNKS, unindexedNfts: [KITTIES] });

const accounts = fc.constantFrom(ALICE, BOB, CAROL, ZERO_ADDRESS);
const parties = fc.record({ from: accounts, to: accounts });
/** Logs of one event each, except an accepted bid with two. */
const events: fc.Arbitrary<readonly Log[]> = fc.oneof(
  parties.map(({ from, to }) => [erc721Log(from, to, 1n)]),
  parties.map(({ from, to }) => [singleLog(from, to, 1n, 2n)]),
  parties.map(({ from, to }) => [batchLog(from, to, [1n, 2n], [3n, 4n])]),
  parties.map(({ from, to }) => [consecutiveLog(1n, 3n, to, from)]),
  parties.map(({ from, to }) => [unindexedLog(from, to, 1n, KITTIES)]),
  parties.map(({ from, to }) => [erc20Log(from, to, 1n)]),
  parties.map(({ to }) => [punkAssignLog(PUNKS, to, 1n)]),
  parties.map(({ from, to }) => [erc20Log(from, to, 1n, PUNKS), punkTransferLog(PUNKS, from, to, 1n)]),
  parties.map(({ from, to }) => [erc20Log(from, to, 1n, PUNKS), punkBoughtLog(PUNKS, from, to, 1n, 9n)]),
  parties.map(({ from, to }) => [
    erc20Log(from, to, 1n, PUNKS),
    punkBoughtLog(PUNKS, from, ZERO_ADDRESS, 1n, 0n),
  ]),
);
const chains = fc.array(events, { maxLength: 30 }).map((all) =>
  all.flatMap((logs, number) =>
    logs.map((log, logIndex) =>
      placed(log, {
        blockNumber: number >> 2,
        transactionIndex: number & 3,
        logIndex: (number & 3) * 2 + logIndex,
      }),
    ),
  ),
);

/** As go-ethereum's eth_getLogs: a filter of four positions matches only logs of four topics. */
function matches(log: Log, { topics, indexed = [], addresses }: HistoryFilter): boolean {
  if (addresses !== undefined && !addresses.includes(log.address)) return false;
  if (log.topics.length < 1 + indexed.length || !topics.includes(log.topics[0] as Hash)) return false;
  return indexed.every(
    (wanted, position) => wanted === null || wanted.includes(log.topics[position + 1] as Hash),
  );
}

function readAlone(logs: readonly Log[], filters: readonly HistoryFilter[]): Log[] {
  const found = logs.filter((log) => filters.some((filter) => matches(log, filter)));
  const whole = nftHistories.wholeBlockContracts?.(CHAIN) ?? [];
  const completed = new Set(
    found.filter(({ address }) => whole.includes(address)).map(({ blockNumber }) => blockNumber),
  );
  return logs.filter(
    (log) => found.includes(log) || (whole.includes(log.address) && completed.has(log.blockNumber)),
  );
}

test('a wallet’s filters give all that moves something of it, and it reads as in whole blocks', () => {
  fc.assert(
    fc.property(chains, fc.constantFrom(ALICE, BOB), (logs, wallet) => {
      const isItsOwn = ({ from, to }: { from: Address; to: Address }) => from === wallet || to === wallet;
      const all = decodeNftTransfers(logs, CHAIN).transfers;
      const read = readAlone(logs, nftHistories.ofWallet(CHAIN, wallet));
      const { transfers, malformed } = decodeNftTransfers(read, CHAIN);
      expect(malformed).toEqual([]);
      expect(transfers.filter(isItsOwn)).toEqual(
        all.filter((move) => isItsOwn(move) && move.kind !== NFT_TRANSFER_KINDS.unindexed),
      );
      expect(all).toEqual(expect.arrayContaining([...transfers]));
    }),
    { numRuns: 300 },
  );
});

test('a wallet’s ERC-20 transfers are not among them', () => {
  const logs = [erc20Log(ALICE, BOB, 5n), erc20Log(BOB, ALICE, 5n)];
  expect(readAlone(logs, nftHistories.ofWallet(CHAIN, ALICE))).toEqual([]);
});

test('where there are no CryptoPunks, three filters do', () => {
  const chain = exampleChain();
  expect(nftHistories.ofWallet(chain, ALICE)).toHaveLength(3);
  expect(nftHistories.wholeBlockContracts?.(chain)).toEqual([]);
});

test.each([COLLECTION, PUNKS, KITTIES])('the filter of contract %s gives all that it emits', (contract) => {
  fc.assert(
    fc.property(chains, (logs) => {
      const read = readAlone(logs, nftHistories.ofContract(CHAIN, contract));
      expect(decodeNftTransfers(read, CHAIN).transfers).toEqual(
        decodeNftTransfers(logs, CHAIN).transfers.filter(({ token }) => token === contract),
      );
    }),
  );
  expect(nftHistories.ofContract(CHAIN, contract)).toEqual([
    { topics: nftTransferTopics(CHAIN), addresses: [contract] },
  ]);
});
