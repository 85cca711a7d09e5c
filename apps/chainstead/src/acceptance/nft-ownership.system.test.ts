/**
 * NFTs of every complete recorded block, through the recorded-chain node, the pool, the proof and the engine: each log of
 * ERC-721 and ERC-1155 is stored exactly once, and who owns what after each block is what an independent decoder adds up.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { datasets } from '@chainstead/datasets';
import { keepAllWallets, keptHoldings } from '@chainstead/nft/testing';
import { createUpstreamPool } from '@chainstead/rpc';
import { backfillRanges, createSyncMetrics } from '@chainstead/sync';
import { createScratchDatabase, recordedData, type ScratchDatabase, serveRecordedChain } from '@chainstead/testkit';
import { decodeEventLog, parseAbi } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordedRanges } from './recorded-blocks.ts';

const { folder, isMissing, title } = recordedData('data/evm');

const INDEXED = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 indexed id)',
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
]);
/** CryptoKitties. */
const UNINDEXED = parseAbi(['event Transfer(address from, address to, uint256 id)']);
const CRYPTO_KITTIES = '0x06012c8cf97bead5deae237070f9587f8e7a266d';

interface RawLog {
  readonly address: string;
  readonly topics: readonly `0x${string}`[];
  readonly data: `0x${string}`;
  readonly transactionIndex: string;
  readonly logIndex: string;
}

interface Move {
  /** Place of the log and of the item in it. */
  readonly place: string;
  readonly token: string;
  readonly from: string;
  readonly to: string;
  readonly id: bigint;
  readonly amount: bigint;
  /** By an event of ERC-721. */
  readonly isSingle: boolean;
}

const read = (...path: string[]): unknown => JSON.parse(readFileSync(join(folder, ...path), 'utf8'));

describe.skipIf(isMissing)(title('NFTs of recorded blocks'), () => {
  const chainIds = (isMissing ? {} : read('chain-ids.json')) as Record<string, number>;
  const chains = createChainRegistry({
    additional: Object.entries(chainIds)
      .filter(([, id]) => createChainRegistry().find(id) === null)
      .map(([key, id]) => ({ key, id })),
  });
  let scratch: ScratchDatabase;

  beforeAll(async () => {
    scratch = await createScratchDatabase();
  });
  afterAll(() => scratch.drop());

  it.each(Object.entries(chainIds))(
    'of %s are stored once each, and owned as an independent decoder adds up after each block',
    async (name, id) => {
      const seen: Move[] = [];
      for await (const block of indexedOneByOne(scratch, chains.get(id), name)) {
        const moves = movesByViem(name, block);
        seen.push(...moves);
        expect(await storedPlaces(scratch, id, block), `block ${block}`).toEqual(
          moves.map((move) => `${move.place} ${move.token} ${move.id} ${move.amount} ${move.from} ${move.to}`).sort(),
        );
        await keepAllWallets(scratch.database, chains.get(id));
        expect(await keptHoldings(scratch.database, id), `after block ${block}`).toEqual(ownershipOf(seen));
      }
      const malformed = await scratch.database.query('SELECT * FROM nft_malformed_logs WHERE chain_id = $1', [id]);
      expect(malformed).toEqual([]);
    },
    240_000,
  );

  it('are all that were counted in the recordings', async () => {
    const rows = await scratch.database.query<{ kind: number; logs: number }>(
      `SELECT kind, count(*)::int AS logs FROM nft_transfers WHERE item = 0 GROUP BY kind ORDER BY kind`,
    );
    const counted = Object.fromEntries(rows.map(({ kind, logs }) => [kind, logs]));
    expect(counted).toEqual(countedByShape(Object.keys(chainIds)));
  });
});

/** Indexes the blocks of a chain in ascending order, giving each number when it is done. */
async function* indexedOneByOne(scratch: ScratchDatabase, given: Chain, name: string): AsyncGenerator<number> {
  const chain = { ...given, finalizedTag: true };
  const node = await serveRecordedChain({ folder, chain: name });
  const registry = createMetricsRegistry();
  const logger = silentLogger();
  const pool = createUpstreamPool({ chain, upstreams: [{ url: node.url }], logger, metrics: registry });
  const metrics = createSyncMetrics(registry);
  try {
    await pool.start();
    for (const range of recordedRanges(folder, name))
      for (let block = range.from; block <= range.to; block++) {
        const { database } = scratch;
        await backfillRanges(
          {
            chain,
            pool,
            database,
            datasets,
            logger,
            clock: systemClock,
            metrics,
            proof: 'record',
            backfillProof: 'receipts',
          },
          [{ from: block, to: block }],
          AbortSignal.timeout(120_000),
        );
        yield block;
      }
  } finally {
    await pool.close();
    await node.close();
  }
}

