/** Who was caught in which wrong answer, and when: by day in `wrong_answers`, and by block, of repairs, in `upstream_faults`. */
import type { Database } from '@chainstead/db';

/** Wrong answers of one kind of one upstream within a day. */
export interface CountedWrongAnswers {
  /** As in `CHAINS`. */
  readonly chain: string;
  readonly upstream: string;
  readonly kind: string;
  readonly occurrences: number;
  /** Of the last one. */
  readonly method: string;
  readonly description: string;
  readonly seenAt: Date;
}

/** As long as a person needs to read; nodes may write more. */
const DESCRIPTION_MAX = 300;
const NAME_MAX = 300;
const KEPT_DAYS = 366;

// In one order everywhere, so that two processes never wait for each other's rows.
const ADD_SQL = `INSERT INTO wrong_answers (day, chain, upstream, kind, occurrences, method, description, seen_at)
SELECT $1::date, chain, upstream, kind, occurrences, method, description, "seenAt"
FROM jsonb_to_recordset($2::jsonb)
  AS seen (chain text, upstream text, kind text, occurrences bigint, method text, description text, "seenAt" timestamptz)
ORDER BY chain, upstream, kind
ON CONFLICT (day, chain, upstream, kind) DO UPDATE SET
  occurrences = wrong_answers.occurrences + excluded.occurrences,
  method = excluded.method, description = excluded.description,
  seen_at = greatest(wrong_answers.seen_at, excluded.seen_at)`;

/** Adds those of one day (UTC), and forgets what is older than a year. */
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
  await database.query(ADD_SQL, [day.toISOString().slice(0, 10), JSON.stringify(rows)]);
  await database.query(`DELETE FROM wrong_answers WHERE day < (now() AT TIME ZONE 'UTC')::date - $1::integer`, [
    KEPT_DAYS,
  ]);
}

/** Postgres stores no null characters. */
function storable(text: string, max: number): string {
  return text.slice(0, max).replaceAll('\0', '').toWellFormed();
}

/** Wrong answers of a day, or the repair of a block that an upstream had given wrongly. */
export interface WrongAnswerRecord extends CountedWrongAnswers {
  /** Of a repair; null: of a day. */
  readonly block: number | null;
  /** For the next page. */
  readonly cursor: WrongAnswerCursor;
}

/** A place in the list. */
export interface WrongAnswerCursor {
  /** Microseconds since the epoch. */
  readonly seenAt: number;
  readonly key: string;
}

interface RecordRow extends CountedWrongAnswers {
  readonly block: number | null;
  readonly micros: number;
  readonly key: string;
}

// Each side by its index of times; what is of the same microsecond is ordered by its key.
const LIST_SQL = `WITH asked AS (SELECT coalesce(to_timestamp($1::float8 / 1000000), 'infinity') AS seen_at, $2::text AS key)
SELECT chain, upstream, kind, occurrences::float8 AS occurrences, method, description, seen_at AS "seenAt", block,
  round(extract(epoch FROM seen_at) * 1000000)::float8 AS micros, key
FROM (
  (SELECT chain, upstream, kind, occurrences, method, description, wrong_answers.seen_at, NULL::float8 AS block,
     concat_ws(' ', 'day', day, chain, upstream, kind) AS key
   FROM wrong_answers, asked
   WHERE wrong_answers.seen_at <= asked.seen_at
     AND (wrong_answers.seen_at < asked.seen_at OR concat_ws(' ', 'day', day, chain, upstream, kind) < asked.key)
   ORDER BY wrong_answers.seen_at DESC, key DESC LIMIT $3)
  UNION ALL
  (SELECT coalesce(sync_chains.chain_key, faults.chain_id::text), upstream, kind, occurrences, 'verification', facts::text,
     faults.seen_at, block_number::float8,
     concat_ws(' ', 'block', faults.chain_id, upstream, kind, block_number) AS key
   FROM upstream_faults AS faults LEFT JOIN sync_chains USING (chain_id), asked
   WHERE faults.seen_at <= asked.seen_at
     AND (faults.seen_at < asked.seen_at
       OR concat_ws(' ', 'block', faults.chain_id, upstream, kind, block_number) < asked.key)
   ORDER BY faults.seen_at DESC, key DESC LIMIT $3)
) AS both_of ORDER BY seen_at DESC, key DESC LIMIT $3`;

/** The newest first. @param before the cursor of the last one that is known; null: from the newest on */
export async function listWrongAnswers(
  database: Pick<Database, 'query'>,
  before: WrongAnswerCursor | null,
  limit: number,
): Promise<WrongAnswerRecord[]> {
  const rows = await database.query<RecordRow>(LIST_SQL, [before?.seenAt ?? null, before?.key ?? null, limit]);
  return rows.map(({ micros, key, ...row }) => ({ ...row, cursor: { seenAt: micros, key } }));
}
