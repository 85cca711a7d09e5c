import type { Hash } from '@chainstead/core';
import { type Database, type Sql, sql } from '@chainstead/db';
import { areStillDue, type Delivery, type MatchKey, STILL_DUE } from '../delivery/outbox.ts';
import { type ItemPlace, type Match, referredPlaces, restoreMatch } from '../matching/match.ts';
import { BODY_LENGTH_MAX } from '../payload/render-body.ts';

export interface MatchRow {
  /** Null: built, longer than `BODY_LENGTH_MAX`, or an item is no longer stored. */
  readonly match: Match | null;
  readonly body: string | null;
  readonly length: number;
  /** Unix seconds. */
  readonly blockTimestamp: number;
}

export interface MadeBody {
  readonly delivery: Delivery;
  readonly body: string;
  readonly transactions: ReadonlySet<Hash>;
}

export interface StoredBody {
  readonly body: string;
  readonly isDue: boolean;
}

/** Use with `OFFSET 0` or a lock: in a join, the planner may read the whole table. */
const IS_OF_KEY = sql`m.chain_id = key.chain_id AND m.block_number = key.block_number AND m.stream_id = key.stream_id
  AND m.block_hash = decode(key.hash, 'hex')`;

interface StoredMatch extends MatchKey {
  readonly matched: string;
  readonly body: string | null;
  readonly length: number;
  readonly blockTimestamp: Date;
}

export async function readMatchRows(
  database: Database,
  keys: readonly MatchKey[],
): Promise<readonly (MatchRow | undefined)[]> {
  const rows = await database.query<StoredMatch>(
    sql`SELECT key.chain_id, key.block_number, key.stream_id,
       '0x' || key.hash AS "blockHash", m.matched, m.body, m.length, m.block_timestamp
     FROM unnest(${keyColumns(keys)}) AS key(chain_id, block_number, stream_id, hash)
     CROSS JOIN LATERAL (SELECT * FROM stream_matches m WHERE ${IS_OF_KEY} OFFSET 0) AS m`,
  );
  const open = rows.filter(
    ({ body, length, matched }) => body === null && length <= BODY_LENGTH_MAX && matched !== '',
  );
  const items = await readItems(database, open);
  const byKey = new Map(
    rows.map((row) => {
      const { matched, body, length, blockTimestamp } = row;
      const textOf = (place: ItemPlace): string | null => items.get(itemKeyText(row, place)) ?? null;
      const match = open.includes(row) ? restoreMatch(row, matched, textOf) : null;
      const seconds = Math.floor(blockTimestamp.getTime() / 1_000);
      return [matchKeyText(row), { match, body, length, blockTimestamp: seconds }];
    }),
  );
  return keys.map((key) => byKey.get(matchKeyText(key)));
}

async function readItems(database: Database, rows: readonly StoredMatch[]): Promise<ReadonlyMap<string, string>> {
  const wanted = new Map(
    rows.flatMap((row) => referredPlaces(row.matched).map((at) => [itemKeyText(row, at), { row, at }] as const)),
  );
  if (wanted.size === 0) return new Map();
  const keyed = [...wanted];
  const items = await database.query<{ number: number; item: string }>(
    sql`SELECT key.number, i.item
     FROM unnest(${keyed.map(([, { row }]) => row.chainId)}::bigint[], ${keyed.map(([, { row }]) => row.blockNumber)}::bigint[],
       ${`{${keyed.map(([, { row }]) => row.blockHash.slice(2)).join(',')}}`}::text[],
       ${keyed.map(([, { at }]) => at.kind)}::smallint[], ${keyed.map(([, { at }]) => at.place)}::int[])
       WITH ORDINALITY AS key(chain_id, block_number, hash, kind, place, number)
     CROSS JOIN LATERAL (
       SELECT item FROM stream_items i WHERE i.chain_id = key.chain_id AND i.block_number = key.block_number
         AND i.block_hash = decode(key.hash, 'hex') AND i.kind = key.kind AND i.place = key.place OFFSET 0) AS i`,
  );
  return new Map(
    items.flatMap(({ number, item }) => keyed.slice(number - 1, number).map(([key]) => [key, item])),
  );
}

/** In given order; undefined without a match. A stored body stays: it may be in flight. */
export async function storeBodies(
  database: Database,
  made: readonly MadeBody[],
): Promise<readonly (StoredBody | undefined)[]> {
  const firsts = new Map(made.toReversed().map((body) => [matchKeyText(body.delivery), body]));
  const { bodies, due } = await store(database, [...firsts.values()], 'passed over', made);
  for (const [key, first] of firsts) {
    if (bodies.has(key)) continue;
    // Waits for the lock holder without holding any other row.
    const later = await store(database, [first], 'waited for', []);
    for (const [stored, body] of later.bodies) bodies.set(stored, body);
    const waited = made.map(({ delivery }) => delivery).filter((delivery) => matchKeyText(delivery) === key);
    const isDue = await areStillDue(database, waited);
    for (const [index, { id }] of waited.entries())
      if (isDue[index] === true) due.add(id);
      else due.delete(id);
  }
  return made.map(({ delivery }) => {
    const body = bodies.get(matchKeyText(delivery));
    return body === undefined ? undefined : { body, isDue: due.has(delivery.id) };
  });
}

