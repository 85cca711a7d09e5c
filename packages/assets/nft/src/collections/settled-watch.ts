import { type Address, type ChainId, type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { addressBytes, type Database, failureLevel, type Sql, sql } from '@chainstead/db';
import type { TokenKey } from './token-rows.ts';

export interface MetadataWatch {
  /** Resolves when the row is not pending any more, or after `ms`. */
  collection(chainId: ChainId, address: Address, ms: number): Promise<void>;
  token(chainId: ChainId, token: TokenKey, ms: number): Promise<void>;
}

const POLL_MS = 30;

interface Waiting {
  readonly chainId: ChainId;
  readonly address: Address;
  /** Null: the collection itself. */
  readonly tokenId: string | null;
  readonly settle: () => void;
}

/** One query for all waiting requests. If it fails, they wait until their time ends. */
export function createSettledWatch(options: {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}): MetadataWatch {
  const { database, clock, logger } = options;
  const waiting = new Set<Waiting>();
  let isLooking = false;

  async function look(): Promise<void> {
    isLooking = true;
    try {
      while (waiting.size > 0) {
        await clock.sleep(POLL_MS);
        const requested = [...waiting];
        const settled = await settledOf(database, requested);
        for (const { chainId, address, tokenId, settle } of requested)
          if (settled.has(`${chainId}:${address}${tokenId === null ? '' : `:${tokenId}`}`)) settle();
      }
    } catch (error) {
      logger[failureLevel(error)]({ error: errorText(error) }, 'Rows that requests wait for could not be looked at');
    } finally {
      isLooking = false;
    }
  }

  async function wait(chainId: ChainId, address: Address, tokenId: string | null, ms: number): Promise<void> {
    if (ms <= 0) return;
    const settled = Promise.withResolvers<void>();
    const entry: Waiting = { chainId, address, tokenId, settle: settled.resolve };
    const ended = new AbortController();
    waiting.add(entry);
    if (!isLooking) void look();
    try {
      await Promise.race([settled.promise, sleepUnlessAborted(clock, ms, ended.signal)]);
    } finally {
      ended.abort();
      waiting.delete(entry);
    }
  }

  return {
    collection: (chainId, address, ms) => wait(chainId, address, null, ms),
    token: (chainId, { address, tokenId }, ms) => wait(chainId, address, tokenId, ms),
  };
}

async function settledOf(database: Database, requested: readonly Waiting[]): Promise<ReadonlySet<string>> {
  const collections = requested.filter(({ tokenId }) => tokenId === null);
  const tokens = requested.filter(({ tokenId }) => tokenId !== null);
  const keys = (entries: readonly Waiting[]): Sql =>
    sql`${entries.map(({ address }) => addressBytes(address))}::bytea[], ${entries.map(({ chainId }) => chainId)}::bigint[]`;
  const settled = await Promise.all([
    collections.length === 0
      ? []
      : database.query<{ key: string }>(
          sql`SELECT chain_id || ':0x' || encode(token_address, 'hex') AS key FROM nft_collections
           WHERE (token_address, chain_id) IN (SELECT * FROM unnest(${keys(collections)})) AND status <> 'pending'`,
        ),
    tokens.length === 0
      ? []
      : database.query<{ key: string }>(
          sql`SELECT chain_id || ':0x' || encode(token_address, 'hex') || ':' || token_id AS key FROM nft_token_metadata
           WHERE (token_address, chain_id, token_id) IN (SELECT * FROM unnest(${keys(tokens)}, ${tokens.map(({ tokenId }) => tokenId)}::numeric[]))
             AND status <> 'pending'`,
        ),
  ]);
  return new Set(settled.flat().map(({ key }) => key));
}
