import type { Chain } from '@chainstead/chains';
import { type ChainId, ChainsteadError, type Clock, type Hash } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { WebhookBodies } from '../delivery/deliver-webhook.ts';
import type { Delivery, MatchKey } from '../delivery/delivery.ts';
import { parseMatch } from '../matching/match.ts';
import { renderBody } from '../payload/render-body.ts';
import { STREAM_COLUMNS, type StreamRow, streamOf } from '../records/stream-row.ts';
import type { Stream } from '../stream.ts';
import type { EnrichMatch } from './enrich-match.ts';
import { transactionsOf } from './transactions-of.ts';

export interface WebhookBodiesOptions {
  readonly database: Database;
  readonly chains: readonly { readonly chain: Chain; readonly enrich: EnrichMatch }[];
  readonly clock: Clock;
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

/** Makes bodies from matches, once each: what was read for the unconfirmed webhook is what the confirmed one tells. */
export function createWebhookBodies({ database, chains, clock }: WebhookBodiesOptions): WebhookBodies {
  const byId = new Map(chains.map((configured) => [configured.chain.id, configured]));
  return {
    async make(delivery, signal) {
      const stored = await loadMatch(database, delivery);
      if (stored.body !== null) return stored.body;
      const configured = byId.get(delivery.chainId);
      if (configured === undefined) throw new ChainNotConfiguredError(delivery.chainId);
      const { chain, enrich } = configured;
      const match = parseMatch(stored.matched);
      const { stream, block } = stored;
      const waitedMs = clock.now() - delivery.createdAt.getTime();
      const enrichment = await enrich({ match, stream, block, waitedMs }, signal);
      const body = renderBody({ match, stream, chain, block, enrichment });
      return storeBody(database, delivery, body, transactionsOf(match));
    },
  };
}

interface StoredMatch {
  readonly matched: string;
  readonly body: string | null;
  readonly stream: Stream;
  readonly block: Parameters<typeof renderBody>[0]['block'];
}

async function loadMatch(database: Database, key: Delivery): Promise<StoredMatch> {
  const [match] = await database.query<{ matched: string; body: string | null; block_timestamp: Date }>(
    `SELECT matched, body, block_timestamp FROM stream_matches
     WHERE chain_id = $1 AND block_number = $2 AND stream_id = $3 AND block_hash = $4`,
    keyValues(key),
  );
  const [stream] = await database.query<StreamRow>(`SELECT ${STREAM_COLUMNS} FROM streams WHERE id = $1`, [
    key.streamId,
  ]);
  if (match === undefined || stream === undefined) throw new MatchMissingError(key);
  const { blockNumber: number, blockHash: hash } = key;
  const timestamp = Math.floor(match.block_timestamp.getTime() / 1_000);
  return { matched: match.matched, body: match.body, stream: streamOf(stream), block: { number, hash, timestamp } };
}

/** The first body stays: the other delivery of the match may be sending it already. What it was made of is not needed any more. */
async function storeBody(
  database: Database,
  key: MatchKey,
  body: string,
  transactions: ReadonlySet<Hash>,
): Promise<string> {
  const [row] = await database.query<{ body: string }>(
    `WITH told AS (
       INSERT INTO stream_match_transactions (chain_id, block_number, stream_id, block_hash, transaction_hash)
       SELECT $1, $2, $3, $4, decode(hash, 'hex') FROM unnest($6::text[]) AS hash
       ON CONFLICT DO NOTHING
     )
     UPDATE stream_matches SET body = coalesce(body, $5), matched = ''
     WHERE chain_id = $1 AND block_number = $2 AND stream_id = $3 AND block_hash = $4 RETURNING body`,
    [...keyValues(key), body, [...transactions].map((hash) => hash.slice(2))],
  );
  if (row === undefined) throw new MatchMissingError(key);
  return row.body;
}

function keyValues(key: MatchKey): readonly unknown[] {
  return [key.chainId, key.blockNumber, key.streamId, Buffer.from(key.blockHash.slice(2), 'hex')];
}