/** Stored bodies by match key, and requested deliveries still due. */
async function store(
  database: Database,
  made: readonly MadeBody[],
  held: keyof typeof STORING,
  requested: readonly MadeBody[],
) {
  const rows = await database.query<{ number: number | null; other: string | null; due: string | null }>(
    storeStatement(made, requested, STORING[held]),
  );
  const bodies = new Map<string, string>();
  const due = new Set<string>();
  for (const { number, other, due: id } of rows) {
    const stored = number === null ? undefined : made[number - 1];
    if (stored !== undefined) bodies.set(matchKeyText(stored.delivery), other ?? stored.body);
    if (id !== null) due.add(id);
  }
  return { bodies, due };
}

const STORED = sql`m.chain_id, m.block_number, m.stream_id, m.block_hash`;

/** Positions of stored matches, from 1. @param storing CTEs; the last is `stored` */
function storeStatement(made: readonly MadeBody[], requested: readonly MadeBody[], storing: Sql): Sql {
  // One text: pg scans array elements for quotes. JSON has no line breaks.
  const bodies = made.map(({ body }) => body).join('\n');
  const reported = made.flatMap(({ transactions }, place) => [...transactions].map((hash) => ({ place, hash })));
  const hashes = `{${reported.map(({ hash }) => hash.slice(2)).join(',')}}`;
  const ids = `{${requested.map(({ delivery }) => delivery.id).join(',')}}`;
  return sql`WITH made AS (
    SELECT key.*, key.place AS number, text.body
    FROM unnest(${keyColumns(made.map(({ delivery }) => delivery))})
      WITH ORDINALITY AS key(chain_id, block_number, stream_id, hash, place)
    JOIN string_to_table(${bodies}, E'\n') WITH ORDINALITY AS text(body, place) USING (place)
  ), ${storing}, reported AS (
    INSERT INTO stream_match_transactions (chain_id, block_number, stream_id, block_hash, transaction_hash)
    SELECT stored.chain_id, stored.block_number, stored.stream_id, stored.block_hash, decode(of.hash, 'hex')
    FROM unnest(${reported.map(({ place }) => place)}::int[], ${hashes}::text[]) AS of(place, hash) JOIN stored ON stored.number = of.place + 1
    ON CONFLICT DO NOTHING
  )
  SELECT number, other, NULL AS due FROM stored
  UNION ALL SELECT NULL, NULL, given.id FROM unnest(${ids}::uuid[], ${requested.map(({ delivery }) => delivery.retries)}::int[]) AS given(id, retries) WHERE ${STILL_DUE}`;
}

const STORING = {
  'passed over': sql`free AS (
    SELECT m.at, key.body, key.number FROM made AS key CROSS JOIN LATERAL (
      SELECT m.ctid AS at FROM stream_matches m WHERE ${IS_OF_KEY} FOR NO KEY UPDATE SKIP LOCKED) AS m
  ), stored AS (
    UPDATE stream_matches m SET body = coalesce(m.body, free.body), matched = ''
    FROM free WHERE m.ctid = free.at AND m.ctid = ANY (ARRAY(SELECT at FROM free))
    RETURNING ${STORED}, free.number, nullif(m.body, free.body) AS other
  )`,
  // By key: the lock holder's update moved the row.
  'waited for': sql`stored AS (
    UPDATE stream_matches m SET body = coalesce(m.body, key.body), matched = ''
    FROM made AS key WHERE ${IS_OF_KEY}
    RETURNING ${STORED}, key.number, nullif(m.body, key.body) AS other
  )`,
} as const;

function keyColumns(keys: readonly MatchKey[]): Sql {
  const streamIds = `{${keys.map(({ streamId }) => streamId).join(',')}}`;
  const hashes = `{${keys.map(({ blockHash }) => blockHash.slice(2)).join(',')}}`;
  return sql`${keys.map(({ chainId }) => chainId)}::bigint[], ${keys.map(({ blockNumber }) => blockNumber)}::bigint[], ${streamIds}::uuid[], ${hashes}::text[]`;
}

/** Shared by both webhooks of a match. Names their work in the journal. */
export function matchKeyText({ chainId, blockNumber, streamId, blockHash }: MatchKey): string {
  return `${chainId} ${blockNumber} ${streamId} ${blockHash}`;
}

function itemKeyText({ chainId, blockHash }: MatchKey, { kind, place }: ItemPlace): string {
  return `${chainId}/${blockHash}/${kind}/${place}`;
}
