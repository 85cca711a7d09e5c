/** Inserts streams, matches and outbox rows directly into a database, and starts workers that send them. For tests. */
import { randomUUID } from 'node:crypto';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import {
  type Clock,
  createMetricsRegistry,
  type Hash,
  type Hex,
  parseAddress,
  parseHash,
  type Registry,
  silentLogger,
  systemClock,
} from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { createEgress } from '@chainstead/egress';
import type { EnrichMatch } from '../../enrichment/enrich-match.ts';
import { createWebhookBodies } from '../../enrichment/webhook-bodies.ts';
import type { Match } from '../../matching/match.ts';
import { finishBody } from '../../payload/render-body.ts';
import { enrichedMatch } from '../../payload/testing/enriched-match.ts';
import { insertStatement } from '../../records/stream-row.ts';
import { DEFAULT_CONFIG } from '../../routes/stream-checks.ts';
import type { StreamConfig } from '../../stream.ts';
import { writeMatches } from '../../watching/record-matches.ts';
import type { DeliveryKind } from '../outbox.ts';
import { createDeliveryWorker, type DeliveryWorkerOptions } from '../worker.ts';
import { EXAMPLE_DELAYS_MS } from './example-retries.ts';

export const STAGE_CHAIN: Chain = createChainRegistry().get('eth');
const WATCHED = parseAddress('0x00000000000000000000000000000000000000aa');
const TOKEN = parseAddress('0x00000000000000000000000000000000000000cc');
const TRANSFER = parseHash('0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef');

export function stageConfig(changes: Partial<StreamConfig> & Pick<StreamConfig, 'webhookUrl'>): StreamConfig {
  return {
    ...DEFAULT_CONFIG,
    description: 'staged',
    tag: 'stage',
    chainIds: [STAGE_CHAIN.id],
    includeNativeTxs: true,
    includeContractLogs: true,
    includeInternalTxs: true,
    ...changes,
  };
}

/** @returns the stream id */
export async function addStream(
  database: Database,
  {
    createdBy,
    ...changes
  }: Partial<StreamConfig> & Pick<StreamConfig, 'webhookUrl'> & { readonly createdBy?: string },
): Promise<string> {
  const id = randomUUID();
  const others = { id, status: 'active', status_message: 'Stream is active', created_by: createdBy ?? null };
  await database.query(insertStatement(stageConfig(changes), others));
  return id;
}

/** A hash that encodes its number. */
export function numberedHash(number: number): Hash {
  return parseHash(`0x${number.toString(16).padStart(64, '0')}`);
}

/** A match with one transaction that contains a token transfer and an internal native transfer. */
export function stageMatch(streamId: string, blockNumber: number): Match {
  const transactionHash = numberedHash(1_000_000 + blockNumber);
  const triggeredBy = [WATCHED];
  const word = (text: Hex): Hash => parseHash(`0x${text.slice(2).padStart(64, '0')}`);
  return {
    streamId,
    logs: [
      {
        transactionHash,
        transactionIndex: 0,
        logIndex: 3,
        address: TOKEN,
        topics: [TRANSFER, word(WATCHED), word(TOKEN)],
        data: word(`0x${(blockNumber + 1).toString(16)}`),
        triggeredBy,
      },
    ],
    transactions: [
      {
        hash: transactionHash,
        index: 0,
        from: WATCHED,
        to: TOKEN,
        transaction: { gas: '0x5208', gasPrice: '0x1', nonce: '0x7', input: '0x', value: '0x0', type: '0x2' },
        receipt: { cumulativeGasUsed: '0x5208', gasUsed: '0x5208', status: '0x1' },
        triggeredBy,
      },
    ],
    internalTransactions: [
      { index: 0, transactionHash, from: TOKEN, to: WATCHED, value: '1000000000', gas: '2300', triggeredBy },
    ],
    triggeredBy,
  };
}

export interface StagedDelivery {
  readonly id: string;
  readonly streamId: string;
  readonly blockNumber: number;
  readonly kind: DeliveryKind;
}

