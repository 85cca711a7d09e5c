import { randomBytes } from 'node:crypto';
import { type Database, rawSql } from '@chainstead/db';

/** A block that was reported to a client. */
export type ReportedBlock = readonly [number: number, hash: string];

export type FilterKind = 'logs' | 'blocks' | 'pending';

/** A filter as stored. */
export interface StoredFilter {
  readonly id: string;
  readonly kind: FilterKind;
  /** The original log filter; for `pending`, the upstream's filter. */
  readonly subject: unknown;
  /** Oldest first. */
  readonly reported: readonly ReportedBlock[];
  readonly version: number;
}

/** The owner of a filter. */
export interface FilterOwner {
  /** Principal's id. */
  readonly keyId: string;
  readonly chainId: number;
}

/** The filters of all clients, for all processes. A filter is deleted five minutes after its last poll, as in geth. */
export interface FilterStore {
  /** @returns its id; null if the key has too many filters */
  add(owner: FilterOwner, filter: Pick<StoredFilter, 'kind' | 'subject' | 'reported'>): Promise<string | null>;
  find(owner: FilterOwner, id: string): Promise<StoredFilter | null>;
  /** Records the reported blocks. @returns false if the filter was changed concurrently: then nothing is recorded */
  advance(filter: StoredFilter, changed: Pick<StoredFilter, 'subject' | 'reported'>): Promise<boolean>;
  /** Records a poll. */
  touch(id: string): Promise<void>;
  /** @returns the removed filter; null if there was none */
  remove(owner: FilterOwner, id: string): Promise<StoredFilter | null>;
}

interface FilterRow {
  readonly id: string;
  readonly kind: FilterKind;
  readonly subject: unknown;
  readonly reported: readonly ReportedBlock[];
  readonly version: number;
}

const ID_BYTES = 16;
const KEPT = `interval '5 minutes'`;
/** A poll without changes is recorded at most this often. */
const TOUCH_AFTER = `interval '30 seconds'`;
const COLUMNS = 'id, kind, subject, reported, version';
const OWNED = `id = $1 AND key_id = $2 AND chain_id = $3 AND polled_at > now() - ${KEPT}`;

const FORGET = `DELETE FROM gateway_filters WHERE polled_at <= now() - ${KEPT}`;
const ADD = `INSERT INTO gateway_filters (id, key_id, chain_id, kind, subject, reported)
  VALUES ($1, $2, $3, $4, $5::jsonb, $6::jsonb)`;
const COUNT = `SELECT count(*)::int AS filters FROM gateway_filters WHERE key_id = $1 AND polled_at > now() - ${KEPT}`;
const FIND = `SELECT ${COLUMNS} FROM gateway_filters WHERE ${OWNED}`;
const ADVANCE = `UPDATE gateway_filters SET subject = $3::jsonb, reported = $4::jsonb, version = version + 1, polled_at = now()
  WHERE id = $1 AND version = $2 RETURNING id`;
const TOUCH = `UPDATE gateway_filters SET polled_at = now() WHERE id = $1 AND polled_at < now() - ${TOUCH_AFTER}`;
const REMOVE = `DELETE FROM gateway_filters WHERE ${OWNED} RETURNING ${COLUMNS}`;

/** @param filtersPerKey on all chains and in all processes together */
export function createFilterStore({
  database,
  filtersPerKey,
}: {
  readonly database: Database;
  readonly filtersPerKey: number;
}): FilterStore {
  return {
    async add({ keyId, chainId }, { kind, subject, reported }) {
      await database.query(rawSql(FORGET));
      const id = `0x${randomBytes(ID_BYTES).toString('hex')}`;
      await database.query(ADD, [id, keyId, chainId, kind, JSON.stringify(subject), JSON.stringify(reported)]);
      // Counted after the insert, so that concurrent inserts can't all pass the limit.
      const [row] = await database.query<{ filters: number }>(COUNT, [keyId]);
      if ((row?.filters ?? 0) <= filtersPerKey) return id;
      await database.query(REMOVE, [id, keyId, chainId]);
      return null;
    },
    async find({ keyId, chainId }, id) {
      const [row] = await database.query<FilterRow>(FIND, [id, keyId, chainId]);
      return row ?? null;
    },
    async advance({ id, version }, { subject, reported }) {
      const given = [id, version, JSON.stringify(subject), JSON.stringify(reported)];
      return (await database.query(ADVANCE, given)).length > 0;
    },
    async touch(id) {
      await database.query(TOUCH, [id]);
    },
    async remove({ keyId, chainId }, id) {
      const [row] = await database.query<FilterRow>(REMOVE, [id, keyId, chainId]);
      return row ?? null;
    },
  };
}
