import type { ChainId, Hash } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { Delivery, MatchKey } from '../delivery/delivery.ts';
import { areStillDue, STILL_DUE } from '../delivery/waiting-delivery.ts';

/** What is stored of a match. */
export interface MatchRow {
  /** JSON; empty once the body is made. */
  readonly matched: string;
  readonly body: string | null;
  /** Unix seconds. */
  readonly blockTimestamp: number;
}

/** A body to be stored with its match, made for a delivery of it. */
export interface MadeBody {
  readonly delivery: Delivery;
  readonly body: string;
  readonly transactions: ReadonlySet<Hash>;
}

/** What is stored of a match once its body was to be. */
export interface StoredBody {
  readonly body: string;
  /** Whether the delivery that it was made for is still to be sent. */
  readonly isDue: boolean;
}

interface KeyRow {
  readonly stream_id: string;
  readonly chain_id: ChainId;
  readonly block_number: number;
  readonly block_hash: string;
}

const KEYS =
  'unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[]) AS key(chain_id, block_number, stream_id, hash)';
const OF_MATCH = `m.chain_id = key.chain_id AND m.block_number = key.block_number AND m.stream_id = key.stream_id
  AND m.block_hash = decode(key.hash, 'hex')`;

/** In the order of the keys; undefined where nothing is stored. */
export async function readMatchRows(
  database: Database,
  keys: readonly MatchKey[],
): Promise<readonly (MatchRow | undefined)[]> {
  const rows = await database.query<KeyRow & { matched: string; body: string | null; block_timestamp: Date }>(
    `SELECT key.chain_id, key.block_number, key.stream_id, key.hash AS block_hash, m.matched, m.body, m.block_timestamp
     FROM ${KEYS} JOIN stream_matches m ON ${OF_MATCH}`,
    keyColumns(keys),
  );
  const byKey = new Map(
    rows.map(({ matched, body, block_timestamp, ...key }) => [
      nameOfRow(key),
      { matched, body, blockTimestamp: Math.floor(block_timestamp.getTime() / 1_000) },
    ]),
  );
  return keys.map((key) => byKey.get(nameOf(key)));
}

/**
 * Stores bodies with the transactions that they tell of. Where another one is stored already, that one stays: the other delivery
 * of the match may be sending it. @returns what is stored, in the order given; undefined where there is no such match
 */
export async function storeBodies(
  database: Database,
  made: readonly MadeBody[],
): Promise<readonly (StoredBody | undefined)[]> {
  const firsts = new Map(made.toReversed().map((one) => [nameOf(one.delivery), one]));
  const free = [...firsts.values()];
  const { bodies, due } = await store(database, free, { held: 'passed over', asked: made });
  for (const [name, one] of firsts) {
    if (bodies.has(name)) continue;
    // Whoever holds it, a block's transaction or another worker, is waited for without holding any other row.
    const later = await store(database, [one], { held: 'waited for', asked: [] });
    for (const [key, body] of later.bodies) bodies.set(key, body);
    const waited = made.map(({ delivery }) => delivery).filter((delivery) => nameOf(delivery) === name);
    const isDue = await areStillDue(database, waited);
    for (const [index, { id }] of waited.entries())
      if (isDue[index] === true) due.add(id);
      else due.delete(id);
  }
  return made.map(({ delivery }) => {
    const body = bodies.get(nameOf(delivery));
    return body === undefined ? undefined : { body, isDue: due.has(delivery.id) };
  });
}

interface Stored {
  /** By the match's name. */
  readonly bodies: Map<string, string>;
  /** Which of the deliveries that were asked about are still to be sent. */
  readonly due: Set<string>;
}