function logsOf(name: string, block: number): RawLog[] {
  const receipts = read(name, String(block), 'receipts.json') as { logs: RawLog[] }[];
  return receipts.flatMap(({ logs }) => logs);
}

function movesByViem(name: string, block: number): Move[] {
  return logsOf(name, block).flatMap((log) => {
    const token = log.address.toLowerCase();
    const event = decoded(log, token === CRYPTO_KITTIES ? UNINDEXED : INDEXED);
    if (event === null) return [];
    const { ids, values, isSingle } = event;
    return ids.map((id, item) => ({
      place: `${Number(log.transactionIndex)}.${Number(log.logIndex)}.${item}`,
      token,
      from: event.from.toLowerCase(),
      to: event.to.toLowerCase(),
      id,
      amount: values[item] ?? 0n,
      isSingle,
    }));
  });
}

function decoded(log: RawLog, abi: typeof INDEXED | typeof UNINDEXED) {
  const [signature, ...indexed] = log.topics;
  if (signature === undefined) return null;
  try {
    const { eventName, args } = decodeEventLog({ abi, topics: [signature, ...indexed], data: log.data });
    const { from, to } = args;
    if (eventName === 'TransferBatch') return { from, to, ids: args.ids, values: args.values, isSingle: false };
    const values = [eventName === 'TransferSingle' ? args.value : 1n];
    return { from, to, ids: [args.id], values, isSingle: eventName === 'Transfer' };
  } catch {
    return null;
  }
}

async function storedPlaces(scratch: ScratchDatabase, chainId: number, block: number): Promise<string[]> {
  const rows = await scratch.database.query<{ line: string }>(
    `SELECT concat_ws(' ', concat_ws('.', transaction_index, log_index, item), '0x' || encode(token_address, 'hex'),
       token_id, amount, '0x' || encode(from_address, 'hex'), '0x' || encode(to_address, 'hex')) AS line
     FROM nft_transfers WHERE chain_id = $1 AND block_number = $2`,
    [chainId, block],
  );
  return rows.map(({ line }) => line).sort();
}

/** Amounts of ERC-1155 are sums; a single thing is where its newest event of the account went. */
function ownershipOf(moves: readonly Move[]): string[] {
  const balances = new Map<string, bigint>();
  for (const { token, from, to, id, amount, isSingle } of moves)
    for (const [account, change] of [
      [from, -amount],
      [to, amount],
    ] as const)
      if (BigInt(account) !== 0n) {
        const key = `${account} ${token} ${id}`;
        const held = isSingle ? BigInt(account === to) : (balances.get(key) ?? 0n) + change;
        balances.set(key, held);
      }
  const held = new Map<string, number>();
  for (const [key, amount] of balances) {
    const holder = key.slice(0, key.lastIndexOf(' '));
    if (amount > 0n) held.set(holder, (held.get(holder) ?? 0) + 1);
  }
  return [
    ...[...balances].filter(([, amount]) => amount !== 0n).map(([key, amount]) => `${key} ${amount}`),
    ...[...held].map(([holder, ids]) => `${holder} holds ${ids}`),
  ].sort();
}

/** Logs by the number that the table has for their event, told by their shape alone. */
function countedByShape(names: readonly string[]): Record<string, number> {
  const shapes: Readonly<Record<string, string>> = {
    '0xddf252ad 4 0': '0',
    '0xc3d58168 4 64': '1',
    '0xddf252ad 1 96': '5',
  };
  const counted: Record<string, number> = {};
  for (const name of names)
    for (const range of recordedRanges(folder, name))
      for (let block = range.from; block <= range.to; block++)
        for (const { topics, data } of logsOf(name, block)) {
          const event = topics[0]?.slice(0, 10) ?? '';
          const shape = `${event} ${topics.length} ${(data.length - 2) / 2}`;
          const kind = event === '0x4a39dc06' ? '2' : shapes[shape];
          if (kind !== undefined) counted[kind] = (counted[kind] ?? 0) + 1;
        }
  return counted;
}
