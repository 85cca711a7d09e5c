import { createChainRegistry } from '@chainstead/chains';
import { type Address, createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import {
  PUNK_ASSIGN_TOPIC,
  PUNK_BOUGHT_TOPIC,
  PUNK_TRANSFER_TOPIC,
  TRANSFER_TOPIC,
} from '@chainstead/events/token-events';
import { createKnownContracts, enqueueHistory } from '@chainstead/sync';
import { backfillRanges, createSyncMetrics, readHistory } from '@chainstead/sync/ingest';
import { serveChain } from '@chainstead/testkit';
import { scratchOfFile, stageOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { contractOf } from '../../wallet-collections/testing/seeded-holdings.ts';
import { nftTransfers } from '../dataset.ts';
import { createEventSource, type PlacedEvent, topicOf, word } from './testing/event-source.ts';
import { stagePool } from './testing/history-stage.ts';

// An accepted punk bid has no buyer: only the log before it does. Each block here is one transaction.
const eth = createChainRegistry().get('eth');
const [SELLER, BIDDER, OTHER] = [contractOf(0x51), contractOf(0xb1), contractOf(0x07)];
const PUNKS = eth.cryptoPunks ?? contractOf(0);
const NOBODY = contractOf(0);
const HEAD = 30;

const punkEvent = (topics: readonly string[], value: number): PlacedEvent => ({
  address: PUNKS,
  topics,
  data: `0x${word(value)}`,
});
const assign = (to: Address, punk: number) => punkEvent([PUNK_ASSIGN_TOPIC, topicOf(to)], punk);
const transfer = (from: Address, to: Address) => punkEvent([TRANSFER_TOPIC, topicOf(from), topicOf(to)], 1);
const bought = (punk: number, from: Address, to: Address) =>
  punkEvent([PUNK_BOUGHT_TOPIC, topicOf(punk), topicOf(from), topicOf(to)], 9);
const moved = (from: Address, to: Address, punk: number) =>
  punkEvent([PUNK_TRANSFER_TOPIC, topicOf(from), topicOf(to)], punk);

const EVENTS: Readonly<Record<number, readonly PlacedEvent[]>> = {
  2: [assign(SELLER, 1)],
  3: [assign(OTHER, 2)],
  // The seller accepts a bid; in the same block two others trade independently.
  8: [transfer(SELLER, BIDDER), bought(1, SELLER, NOBODY), transfer(OTHER, SELLER), bought(2, OTHER, NOBODY)],
  12: [transfer(BIDDER, OTHER), moved(BIDDER, OTHER, 1)],
  15: [transfer(OTHER, SELLER), bought(1, OTHER, SELLER)],
};

const scratch = scratchOfFile();
const node = stageOfFile(() => serveChain(createEventSource({ chainId: eth.id, head: HEAD, events: EVENTS })));

async function stored(): Promise<string[]> {
  const rows = await scratch.database.query<{ text: string }>(
    sql`SELECT concat_ws(' ', block_number, log_index, token_id, '0x' || encode(from_address, 'hex'), '0x' || encode(to_address, 'hex')) AS text
       FROM nft_transfers ORDER BY block_number, log_index`,
  );
  return rows.map(({ text }) => text);
}

test.each([
  ['the bidder', 'wallet', BIDDER, [8, 12]],
  ['the seller', 'wallet', SELLER, [2, 8, 15]],
  ['the contract', 'contract', PUNKS, [2, 3, 8, 12, 15]],
] as const)(
  'the history of %s has accepted bids as a backfill of the same blocks has them',
  async (_who, kind, address, blocks) => {
    const { database } = scratch;
    await database.query(
      sql`TRUNCATE nft_transfers, nft_wallet_tokens, nft_wallet_collections, subject_projections, sync_ranges, sync_chains, backfill_requests, subject_ranges`,
    );
    await database.query(
      sql`INSERT INTO sync_chains (chain_id, history_start, first_followed) VALUES (${eth.id}, 20, 20)`,
    );
    const pool = stagePool(eth, node.url, 100);
    await pool.start();
    const logger = silentLogger();
    const shared = { chain: eth, pool, database, datasets: [nftTransfers], logger, clock: systemClock };
    const signal = new AbortController().signal;
    const subject = { chainId: eth.id, kind, address };
    await enqueueHistory(database, { subject, requestedBy: null, perKey: 10, maxCalls: 1_000 });
    const reading = { ...shared, knownContracts: createKnownContracts(), maxCalls: 1_000, sliceMs: 10_000 };
    expect(await readHistory(reading, subject, signal)).toBe('done');
    const found = await stored();
    const metrics = createSyncMetrics(createMetricsRegistry());
    await backfillRanges(
      { ...shared, metrics, proof: 'record', backfillProof: 'none' },
      [{ from: 0, to: 19 }],
      signal,
    );
    const all = await stored();
    expect(all).toHaveLength(6);
    expect(all).toContain(`8 1 1 ${SELLER} ${BIDDER}`);
    expect(found).toEqual(all.filter((row) => blocks.some((block) => row.startsWith(`${block} `))));
    await pool.close();
  },
);
