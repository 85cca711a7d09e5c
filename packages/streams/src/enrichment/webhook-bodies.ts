import type { Chain } from '@chainstead/chains';
import { type ChainId, ChainsteadError, type Clock } from '@chainstead/core';
import { type Database, UNWRITTEN, type WorkJournal } from '@chainstead/db';
import DataLoader from 'dataloader';
import type { WebhookBodies } from '../delivery/deliver-webhook.ts';
import type { Delivery, MatchKey } from '../delivery/delivery.ts';
import { areStillDue } from '../delivery/waiting-delivery.ts';
import { parseMatch } from '../matching/match.ts';
import { renderBody } from '../payload/render-body.ts';
import { STREAM_COLUMNS, type StreamRow, streamOf } from '../records/stream-row.ts';
import type { Stream } from '../stream.ts';
import type { EnrichMatch } from './enrich-match.ts';
import { type MadeBody, type MatchRow, readMatchRows, type StoredBody, storeBodies } from './match-rows.ts';
import { transactionsOf } from './transactions-of.ts';

export interface WebhookBodiesOptions {
  readonly database: Database;
  readonly chains: readonly { readonly chain: Chain; readonly enrich: EnrichMatch }[];
  readonly clock: Pick<Clock, 'now'>;
  /** Where what might end the process is written down. Default: nowhere. */
  readonly journal?: Pick<WorkJournal, 'run'>;
}

/** A match of a chain that is not configured any more; it is sent when the chain is configured again. */
export class ChainNotConfiguredError extends ChainsteadError {
  constructor(chainId: ChainId) {
    super({
      code: 'CHAIN_NOT_CONFIGURED',
      message: `Webhooks of chain ${chainId} wait, because it is not among CHAINS`,
      facts: { chain_id: chainId },
      remedy: 'Add the chain to CHAINS, or delete its streams',
      retryable: true,
    });
  }
}

/** A match or its stream is gone. */
export class MatchMissingError extends ChainsteadError {
  constructor({ streamId, chainId, blockNumber, blockHash }: MatchKey) {
    super({
      code: 'MATCH_MISSING',
      message: `Nothing is stored of stream ${streamId} in block ${blockNumber} of chain ${chainId}`,
      facts: { stream_id: streamId, chain_id: chainId, block: blockNumber, block_hash: blockHash },
      retryable: false,
    });
  }
}

/**
 * Makes bodies from matches, once each: what was read for the unconfirmed webhook is what the confirmed one tells. Those that are
 * asked for together share their queries.
 */
export function createWebhookBodies(options: WebhookBodiesOptions): WebhookBodies {
  const { database, chains, clock, journal = UNWRITTEN } = options;
  const byId = new Map(chains.map((configured) => [configured.chain.id, configured]));
  const matches = new DataLoader<MatchKey, MatchRow | undefined>((keys) => readMatchRows(database, keys), TOGETHER);
  const streams = new DataLoader<string, Stream | undefined>((ids) => readStreams(database, ids), TOGETHER);
  const store = new DataLoader<MadeBody, StoredBody | undefined>((made) => storeBodies(database, made), TOGETHER);
  const stillDue = new DataLoader<Delivery, boolean>((deliveries) => areStillDue(database, deliveries), TOGETHER);
  /** By match: both of its webhooks may be in hand, or one that was put back meanwhile. */
  const underWay = new Map<string, Promise<StoredBody>>();

  async function makeAndStore(delivery: Delivery, signal: AbortSignal): Promise<StoredBody> {
    const [stored, stream] = await Promise.all([matches.load(delivery), streams.load(delivery.streamId)]);
    if (stored === undefined || stream === undefined) throw new MatchMissingError(delivery);
    if (stored.body !== null) return { body: stored.body, isDue: await stillDue.load(delivery) };
    const configured = byId.get(delivery.chainId);
    if (configured === undefined) throw new ChainNotConfiguredError(delivery.chainId);
    const { chain, enrich } = configured;
    const match = parseMatch(stored.matched);
    const block = { number: delivery.blockNumber, hash: delivery.blockHash, timestamp: stored.blockTimestamp };
    const waitedMs = clock.now() - delivery.createdAt.getTime();
    const render = async (): Promise<string> => {
      const enriched = await enrich({ match, stream, block, waitedMs }, signal);
      return renderBody({ stream, chain, block, enriched });
    };
    // Without an origin: one bad webhook must not take the stream's others with it.
    const work = { kind: 'webhook', keys: [keyOf(delivery)] } as const;
    const body = await (isRisky(stored, stream) ? journal.run(work, render) : render());
    const kept = await store.load({ delivery, body, transactions: transactionsOf(match) });
    if (kept === undefined) throw new MatchMissingError(delivery);
    return kept;
  }

  return {
    async make(delivery, signal) {
      const key = keyOf(delivery);
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

/** What a stranger has a say in, or is large: the rest is not worth a write. */
function isRisky({ matched }: MatchRow, { triggers, getNativeBalances }: Stream): boolean {
  return (triggers ?? []).length > 0 || getNativeBalances.length > 0 || matched.length > LARGE_MATCH_LENGTH;
}

/** Characters. */
const LARGE_MATCH_LENGTH = 262_144;

/** Of the match: what is told unconfirmed and confirmed is made once. */
function keyOf({ chainId, blockNumber, streamId, blockHash }: MatchKey): string {
  return `${chainId} ${blockNumber} ${streamId} ${blockHash}`;
}

/** Nothing is remembered: what is stored may change. */
const TOGETHER = { cache: false, maxBatchSize: 200 } as const;

async function readStreams(database: Database, ids: readonly string[]): Promise<readonly (Stream | undefined)[]> {
  const rows = await database.query<StreamRow>(`SELECT ${STREAM_COLUMNS} FROM streams WHERE id = ANY ($1::uuid[])`, [
    [...new Set(ids)],
  ]);
  const byId = new Map(rows.map((row) => [row.id, streamOf(row)]));
  return ids.map((id) => byId.get(id));
}
