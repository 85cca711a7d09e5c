import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createChainRegistry } from '@chainstead/chains';
import { type Hex, type Log, parseAddress, parseHash } from '@chainstead/core';
import { recordedEvmFolder } from '@chainstead/testkit';
import { type DecodeEventLogReturnType, decodeEventLog, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import { decodeNftMovements } from './decode-nft-movements.ts';

const folder = recordedEvmFolder();
if (folder === null)
  process.stderr.write('nft-events/recorded-blocks.test.ts: NOT RUN, ../shared/data/evm is not here\n');

const CRYPTO_KITTIES = '0x06012c8cf97bead5deae237070f9587f8e7a266d';
const ABI = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 indexed id)',
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  'event PunkBought(uint256 indexed id, uint256 value, address indexed from, address indexed to)',
]);
const UNINDEXED = parseAbi(['event Transfer(address from, address to, uint256 id)']);

interface RawLog {
  readonly address: string;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly transactionHash: string;
  readonly transactionIndex: string;
  readonly logIndex: string;
}

interface Move {
  readonly place: string;
  readonly item: number;
  readonly token: string;
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly amount: string;
}

/** Every recorded block, those recorded in part too: what is there of them must be read as well. */
function recordedBlocks(): string[] {
  if (folder === null) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('receipts.json'))
    .map((path) => path.slice(0, -'/receipts.json'.length))
    .toSorted();
}

function readLogs(block: string): RawLog[] {
  const receipts: { logs?: RawLog[] }[] = JSON.parse(readFileSync(join(folder ?? '', block, 'receipts.json'), 'utf8'));
  return receipts.flatMap(({ logs }) => logs ?? []);
}

/** Some recordings in part have decimal numbers. */
function parseLog(raw: RawLog): Log {
  return {
    address: parseAddress(raw.address),
    topics: raw.topics.map(parseHash),
    data: raw.data.toLowerCase() as Hex,
    blockNumber: Number(raw.blockNumber),
    blockHash: parseHash(raw.blockHash),
    transactionHash: parseHash(raw.transactionHash),
    transactionIndex: Number(raw.transactionIndex),
    logIndex: Number(raw.logIndex),
    blockTimestamp: null,
  };
}

/** Ethereum's facts for all: only there are CryptoPunks and CryptoKitties at these addresses. */
const chain = createChainRegistry().get(1);

function movesOf(block: string): Move[] {
  const { movements, malformed } = decodeNftMovements(readLogs(block).map(parseLog), chain);
  expect(malformed).toEqual([]);
  return movements.map(({ log, item, token, tokenId, from, to, amount }) => ({
    place: `${log.transactionIndex}.${log.logIndex}`,
    item,
    token,
    id: tokenId,
    from,
    to,
    amount,
  }));
}

/** The same by viem, which refuses what does not fit an event. */
function movesByViem(block: string): Move[] {
  return readLogs(block).flatMap((log) => {
    const event = decodeByViem(log);
    if (event === null) return [];
    const common = {
      place: `${Number(log.transactionIndex)}.${Number(log.logIndex)}`,
      token: log.address.toLowerCase(),
      from: event.args.from.toLowerCase(),
      to: event.args.to.toLowerCase(),
    };
    if (event.eventName === 'TransferBatch')
      return event.args.ids.map((id, item) => ({
        ...common,
        item,
        id: id.toString(),
        amount: String(event.args.values[item]),
      }));
    const amount = event.eventName === 'TransferSingle' ? event.args.value : 1n;
    return [{ ...common, item: 0, id: event.args.id.toString(), amount: amount.toString() }];
  });
}

function decodeByViem(log: RawLog): DecodeEventLogReturnType<typeof ABI> | null {
  const abi = log.address.toLowerCase() === CRYPTO_KITTIES ? UNINDEXED : ABI;
  if (log.topics.length === 0) return null;
  try {
    return decodeEventLog({
      abi,
      topics: [...log.topics] as [Hex, ...Hex[]],
      data: log.data,
    }) as DecodeEventLogReturnType<typeof ABI>;
  } catch {
    return null;
  }
}

/** Who has how much of what, for every account but zero that the moves leave with more or less than before. */
function ownership(moves: readonly Move[]): Record<string, string> {
  const balances = new Map<string, bigint>();
  for (const { token, id, from, to, amount } of moves)
    for (const [account, change] of [
      [from, -BigInt(amount)],
      [to, BigInt(amount)],
    ] as const) {
      if (BigInt(account) === 0n) continue;
      const key = `${account} ${token} ${id}`;
      balances.set(key, (balances.get(key) ?? 0n) + change);
    }
  return Object.fromEntries(
    [...balances].filter(([, amount]) => amount !== 0n).map(([key, amount]) => [key, amount.toString()]),
  );
}

describe.skipIf(folder === null)('recorded blocks', () => {
  const blocks = recordedBlocks();

  test.each(blocks)('of %s every NFT log is read once, as viem reads it', (block) => {
    const moves = movesOf(block);
    const expected = movesByViem(block);
    expect(moves).toEqual(expected);
    expect(new Set(moves.map(({ place, item }) => `${place} ${item}`)).size).toBe(moves.length);
    expect(ownership(moves)).toEqual(ownership(expected));
  });

  test('together hold the logs that were counted when they were recorded', () => {
    const moves = blocks.flatMap((block) => movesOf(block).map((move) => ({ ...move, block })));
    const logs = new Set(moves.map(({ block, place }) => `${block} ${place}`));
    // 1,016 of ERC-721, 300 TransferSingle, 36 TransferBatch, 2 of CryptoKitties, 1 CryptoPunk.
    expect(logs.size).toBe(1_016 + 300 + 36 + 2 + 1);
    expect(moves.filter(({ token }) => token === CRYPTO_KITTIES)).toHaveLength(2);
    expect(moves.filter(({ token }) => token === chain.cryptoPunks)).toMatchObject([
      {
        id: '3740',
        from: '0x6639c089adfba8bb9968da643c6be208a70d6daa',
        to: '0x6d6a443ed637a23b0fc3a0e55a07e785a6b0caa8',
      },
    ]);
  });
});
