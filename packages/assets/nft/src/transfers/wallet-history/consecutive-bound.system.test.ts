import { createChainRegistry } from '@chainstead/chains';
import { type Address, createMetricsRegistry, silentLogger, systemClock, ZERO_ADDRESS } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { CONSECUTIVE_TRANSFER_TOPIC, TRANSFER_TOPIC } from '@chainstead/events/token-events';
import { createKnownContracts, enqueueHistory } from '@chainstead/sync';
import type { Dataset, SubjectKind } from '@chainstead/sync/datasets';
import { backfillRanges, createChainSync, createSyncMetrics, readHistory } from '@chainstead/sync/ingest';
import { serveChain } from '@chainstead/testkit';
import { scratchOfFile, stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, expect, test } from 'vitest';
import { contractOf } from '../../wallet-collections/testing/seeded-holdings.ts';
import { nftTransfers } from '../dataset.ts';
import { createEventSource, type PlacedEvent, topicOf, word } from './testing/event-source.ts';
import { stagePool } from './testing/history-stage.ts';

// More ids in one block than the limit for expansion: which ranges are expanded depends on all of them, whichever
// contract emits them.
const eth = createChainRegistry().get('eth');
const [WALLET, OTHER, MINE, THEIRS] = [contractOf(0x51), contractOf(0x07), contractOf(0xc1), contractOf(0xc2)];
const HEAD = 30;
const BLOCK = 8;

const mint = (address: Address, to: Address, ids: number): PlacedEvent => ({
  address,
  topics: [CONSECUTIVE_TRANSFER_TOPIC, topicOf(1), topicOf(ZERO_ADDRESS), topicOf(to)],
  data: `0x${word(ids)}`,
});
const events = [
  mint(MINE, WALLET, 50_000),
  mint(THEIRS, OTHER, 49_990),
  mint(MINE, WALLET, 20),
  { address: THEIRS, topics: [TRANSFER_TOPIC, topicOf(OTHER), topicOf(ZERO_ADDRESS), topicOf(1)], data: '0x' },
  mint(THEIRS, OTHER, 9),
  mint(MINE, WALLET, 2),
  mint(MINE, WALLET, 1),
];
const RANGES = [
  '0 50000 1 50000 - 0',
  '1 49990 1 49990 - 0',
  '2 1 1 1 20 0',
  '4 9 1 9 - 0',
  '5 1 1 1 2 0',
  '6 1 1 1 - 0',
];
/** Derived rows don't matter here, and are slow with so many rows. */
const { projections: _, ...plain } = nftTransfers;
const dataset = plain as Dataset;

const scratch = scratchOfFile();
const node = stageOfFile(() =>
  serveChain(createEventSource({ chainId: eth.id, head: HEAD, events: { [BLOCK]: events } })),
);
beforeEach(async () => {
  await scratch.database.query(
    sql`TRUNCATE nft_transfers, blocks, sync_ranges, sync_chains, backfill_requests, subject_ranges`,
  );
});

/** The stored range of ids of each event, with its last id if it stayed one row. */
async function storedRanges(): Promise<string[]> {
  const rows = await scratch.database.query<{ text: string }>(
    sql`SELECT concat_ws(' ', log_index, count(*), min(token_id), max(token_id), coalesce(max(last_token_id)::text, '-'), min(item)) AS text
       FROM nft_transfers WHERE block_number = ${BLOCK} AND kind = 3 GROUP BY log_index ORDER BY log_index`,
  );
  return rows.map(({ text }) => text);
}

async function withPool<T>(work: (shared: ReturnType<typeof sharedBy>) => Promise<T>): Promise<T> {
  const pool = stagePool(eth, node.url, 100);
  await pool.start();
  try {
    return await work(sharedBy(pool));
  } finally {
    await pool.close();
  }
}

function sharedBy(pool: ReturnType<typeof stagePool>) {
  const metrics = createSyncMetrics(createMetricsRegistry());
  const { database } = scratch;
  return { chain: eth, pool, database, datasets: [dataset], logger: silentLogger(), clock: systemClock, metrics };
}

const signal = new AbortController().signal;

async function readSubject(kind: SubjectKind, address: Address): Promise<void> {
  const { database } = scratch;
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed) VALUES (${eth.id}, 20, 20)`,
  );
  const subject = { chainId: eth.id, kind, address };
  await enqueueHistory(database, { subject, requestedBy: null, perKey: 10, maxCalls: 1_000 });
  const limits = { maxCalls: 1_000, sliceMs: 60_000 };
  const outcome = await withPool((shared) =>
    readHistory({ ...shared, ...limits, knownContracts: createKnownContracts() }, subject, signal),
  );
  expect(outcome).toBe('done');
}

async function followBlock(): Promise<void> {
  const settings = {
    startBlock: BLOCK,
    endBlock: BLOCK,
    proof: 'record',
    backfillProof: 'none',
    backfillOrder: 'newest-first',
    verifyBlocksPerSecond: 0,
  } as const;
  await withPool((shared) => createChainSync({ ...shared, settings }).run(signal));
}

test.each([
  [
    'a backfill',
    () =>
      withPool((shared) =>
        backfillRanges({ ...shared, proof: 'record', backfillProof: 'none' }, [{ from: 0, to: 19 }], signal),
      ),
  ],
  ['the follower', followBlock],
  ['the history of a wallet', () => readSubject('wallet', WALLET)],
  ['the history of a contract', () => readSubject('contract', MINE)],
])(
  '%s expands the same ranges of a block that has too many ids',
  async (_way, read) => {
    await read();
    expect(await storedRanges()).toEqual(RANGES);
  },
  60_000,
);