/** Adds a match to each of these blocks, with a webhook of each kind that is due immediately. */
export async function addMatches(
  database: Database,
  streamId: string,
  options: { readonly blocks: readonly number[]; readonly kinds?: readonly DeliveryKind[] },
): Promise<StagedDelivery[]> {
  const { blocks, kinds = ['unconfirmed'] } = options;
  const matches = blocks.map((number) => ({
    block: { header: { number, hash: numberedHash(number), timestamp: 1_700_000_000 + number } },
    match: stageMatch(streamId, number),
  }));
  await database.transaction((transaction) =>
    writeMatches(transaction, STAGE_CHAIN, matches, async (_keys, insert) => {
      await transaction.query(insert);
    }),
  );
  const deliveries = blocks.flatMap((blockNumber) =>
    kinds.map((kind) => ({ id: randomUUID(), streamId, blockNumber, kind })),
  );
  await database.query(
    sql`INSERT INTO stream_deliveries (id, stream_id, chain_id, block_number, block_hash, kind)
     SELECT id, ${streamId}, ${STAGE_CHAIN.id}, number, hash, kind FROM unnest(${deliveries.map(({ id }) => id)}::uuid[], ${deliveries.map(({ blockNumber }) => blockNumber)}::bigint[], ${deliveries.map(({ blockNumber }) => Buffer.from(numberedHash(blockNumber).slice(2), 'hex'))}::bytea[], ${deliveries.map(({ kind }) => kind)}::text[])
       AS delivery(id, number, hash, kind)`,
  );
  return deliveries;
}

export interface OutboxState {
  readonly id: string;
  readonly status: string;
  readonly retries: number;
  readonly dueAt: Date;
  readonly body: string | null;
  readonly deliveredAt: Date | null;
}

/** Returns the outbox rows of a stream in block order, with the stored text of their newest attempts. */
export async function readOutbox(database: Database, streamId: string): Promise<OutboxState[]> {
  const rows = await database.query<OutboxState & { kind: DeliveryKind; matchBody: string | null }>(
    sql`SELECT d.id, d.status, d.retries, d.due_at, d.body, d.delivered_at, d.kind, m.body AS "matchBody"
     FROM stream_deliveries d LEFT JOIN stream_matches m ON m.chain_id = d.chain_id AND m.block_number = d.block_number
       AND m.stream_id = d.stream_id AND m.block_hash = d.block_hash
     WHERE d.stream_id = ${streamId} ORDER BY d.block_number, d.kind`,
  );
  return rows.map(({ kind, matchBody, ...row }) => {
    if (row.status !== 'delivered' || row.body !== null || matchBody === null) return row;
    const state = { confirmed: kind === 'confirmed', removed: kind === 'removed', retries: row.retries };
    return { ...row, body: finishBody(matchBody, state) };
  });
}

/** Moves pending outbox rows back in time, as if this time had passed. Milliseconds. */
export async function passTime(database: Database, ms: number): Promise<void> {
  await database.query(sql`UPDATE stream_deliveries SET due_at = due_at - ${ms} * interval '1 millisecond'`);
}

/** A clock that a test advances; its waits are real. */
export interface MovedClock extends Clock {
  advance(ms: number): void;
}

export function movedClock(): MovedClock {
  let offset = 0;
  return {
    now: () => systemClock.now() + offset,
    sleep: systemClock.sleep,
    advance(ms) {
      offset += ms;
    },
  };
}

export interface StagedWorker extends AsyncDisposable {
  readonly metrics: Registry;
  stop(): Promise<void>;
}

/** Settings for tests: frequent sweeps, short leases. */
const QUICK = { sweepEveryMs: 25, judgeEveryMs: 100, leaseMs: 2_000, postponeMs: 100 };

const PER_HOST = 16;

/** Starts a worker like the worker process, in this process. */
export async function startStagedWorker(
  database: Database,
  changes: Partial<DeliveryWorkerOptions> & { readonly closeMs?: number } = {},
): Promise<StagedWorker> {
  const logger = silentLogger();
  const metrics = createMetricsRegistry();
  const clock = changes.clock ?? systemClock;
  const connectionsPerOrigin = changes.concurrencyPerHost ?? PER_HOST;
  await using parts = new AsyncDisposableStack();
  const egress = parts.adopt(createEgress({ allowPrivate: true, connectionsPerOrigin }), (one) => one.close());
  const enrich: EnrichMatch = async ({ match }) => enrichedMatch(match, STAGE_CHAIN);
  const chains = [{ chain: STAGE_CHAIN, enrich }];
  const worker = createDeliveryWorker({
    database,
    egress,
    bodies: createWebhookBodies({ database, chains, clock }),
    retryDelaysMs: EXAMPLE_DELAYS_MS,
    concurrency: 200,
    concurrencyPerHost: PER_HOST,
    logger,
    metrics,
    clock,
    ...QUICK,
    ...changes,
  });
  parts.defer(() => worker.stop(changes.closeMs ?? 2_000));
  await worker.start();
  const owned = parts.move();
  const stop = (): Promise<void> => owned.disposeAsync();
  return {
    metrics,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