async function store(
  database: Database,
  made: readonly MadeBody[],
  options: { readonly held: keyof typeof STORE_BODIES; readonly asked: readonly MadeBody[] },
): Promise<Stored> {
  const told = made.flatMap(({ transactions }, place) => [...transactions].map((hash) => ({ place, hash })));
  const rows = await database.query<{ number: number | null; other: string | null; due: string | null }>(
    STORE_BODIES[options.held],
    [
      ...keyColumns(made.map(({ delivery }) => delivery)),
      // As one text: pg looks at each character of an array's elements for quotes. JSON has no line breaks.
      made.map(({ body }) => body).join('\n'),
      told.map(({ place }) => place),
      `{${told.map(({ hash }) => hash.slice(2)).join(',')}}`,
      `{${options.asked.map(({ delivery }) => delivery.id).join(',')}}`,
      options.asked.map(({ delivery }) => delivery.retries),
    ],
  );
  const bodies = new Map<string, string>();
  const due = new Set<string>();
  for (const { number, other, due: id } of rows) {
    const one = number === null ? undefined : made[number - 1];
    if (one !== undefined) bodies.set(nameOf(one.delivery), other ?? one.body);
    if (id !== null) due.add(id);
  }
  return { bodies, due };
}

const STORED = 'm.chain_id, m.block_number, m.stream_id, m.block_hash';

/**
 * Gives the place of each match that is stored, from 1 on, with its body where it is another one; and what is still due.
 * @param storing CTEs that store bodies of `made`; the last is `stored`
 */
const storeStatement = (storing: string): string => `WITH made AS (
    SELECT key.*, key.place AS number, text.body
    FROM unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[])
      WITH ORDINALITY AS key(chain_id, block_number, stream_id, hash, place)
    JOIN string_to_table($5, E'\n') WITH ORDINALITY AS text(body, place) USING (place)
  ), ${storing}, told AS (
    INSERT INTO stream_match_transactions (chain_id, block_number, stream_id, block_hash, transaction_hash)
    SELECT stored.chain_id, stored.block_number, stored.stream_id, stored.block_hash, decode(of.hash, 'hex')
    FROM unnest($6::int[], $7::text[]) AS of(place, hash) JOIN stored ON stored.number = of.place + 1
    ON CONFLICT DO NOTHING
  )
  SELECT number, other, NULL AS due FROM stored
  UNION ALL SELECT NULL, NULL, given.id FROM unnest($8::uuid[], $9::int[]) AS given(id, retries) WHERE ${STILL_DUE}`;

/** By what becomes of matches that somebody else holds. */
const STORE_BODIES = {
  'passed over': storeStatement(`free AS (
    SELECT m.ctid AS at, key.body, key.number FROM made AS key JOIN stream_matches m ON ${OF_MATCH}
    FOR NO KEY UPDATE OF m SKIP LOCKED
  ), stored AS (
    UPDATE stream_matches m SET body = coalesce(m.body, free.body), matched = ''
    FROM free WHERE m.ctid = free.at
    RETURNING ${STORED}, free.number, nullif(m.body, free.body) AS other
  )`),
  // By its key: what the holder changed lies in another place afterwards.
  'waited for': storeStatement(`stored AS (
    UPDATE stream_matches m SET body = coalesce(m.body, key.body), matched = ''
    FROM made AS key WHERE ${OF_MATCH}
    RETURNING ${STORED}, key.number, nullif(m.body, key.body) AS other
  )`),
} as const;

function keyColumns(keys: readonly MatchKey[]): readonly unknown[] {
  return [
    keys.map(({ chainId }) => chainId),
    keys.map(({ blockNumber }) => blockNumber),
    `{${keys.map(({ streamId }) => streamId).join(',')}}`,
    `{${keys.map(({ blockHash }) => blockHash.slice(2)).join(',')}}`,
  ];
}

function nameOf({ chainId, blockNumber, streamId, blockHash }: MatchKey): string {
  return `${chainId}/${blockNumber}/${streamId}/${blockHash.slice(2)}`;
}

function nameOfRow(row: KeyRow): string {
  return `${row.chain_id}/${row.block_number}/${row.stream_id}/${row.block_hash}`;
}
