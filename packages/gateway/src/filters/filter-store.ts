import { randomBytes } from 'node:crypto';
import type { Database } from '@chainstead/db';

/** A block that a client was told of. */
export type ToldBlock = readonly [number: number, hash: string];

export type FilterKind = 'logs' | 'blocks' | 'pending';

/** A filter as it is kept. */
export interface StoredFilter {
  readonly id: string;
  readonly kind: FilterKind;
  /** The log filter as it was given; for `pending` the upstream's filter. */
  readonly subject: unknown;
  /** Oldest first. */
  readonly told: readonly ToldBlock[];
  readonly version: number;
}

/** Whose filter it is. */
export interface FilterOwner {
  /** Principal's id. */
  readonly keyId: string;
  readonly chainId: number;
}

/** The filters of all clients, for all processes. One that nobody asks for is forgotten after five minutes, as geth does. */
export interface FilterStore {
  /** @returns its id; null where the key has too many */
  add(owner: FilterOwner, filter: Pick<StoredFilter, 'kind' | 'subject' | 'told'>): Promise<string | null>;
  find(owner: FilterOwner, id: string): Promise<StoredFilter | null>;
  /** Records what is told now. @returns false where somebody else changed the filter meanwhile: nothing is recorded then */
  advance(filter: StoredFilter, changed: Pick<StoredFilter, 'subject' | 'told'>): Promise<boolean>;
  /** Somebody asked for it. */
  touch(id: string): Promise<void>;
  /** @returns whether there was such a filter, and what it was */
  remove(owner: FilterOwner, id: string): Promise<StoredFilter | null>;
}

interface FilterRow {
  readonly id: string;
  readonly kind: FilterKind;
  readonly subject: unknown;
  readonly told: readonly ToldBlock[];
  readonly version: number;
}

const ID_BYTES = 16;
const KEPT = `interval '5 minutes'`;
/** A poll that changes nothing is written down this seldom. */
const TOUCH_AFTER = `interval '30 seconds'`;
const COLUMNS = 'id, kind, subject, told, version';
const OWNED = `id = $1 AND key_id = $2 AND chain_id = $3 AND polled_at > now() - ${KEPT}`;

const FORGET = `DELETE FROM gateway_filters WHERE polled_at <= now() - ${KEPT}`;
const ADD = `INSERT INTO gateway_filters (id, key_id, chain_id, kind, subject, told)
  VALUES ($1, $2, $3, $4, $5::jsonb, $6::jsonb)`;
const COUNT = `SELECT count(*)::int AS filters FROM gateway_filters WHERE key_id = $1 AND polled_at > now() - ${KEPT}`;
const FIND = `SELECT ${COLUMNS} FROM gateway_filters WHERE ${OWNED}`;
const ADVANCE = `UPDATE gateway_filters SET subject = $3::jsonb, told = $4::jsonb, version = version + 1, polled_at = now()
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
    async add({ keyId, chainId }, { kind, subject, told }) {
      await database.query(FORGET);
      const id = `0x${randomBytes(ID_BYTES).toString('hex')}`;
      await database.query(ADD, [id, keyId, chainId, kind, JSON.stringify(subject), JSON.stringify(told)]);
      // Counted afterwards, so that many at once can't all find room.
      const [row] = await database.query<{ filters: number }>(COUNT, [keyId]);
      if ((row?.filters ?? 0) <= filtersPerKey) return id;
      await database.query(REMOVE, [id, keyId, chainId]);
      return null;
    },
    async find({ keyId, chainId }, id) {
      const [row] = await database.query<FilterRow>(FIND, [id, keyId, chainId]);
      return row ?? null;
    },
    async advance({ id, version }, { subject, told }) {
      const given = [id, version, JSON.stringify(subject), JSON.stringify(told)];
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
