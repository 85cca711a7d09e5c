import { randomBytes } from 'node:crypto';
import { errorText, type Logger } from '@chainstead/core';
import { type Database, type Sql, sql } from '@chainstead/db';
import { RpcCallError } from '@chainstead/rpc';
import type { GatewayChain } from '../call.ts';

export type ReportedBlock = readonly [number: number, hash: string];

export type FilterKind = 'logs' | 'blocks' | 'pending';

export interface StoredFilter {
  readonly id: string;
  readonly kind: FilterKind;
  /** Log filter of the client; for `pending`, the upstream's filter. */
  readonly subject: unknown;
  readonly reported: readonly ReportedBlock[];
  readonly version: number;
}

export interface FilterOwner {
  readonly keyId: string;
  readonly chainId: number;
}

/** Shared by all processes. Deleted five minutes after the last poll, as in geth. */
export interface FilterStore {
  /** @returns its id; null if the key has too many filters */
  add(owner: FilterOwner, filter: Pick<StoredFilter, 'kind' | 'subject' | 'reported'>): Promise<string | null>;
  find(owner: FilterOwner, id: string): Promise<StoredFilter | null>;
  /** @returns false: changed concurrently, and nothing is recorded */
  advance(filter: StoredFilter, changed: Pick<StoredFilter, 'subject' | 'reported'>): Promise<boolean>;
  touch(id: string): Promise<void>;
  remove(owner: FilterOwner, id: string): Promise<StoredFilter | null>;
}

const ID_BYTES = 16;
const KEPT = sql`interval '5 minutes'`;
const TOUCH_AFTER = sql`interval '30 seconds'`;
const COLUMNS = sql`id, kind, subject, reported, version`;

function isOwned({ keyId, chainId }: FilterOwner, id: string): Sql {
  return sql`id = ${id} AND key_id = ${keyId} AND chain_id = ${chainId} AND polled_at > now() - ${KEPT}`;
}

export function createFilterStore(database: Database, filtersPerKey: number): FilterStore {
  const remove = async (owner: FilterOwner, id: string): Promise<StoredFilter | null> => {
    const [filter = null] = await database.query<StoredFilter>(
      sql`DELETE FROM gateway_filters WHERE ${isOwned(owner, id)} RETURNING ${COLUMNS}`,
    );
    return filter;
  };
  return {
    async add(owner, { kind, subject, reported }) {
      const { keyId, chainId } = owner;
      await database.query(sql`DELETE FROM gateway_filters WHERE polled_at <= now() - ${KEPT}`);
      const id = `0x${randomBytes(ID_BYTES).toString('hex')}`;
      await database.query(
        sql`INSERT INTO gateway_filters (id, key_id, chain_id, kind, subject, reported)
         VALUES (${id}, ${keyId}, ${chainId}, ${kind}, ${JSON.stringify(subject)}::jsonb, ${JSON.stringify(reported)}::jsonb)`,
      );
      // Counted after the insert: concurrent inserts can't all pass the limit.
      const [row] = await database.query<{ filters: number }>(
        sql`SELECT count(*)::int AS filters FROM gateway_filters WHERE key_id = ${keyId} AND polled_at > now() - ${KEPT}`,
      );
      if ((row?.filters ?? 0) <= filtersPerKey) return id;
      await remove(owner, id);
      return null;
    },
    async find(owner, id) {
      const [filter = null] = await database.query<StoredFilter>(
        sql`SELECT ${COLUMNS} FROM gateway_filters WHERE ${isOwned(owner, id)}`,
      );
      return filter;
    },
    async advance({ id, version }, { subject, reported }) {
      const advanced = await database.query(
        sql`UPDATE gateway_filters SET subject = ${JSON.stringify(subject)}::jsonb, reported = ${JSON.stringify(reported)}::jsonb,
           version = version + 1, polled_at = now()
         WHERE id = ${id} AND version = ${version} RETURNING id`,
      );
      return advanced.length > 0;
    },
    async touch(id) {
      await database.query(
        sql`UPDATE gateway_filters SET polled_at = now() WHERE id = ${id} AND polled_at < now() - ${TOUCH_AFTER}`,
      );
    },
    remove,
  };
}

/** Belongs to one upstream: no two have the same pending transactions. */
interface UpstreamFilter {
  readonly upstream: string;
  readonly id: string;
}

export async function newUpstreamFilter(pool: GatewayChain['pool']): Promise<UpstreamFilter> {
  const { value, upstream } = await pool.request('eth_newPendingTransactionFilter', []);
  return { upstream, id: String(value) };
}

/** JSON text; null if another poll came in between. */
export async function pollPendingFilter(
  { pool }: GatewayChain,
  filter: StoredFilter,
  store: FilterStore,
): Promise<string | null> {
  const { upstream, id } = filter.subject as UpstreamFilter;
  try {
    const { value } = await pool.request('eth_getFilterChanges', [id], { only: upstream });
    await store.touch(filter.id);
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RpcCallError)) throw error;
  }
  // The upstream dropped the filter: reports transactions from now on.
  const subject = await newUpstreamFilter(pool);
  return (await store.advance(filter, { subject, reported: [] })) ? '[]' : null;
}

/** An unreachable upstream drops the filter after a while. */
export async function removePendingFilter(
  { pool, slug }: GatewayChain,
  filter: StoredFilter,
  logger: Logger,
): Promise<void> {
  const { upstream, id } = filter.subject as UpstreamFilter;
  try {
    await pool.request('eth_uninstallFilter', [id], { only: upstream });
  } catch (error) {
    logger.debug({ chain: slug, error: errorText(error) }, 'Filter of an upstream not removed');
  }
}
