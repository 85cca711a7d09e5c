/** Wrong responses by day in `upstream_mismatches`; repairs by block in `upstream_errors`. */
import { type Database, type Sql, sql } from '@chainstead/db';

export interface CountedWrongAnswers {
  readonly chain: string;
  readonly upstream: string;
  readonly kind: string;
  readonly occurrences: number;
  readonly method: string;
  readonly description: string;
  readonly seenAt: Date;
}

const DESCRIPTION_MAX = 300;
const NAME_MAX = 300;
const KEPT_DAYS = 366;

// The same order everywhere prevents deadlocks.
function addition(day: Date, rows: readonly CountedWrongAnswers[]): Sql {
  return sql`INSERT INTO upstream_mismatches (day, chain, upstream, kind, occurrences, method, description, seen_at)
SELECT ${day.toISOString().slice(0, 10)}::date, chain, upstream, kind, occurrences, method, description, "seenAt"
FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
  AS seen (chain text, upstream text, kind text, occurrences bigint, method text, description text, "seenAt" timestamptz)
ORDER BY chain, upstream, kind
ON CONFLICT (day, chain, upstream, kind) DO UPDATE SET
  occurrences = upstream_mismatches.occurrences + excluded.occurrences,
  method = excluded.method, description = excluded.description,
  seen_at = greatest(upstream_mismatches.seen_at, excluded.seen_at)`;
}

/** `day` is UTC. Also deletes those older than a year. */
export async function addWrongAnswers(
  database: Database,
  day: Date,
  answers: readonly CountedWrongAnswers[],
): Promise<void> {
  const rows = answers.map((answer) => ({
    ...answer,
    upstream: storable(answer.upstream, NAME_MAX),
    method: storable(answer.method, NAME_MAX),
    description: storable(answer.description, DESCRIPTION_MAX),
  }));
  await database.query(addition(day, rows));
  await database.query(
    sql`DELETE FROM upstream_mismatches WHERE day < (now() AT TIME ZONE 'UTC')::date - ${KEPT_DAYS}::integer`,
  );
}

/** Postgres can't store null characters. */
function storable(text: string, max: number): string {
  return text.slice(0, max).replaceAll('\0', '').toWellFormed();
}

export interface WrongAnswerRecord extends CountedWrongAnswers {
  /** Null: record of a day. */
  readonly block: number | null;
  readonly cursor: WrongAnswerCursor;
}

export interface WrongAnswerCursor {
  /** Microseconds since the epoch. */
  readonly seenAt: number;
  readonly key: string;
}

// Each side uses its index by time; equal microseconds are ordered by key.
function latestBefore(before: WrongAnswerCursor | null, limit: number): Sql {
  const rows = sql`${limit}`;
  return sql`WITH requested AS (SELECT coalesce(to_timestamp(${before?.seenAt ?? null}::float8 / 1000000), 'infinity') AS seen_at, ${before?.key ?? null}::text AS key)
SELECT chain, upstream, kind, occurrences::float8 AS occurrences, method, description, seen_at, block,
  json_build_object('seenAt', round(extract(epoch FROM seen_at) * 1000000)::bigint, 'key', key) AS cursor
FROM (
  (SELECT chain, upstream, kind, occurrences, method, description, upstream_mismatches.seen_at, NULL::float8 AS block,
     concat_ws(' ', 'day', day, chain, upstream, kind) AS key
   FROM upstream_mismatches, requested
   WHERE upstream_mismatches.seen_at <= requested.seen_at
     AND (upstream_mismatches.seen_at < requested.seen_at OR concat_ws(' ', 'day', day, chain, upstream, kind) < requested.key)
   ORDER BY upstream_mismatches.seen_at DESC, key DESC LIMIT ${rows})
  UNION ALL
  (SELECT coalesce(sync_chains.chain_key, faults.chain_id::text), upstream, kind, occurrences, 'verification', facts::text,
     faults.seen_at, block_number::float8,
     concat_ws(' ', 'block', faults.chain_id, upstream, kind, block_number) AS key
   FROM upstream_errors AS faults LEFT JOIN sync_chains USING (chain_id), requested
   WHERE faults.seen_at <= requested.seen_at
     AND (faults.seen_at < requested.seen_at
       OR concat_ws(' ', 'block', faults.chain_id, upstream, kind, block_number) < requested.key)
   ORDER BY faults.seen_at DESC, key DESC LIMIT ${rows})
) AS both_of ORDER BY seen_at DESC, key DESC LIMIT ${rows}`;
}

/** Newest first. Null: from the newest. */
export function listWrongAnswers(
  database: Pick<Database, 'query'>,
  before: WrongAnswerCursor | null,
  limit: number,
): Promise<WrongAnswerRecord[]> {
  return database.query<WrongAnswerRecord>(latestBefore(before, limit));
}
