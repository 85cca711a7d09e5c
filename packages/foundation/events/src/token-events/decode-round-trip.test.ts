import type { Hash, Hex, Log } from '@chainstead/core';
import { exampleChain } from '@chainstead/testkit';
import fc from 'fast-check';
import { decodeEventLog, parseAbi } from 'viem';
import { expect, test } from 'vitest';
import { decodeNftTransfers } from './decode-nft-transfers.ts';
import type { NftTransfer } from './nft-transfer.ts';
import {
  ALICE,
  accounts,
  BOB,
  batchLog,
  COLLECTION,
  consecutiveLog,
  erc721Log,
  numbers,
  punkAssignLog,
  punkBoughtLog,
  punkTransferLog,
  singleLog,
  UINT256_MAX,
  unindexedLog,
} from './testing/example-logs.ts';

const OLD_NFT = ALICE;
const PUNKS = BOB;
const CHAIN = exampleChain({ unindexedNfts: [OLD_NFT], cryptoPunks: PUNKS });

interface Moved {
  readonly from: string;
  readonly to: string;
  readonly tokenId: string;
  readonly amount: string;
}

/** A log, and the meaning that its author intended. */
interface Meant {
  readonly log: Log;
  readonly moved: readonly Moved[];
}

const parties = fc.record({ from: accounts, to: accounts });
const items = (max: number) => fc.array(fc.record({ id: numbers, value: numbers }), { maxLength: max });

const single = (id: bigint, from: string, to: string, value = 1n): Moved => ({
  from,
  to,
  tokenId: id.toString(),
  amount: value.toString(),
});

const meant: fc.Arbitrary<Meant> = fc.oneof(
  fc.tuple(parties, numbers).map(([{ from, to }, id]) => ({
    log: erc721Log(from, to, id),
    moved: [single(id, from, to)],
  })),
  fc.tuple(parties, numbers, numbers).map(([{ from, to }, id, value]) => ({
    log: singleLog(from, to, id, value),
    moved: [single(id, from, to, value)],
  })),
  fc.tuple(parties, items(30)).map(([{ from, to }, batch]) => ({
    log: batchLog(
      from,
      to,
      batch.map(({ id }) => id),
      batch.map(({ value }) => value),
    ),
    moved: batch.map(({ id, value }) => single(id, from, to, value)),
  })),
  fc.tuple(parties, numbers, fc.integer({ min: 0, max: 40 })).map(([{ from, to }, id, more]) => {
    const last = id + BigInt(more) > UINT256_MAX ? UINT256_MAX : id + BigInt(more);
    const ids = Array.from({ length: Number(last - id) + 1 }, (_, index) => id + BigInt(index));
    return { log: consecutiveLog(id, last, to, from), moved: ids.map((one) => single(one, from, to)) };
  }),
  fc.tuple(parties, numbers).map(([{ from, to }, id]) => ({
    log: unindexedLog(from, to, id, OLD_NFT),
    moved: [single(id, from, to)],
  })),
  fc.tuple(parties, numbers).map(([{ from, to }, id]) => ({
    log: punkTransferLog(PUNKS, from, to, id),
    moved: [single(id, from, to)],
  })),
);

test('events of an independent encoder are decoded as they were encoded', () => {
  fc.assert(
    fc.property(fc.array(meant, { maxLength: 12 }), (written) => {
      const { transfers, malformed } = decodeNftTransfers(
        written.map(({ log }) => log),
        CHAIN,
      );
      expect(malformed).toEqual([]);
      const read = transfers.map(({ log, item, ...moved }) => ({ log, item, ...movedOf(moved) }));
      expect(read).toEqual(
        written.flatMap(({ log, moved }) => moved.map((one, item) => ({ log, item, ...one }))),
      );
    }),
    { numRuns: 300 },
  );
});

