import type { Chain } from '@chainstead/chains';
import { type ChainId, type Clock, defineError, type Hash } from '@chainstead/core';
import { type Database, sql, UNWRITTEN, type WorkJournal } from '@chainstead/db';
import DataLoader from 'dataloader';
import { type WebhookBodies, WebhookCallsLimitedError } from '../delivery/deliver.ts';
import { areStillDue, type Delivery, type MatchKey } from '../delivery/outbox.ts';
import type { Match } from '../matching/match.ts';
import { BODY_LENGTH_MAX, LONG_BODY_LENGTH, renderBody, WebhookTooLargeError } from '../payload/render-body.ts';
import { STREAM_COLUMNS, type StoredStream, streamOf } from '../records/stream-row.ts';
import type { Stream } from '../stream.ts';
import type { EnrichMatch } from './enrich-match.ts';
import {
  type MadeBody,
  type MatchRow,
  matchKeyText,
  readMatchRows,
  type StoredBody,
  storeBodies,
} from './match-rows.ts';

export interface WebhookBodiesOptions {
  readonly database: Database;
  readonly chains: readonly { readonly chain: Chain; readonly enrich: EnrichMatch }[];
  readonly clock: Pick<Clock, 'now'>;
  readonly journal?: Pick<WorkJournal, 'run'>;
  /** Node calls of a key's webhooks. @returns milliseconds to wait, 0 if it may call @default unlimited */
  readonly takeCalls?: (key: string, calls: number) => Promise<number>;
}

export class ChainNotConfiguredError extends defineError('CHAIN_NOT_CONFIGURED', (chainId: ChainId) => ({
  message: `Webhooks for chain ${chainId} are on hold: the chain is not in CHAINS`,
  facts: { chain_id: chainId },
  remedy: 'Add the chain to CHAINS, or delete its streams',
  retryable: true,
})) {}

export class MatchMissingError extends defineError(
  'MATCH_MISSING',
  ({ streamId, chainId, blockNumber, blockHash }: MatchKey) => ({
    message: `No match of stream ${streamId} is stored for block ${blockNumber} of chain ${chainId}`,
    facts: { stream_id: streamId, chain_id: chainId, block: blockNumber, block_hash: blockHash },
  }),
) {}

/** The confirmed webhook reuses the unconfirmed one's body. Concurrent requests share queries. */
export function createWebhookBodies(options: WebhookBodiesOptions): WebhookBodies {
  const { database, chains, clock, journal = UNWRITTEN, takeCalls } = options;
  const byId = new Map(chains.map((configured) => [configured.chain.id, configured]));
  const matches = new DataLoader<MatchKey, MatchRow | undefined>(
    (keys) => readMatchRows(database, keys),
    TOGETHER,
  );
  const streams = new DataLoader<string, KeyedStream | undefined>((ids) => readStreams(database, ids), TOGETHER);
  const store = new DataLoader<MadeBody, StoredBody | undefined>((made) => storeBodies(database, made), TOGETHER);
  const stillDue = new DataLoader<Delivery, boolean>((deliveries) => areStillDue(database, deliveries), TOGETHER);
  /** By match: both of its webhooks may be in flight. */
  const underWay = new Map<string, Promise<StoredBody>>();

  async function makeAndStore(delivery: Delivery, signal: AbortSignal): Promise<StoredBody> {
    const [stored, stream] = await Promise.all([matches.load(delivery), streams.load(delivery.streamId)]);
    if (stored === undefined || stream === undefined) throw new MatchMissingError(delivery);
    if (stored.body !== null) return { body: stored.body, isDue: await stillDue.load(delivery) };
    const configured = byId.get(delivery.chainId);
    if (configured === undefined) throw new ChainNotConfiguredError(delivery.chainId);
    const { chain, enrich } = configured;
    if (stored.length > BODY_LENGTH_MAX) throw new WebhookTooLargeError(delivery, stored.length);
    const { match } = stored;
    // Its items are deleted only after its body is stored: the next attempt finds the body.
    if (match === null) throw new MatchMissingError(delivery);
    const block = { number: delivery.blockNumber, hash: delivery.blockHash, timestamp: stored.blockTimestamp };
    const waitedMs = clock.now() - delivery.createdAt.getTime();
    const render = async (): Promise<string> => {
      const { key } = stream;
      const willCall = async (calls: number): Promise<void> => {
        const waitMs = (await takeCalls?.(key, calls)) ?? 0;
        if (waitMs > 0) throw new WebhookCallsLimitedError(waitMs);
      };
      const enriched = await enrich({ match, stream, key, block, waitedMs, willCall }, signal);
      const text = renderBody({ stream, match, chain, block, enriched });
      if (text.length > BODY_LENGTH_MAX) throw new WebhookTooLargeError(delivery, text.length);
      return text;
    };
    // No origin: one poison webhook must not quarantine the stream's others.
    const work = { kind: 'webhook', keys: [matchKeyText(delivery)] } as const;
    // Large or partly controlled by third parties; others are not worth a journal write.
    const isRisky =
      (stream.triggers ?? []).length > 0 ||
      stream.getNativeBalances.length > 0 ||
      stored.length > LONG_BODY_LENGTH;
    // Invariant: STREAM-DEADLY-WEBHOOK
    const body = await (isRisky ? journal.run(work, render) : render());
    const kept = await store.load({ delivery, body, transactions: transactionsOf(match) });
    if (kept === undefined) throw new MatchMissingError(delivery);
    return kept;
  }

  return {
    async make(delivery, signal) {
      const key = matchKeyText(delivery);
      const shared = underWay.get(key);
      if (shared !== undefined) {
        const { body } = await shared;
        return (await stillDue.load(delivery)) ? body : null;
      }
      const making = makeAndStore(delivery, signal);
      underWay.set(key, making);
      try {
        const { body, isDue } = await making;
        return isDue ? body : null;
      } finally {
        underWay.delete(key);
      }
    },
  };
}

const TOGETHER = { cache: false, maxBatchSize: 200 } as const;

interface KeyedStream extends Stream {
  /** That created it; empty: none. */
  readonly key: string;
}

async function readStreams(
  database: Database,
  ids: readonly string[],
): Promise<readonly (KeyedStream | undefined)[]> {
  const rows = await database.query<StoredStream & { createdBy: string | null }>(
    sql`SELECT ${STREAM_COLUMNS}, created_by FROM streams WHERE id = ANY (${[...new Set(ids)]}::uuid[])`,
  );
  const byId = new Map(rows.map(({ createdBy, ...row }) => [row.id, { ...streamOf(row), key: createdBy ?? '' }]));
  return ids.map((id) => byId.get(id));
}

function transactionsOf({ logs, transactions, internalTransactions }: Match): ReadonlySet<Hash> {
  return new Set([
    ...transactions.map(({ hash }) => hash),
    ...logs.map(({ transactionHash }) => transactionHash),
    ...internalTransactions.map(({ transactionHash }) => transactionHash),
  ]);
}
