import { type Database, type Sql, sql } from '@chainstead/db';

export interface AnswerAddress {
  readonly chainId: number;
  /** SHA-256 of the canonical call. */
  readonly callHash: Buffer;
}

export interface StoredAnswer extends AnswerAddress {
  /** JSON text. */
  readonly result: Buffer;
}

export interface AnswerStoreLimits {
  readonly days: number;
  /** Approximate. Removes the oldest first. @default 1 GiB */
  readonly bytes: number;
}

const DEFAULT_STORE_LIMITS: AnswerStoreLimits = { days: 30, bytes: 1024 * 1024 * 1024 };

/** Final responses, for all processes and across restarts. Fails with the driver's errors. */
export interface AnswerStore {
  /** In request order; null if not stored. */
  read(wanted: readonly AnswerAddress[]): Promise<(Buffer | null)[]>;
  write(answers: readonly StoredAnswer[]): Promise<void>;
  /** In small steps. @returns the number of removed responses */
  prune(pause: () => Promise<void>): Promise<number>;
}

const removeOldest = (condition: Sql): Sql => sql`WITH oldest AS (
    SELECT chain_id, call_hash FROM gateway_answers WHERE ${condition} ORDER BY stored_at LIMIT ${STEP_ROWS} FOR UPDATE SKIP LOCKED
  ), removed AS (
    DELETE FROM gateway_answers kept USING oldest
    WHERE kept.chain_id = oldest.chain_id AND kept.call_hash = oldest.call_hash RETURNING pg_column_size(kept.result) AS size
  ) SELECT count(*) AS answers, coalesce(sum(size), 0)::bigint AS bytes FROM removed`;

const STEP_ROWS = 1_000;
const STEPS_UNTIL_READ = 10;
const ROW_BYTES = 180;
const SAMPLE_BYTES = 4 * 1024 * 1024;

export function createAnswerStore(options: {
  readonly database: Database;
  readonly limits?: Partial<AnswerStoreLimits>;
}): AnswerStore {
  const { database } = options;
  const limits = { ...DEFAULT_STORE_LIMITS, ...options.limits };

  /** Removed rows leave holes in the table: rows times the mean of a sample. */
  async function surplus(): Promise<number> {
    const [relation] = await database.query<{ bytes: number; heap: number }>(
      sql`SELECT pg_total_relation_size('gateway_answers') AS bytes, pg_relation_size('gateway_answers') AS heap`,
    );
    if (relation === undefined || relation.bytes <= limits.bytes) return 0;
    const percent = Math.min(100, (100 * SAMPLE_BYTES) / Math.max(relation.heap, 1));
    const [held] = await database.query<{ bytes: number | null }>(
      sql`SELECT (
         (SELECT count(*) FROM gateway_answers) *
         (SELECT coalesce(avg(pg_column_size(result)), 0) + ${ROW_BYTES} FROM gateway_answers TABLESAMPLE SYSTEM (${percent}))
       )::bigint AS bytes`,
    );
    return (held?.bytes ?? 0) - limits.bytes;
  }

  async function remove(condition: Sql): Promise<{ answers: number; bytes: number }> {
    const [removed] = await database.query<{ answers: number; bytes: number }>(removeOldest(condition));
    const { answers = 0, bytes = 0 } = removed ?? {};
    return { answers, bytes: bytes + answers * ROW_BYTES };
  }

  return {
    async read(wanted) {
      const results: (Buffer | null)[] = wanted.map(() => null);
      const chainIds = wanted.map(({ chainId }) => chainId);
      const hashes = wanted.map(({ callHash }) => callHash);
      const rows = await database.query<{ place: number; result: Buffer }>(
        sql`SELECT wanted.place, kept.result
         FROM unnest(${chainIds}::bigint[], ${hashes}::bytea[]) WITH ORDINALITY AS wanted (chain_id, call_hash, place)
         JOIN gateway_answers kept USING (chain_id, call_hash)`,
      );
      for (const { place, result } of rows) results[place - 1] = result;
      return results;
    },
    async write(answers) {
      const chainIds = answers.map(({ chainId }) => chainId);
      const hashes = answers.map(({ callHash }) => callHash);
      const results = answers.map(({ result }) => result);
      await database.query(
        sql`INSERT INTO gateway_answers (chain_id, call_hash, result)
         SELECT * FROM unnest(${chainIds}::bigint[], ${hashes}::bytea[], ${results}::bytea[]) ON CONFLICT DO NOTHING`,
      );
    },
    async prune(pause) {
      let answers = 0;
      for (;;) {
        const removed = await remove(sql`stored_at < now() - make_interval(days => ${limits.days})`);
        answers += removed.answers;
        if (removed.answers < STEP_ROWS) break;
        await pause();
      }
      let left = await surplus();
      for (let steps = 1; left > 0; steps++) {
        const removed = await remove(sql`true`);
        if (removed.answers === 0) break;
        answers += removed.answers;
        left = steps % STEPS_UNTIL_READ === 0 ? await surplus() : left - removed.bytes;
        await pause();
      }
      return answers;
    },
  };
}
