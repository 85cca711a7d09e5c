import { type Database, type Sql, sql } from '@chainstead/db';
import type { Redis } from 'ioredis';

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

export function createPostgresAnswerStore(options: {
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

const ANSWER_BYTES = 200;
/** Up to ARGV[1], from before ARGV[2] (milliseconds) or above ARGV[3] bytes. */
const REMOVE = `
local function removeOldest(most, before, bytes)
  local removed = 0
  while removed < most do
    local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
    if not oldest[1] then redis.call('SET', KEYS[2], 0) break end
    local held = tonumber(redis.call('GET', KEYS[2]) or '0')
    if tonumber(oldest[2]) >= before and held <= bytes then break end
    local size = redis.call('STRLEN', oldest[1])
    redis.call('DEL', oldest[1])
    redis.call('ZREM', KEYS[1], oldest[1])
    redis.call('DECRBY', KEYS[2], size + ${ANSWER_BYTES})
    removed = removed + 1
  end
  return removed
end`;
const PRUNE = `${REMOVE}
return removeOldest(tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]))`;
const WRITE = `${REMOVE}
for place = 3, #KEYS do
  local result = ARGV[place]
  if redis.call('SET', KEYS[place], result, 'NX') then
    redis.call('ZADD', KEYS[1], ARGV[1], KEYS[place])
    redis.call('INCRBY', KEYS[2], #result + ${ANSWER_BYTES})
  end
end
return removeOldest(2 * #KEYS, 0, tonumber(ARGV[2]))`;

const STEP_ANSWERS = 200;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Removes the oldest above the limit: the server has no eviction. Not for a cluster. */
export function createRedisAnswerStore(options: {
  readonly redis: Redis;
  readonly prefix: string;
  readonly limits?: Partial<AnswerStoreLimits>;
  readonly clock: { now(): number };
}): AnswerStore {
  const { redis, prefix, clock } = options;
  const limits = { ...DEFAULT_STORE_LIMITS, ...options.limits };
  const index = [`${prefix}answers`, `${prefix}answers:bytes`];
  const keyOf = ({ chainId, callHash }: AnswerAddress): string =>
    `${prefix}answer:${chainId}:${callHash.toString('base64url')}`;
  return {
    read: (wanted) => redis.mgetBuffer(wanted.map(keyOf)),
    async write(answers) {
      const keys = [...index, ...answers.map(keyOf)];
      await redis.eval(
        WRITE,
        keys.length,
        ...keys,
        clock.now(),
        limits.bytes,
        ...answers.map(({ result }) => result),
      );
    },
    async prune(pause) {
      let answers = 0;
      for (;;) {
        const before = clock.now() - limits.days * DAY_MS;
        const removed = Number(await redis.eval(PRUNE, 2, ...index, STEP_ANSWERS, before, limits.bytes));
        answers += removed;
        if (removed < STEP_ANSWERS) return answers;
        await pause();
      }
    },
  };
}