test('no log can make it throw, and what it reads of damaged ones is what viem reads', () => {
  const logs = fc.oneof(
    meant.map(({ log }) => log),
    fc.tuple(accounts, numbers).map(([to, id]) => punkAssignLog(PUNKS, to, id)),
    fc
      .tuple(parties, numbers, numbers)
      .map(([{ from, to }, id, value]) => punkBoughtLog(PUNKS, from, to, id, value)),
  );
  fc.assert(
    fc.property(logs, fc.array(damages, { minLength: 1, maxLength: 3 }), (log, wounds) => {
      const damaged = wounds.reduce((wounded, wound) => wound(wounded), log);
      const { transfers, malformed } = decodeNftTransfers([damaged], CHAIN);
      if (malformed.length > 0) expect(transfers).toEqual([]);
      if (transfers.length > 0 && damaged.address === COLLECTION)
        expect(transfers.map(movedOf)).toEqual(readByViem(damaged));
    }),
    { numRuns: 2_000 },
  );
});

const digits = fc.stringMatching(/^[0-9a-f]*$/);

/** Changes of one log, most of which leave no valid event. */
const damages: fc.Arbitrary<(log: Log) => Log> = fc.oneof(
  fc.nat().map((length) => (log: Log) => ({ ...log, data: cut(log.data, length) })),
  digits.map((more) => (log: Log) => ({ ...log, data: `${log.data}${more}` as Hex })),
  fc.tuple(fc.nat(), fc.constantFrom('0', '1', '2', '4', '6', '8', 'f')).map(([place, digit]) => (log: Log) => ({
    ...log,
    data: withDigit(log.data, place, digit),
  })),
  fc.tuple(fc.nat(), numbers).map(([place, word]) => (log: Log) => ({
    ...log,
    data: withWord(log.data, place, word),
  })),
  fc.nat(5).map((count) => (log: Log) => ({ ...log, topics: log.topics.slice(0, count) })),
  fc.tuple(fc.integer({ min: 1, max: 3 }), numbers).map(
    ([place, word]) =>
      (log: Log) =>
        place < log.topics.length
          ? { ...log, topics: log.topics.with(place, `0x${word.toString(16).padStart(64, '0')}` as Hash) }
          : log,
  ),
  fc.constant((log: Log) => ({ ...log, topics: [...log.topics, log.topics[0] as Hash].slice(0, 4) })),
);

function cut(data: Hex, length: number): Hex {
  return data.slice(0, 2 + (length % Math.max(1, data.length))) as Hex;
}

function withDigit(data: Hex, place: number, digit: string): Hex {
  if (data.length === 2) return data;
  const at = 2 + (place % (data.length - 2));
  return `${data.slice(0, at)}${digit}${data.slice(at + 1)}` as Hex;
}

/** Overwrites one of the first words with a small number as often as with a large one: offsets and lengths are small. */
function withWord(data: Hex, place: number, word: bigint): Hex {
  const at = 2 + (place % 8) * 64;
  const small = word % 2n === 0n ? word % 512n : word;
  return `${data.slice(0, at)}${small.toString(16).padStart(64, '0')}${data.slice(at + 64)}` as Hex;
}

const STANDARD = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 indexed id)',
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  'event ConsecutiveTransfer(uint256 indexed id, uint256 last, address indexed from, address indexed to)',
]);

function readByViem(log: Log): Moved[] {
  const [signature = '0x', ...indexed]: readonly Hex[] = log.topics;
  const event = decodeEventLog({ abi: STANDARD, topics: [signature, ...indexed], data: log.data });
  const from = event.args.from.toLowerCase();
  const to = event.args.to.toLowerCase();
  switch (event.eventName) {
    case 'Transfer':
      return [single(event.args.id, from, to)];
    case 'TransferSingle':
      return [single(event.args.id, from, to, event.args.value)];
    case 'TransferBatch':
      return event.args.ids.map((id, index) => single(id, from, to, event.args.values[index]));
    case 'ConsecutiveTransfer': {
      const { id, last } = event.args;
      if (last - id >= 50_000n) return [single(id, from, to)];
      return Array.from({ length: Number(last - id) + 1 }, (_, index) => single(id + BigInt(index), from, to));
    }
  }
}

function movedOf({ from, to, tokenId, amount }: Pick<NftTransfer, 'from' | 'to' | 'tokenId' | 'amount'>): Moved {
  return { from, to, tokenId, amount };
}
