import type { ChainId, Hash } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { MatchKey } from '../delivery/delivery.ts';

/** What is stored of a match. */
export interface MatchRow {
  /** JSON; empty once the body is made. */
  readonly matched: string;
  readonly body: string | null;
  /** Unix seconds. */
  readonly blockTimestamp: number;
}

/** A body to be stored with its match. */
export interface MadeBody {
  readonly key: MatchKey;
  readonly body: string;
  readonly transactions: ReadonlySet<Hash>;
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
 * of the match may be sending it. @returns the bodies that are stored, in the order given; undefined where there is no such match
 */
export async function storeBodies(
  database: Database,
  made: readonly MadeBody[],
): Promise<readonly (string | undefined)[]> {
  const firsts = new Map(made.toReversed().map((one) => [nameOf(one.key), one]));
  const stored = await store(database, [...firsts.values()], 'SKIP LOCKED');
  for (const [name, one] of firsts) {
    // Whoever holds it, a block's transaction or another worker, is waited for without holding any other row.
    if (!stored.has(name)) for (const [key, other] of await store(database, [one], '')) stored.set(key, other);
  }
  return made.map(({ key }) => {
    const name = nameOf(key);
    return stored.has(name) ? (stored.get(name) ?? firsts.get(name)?.body) : undefined;
  });
}

/** By the match's name what is stored: null for the body as it was made. */
type Stored = Map<string, string | null>;

async function store(database: Database, made: readonly MadeBody[], locking: 'SKIP LOCKED' | ''): Promise<Stored> {
  const told = made.flatMap(({ transactions }, place) => [...transactions].map((hash) => ({ place, hash })));
  const rows = await database.query<KeyRow & { other: string | null }>(
    `WITH made AS (
       SELECT key.*, key.place AS number, text.body
       FROM unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[])
         WITH ORDINALITY AS key(chain_id, block_number, stream_id, hash, place)
       JOIN string_to_table($5, E'\\n') WITH ORDINALITY AS text(body, place) USING (place)
     ), free AS (
       SELECT m.ctid AS at, key.body, key.number FROM made AS key JOIN stream_matches m ON ${OF_MATCH}
       FOR NO KEY UPDATE OF m ${locking}
     ), stored AS (
       UPDATE stream_matches m SET body = coalesce(m.body, free.body), matched = ''
       FROM free WHERE m.ctid = free.at
       RETURNING m.chain_id, m.block_number, m.stream_id, m.block_hash, free.number, nullif(m.body, free.body) AS other
     ), told AS (
       INSERT INTO stream_match_transactions (chain_id, block_number, stream_id, block_hash, transaction_hash)
       SELECT stored.chain_id, stored.block_number, stored.stream_id, stored.block_hash, decode(of.hash, 'hex')
       FROM unnest($6::int[], $7::text[]) AS of(place, hash) JOIN stored ON stored.number = of.place + 1
       ON CONFLICT DO NOTHING
     )
     SELECT chain_id, block_number, stream_id, encode(block_hash, 'hex') AS block_hash, other FROM stored`,
    [
      ...keyColumns(made.map(({ key }) => key)),
      // As one text: pg looks at each character of an array's elements for quotes. JSON has no line breaks.
      made.map(({ body }) => body).join('\n'),
      told.map(({ place }) => place),
      told.map(({ hash }) => hash.slice(2)),
    ],
  );
  return new Map(rows.map(({ other, ...key }) => [nameOfRow(key), other]));
}

function keyColumns(keys: readonly MatchKey[]): readonly unknown[] {
  return [
    keys.map(({ chainId }) => chainId),
    keys.map(({ blockNumber }) => blockNumber),
    keys.map(({ streamId }) => streamId),
    keys.map(({ blockHash }) => blockHash.slice(2)),
  ];
}

function nameOf({ chainId, blockNumber, streamId, blockHash }: MatchKey): string {
  return `${chainId}/${blockNumber}/${streamId}/${blockHash.slice(2)}`;
}

function nameOfRow(row: KeyRow): string {
  return `${row.chain_id}/${row.block_number}/${row.stream_id}/${row.block_hash}`;
}
