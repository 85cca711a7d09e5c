import { errorText, type Logger } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { Redis } from 'ioredis';

export interface StoredHead {
  readonly head: number;
  readonly finalized: number | null;
}

/** A read that begins after `publish` resolved sees its result. Fails with the driver's errors. */
export interface HeadStore {
  read(chainId: number): Promise<StoredHead | null>;
  /** Never lowers. @returns the stored values afterwards */
  publish(chainId: number, head: StoredHead): Promise<StoredHead>;
}

/** One statement for all concurrent callers. Needs the primary: a replica lags. */
export function createPostgresHeadStore({ database }: { readonly database: Database }): HeadStore {
  const readAll = shareRuns(async () => {
    const rows = await database.query<StoredHead & { readonly chainId: number }>(
      sql`SELECT chain_id, head, finalized FROM gateway_heads`,
    );
    return new Map(rows.map(({ chainId, ...head }) => [chainId, head]));
  });
  return {
    read: async (chainId) => (await readAll()).get(chainId) ?? null,
    async publish(chainId, { head, finalized }) {
      const [stored = { head, finalized }] = await database.query<StoredHead>(
        sql`INSERT INTO gateway_heads AS kept (chain_id, head, finalized) VALUES (${chainId}, ${head}, ${finalized})
         ON CONFLICT (chain_id) DO UPDATE SET head = greatest(kept.head, excluded.head),
           finalized = greatest(kept.finalized, excluded.finalized), updated_at = now()
         RETURNING head, finalized`,
      );
      return stored;
    },
  };
}

/** Atomic: readers see both numbers of one publication. */
const PUBLISH = `
for field = 1, 2 do
  local given = tonumber(ARGV[field])
  local name = field == 1 and 'head' or 'finalized'
  local kept = tonumber(redis.call('HGET', KEYS[1], name))
  if given and (not kept or given > kept) then redis.call('HSET', KEYS[1], name, ARGV[field]) end
end
return redis.call('HMGET', KEYS[1], 'head', 'finalized')`;

/** One hash per chain. If the server loses it, the next reader publishes it again. */
export function createRedisHeadStore(options: { readonly redis: Redis; readonly prefix: string }): HeadStore {
  const { redis, prefix } = options;
  const key = (chainId: number): string => `${prefix}head:${chainId}`;
  return {
    async read(chainId) {
      return toStored(await redis.hmget(key(chainId), 'head', 'finalized'));
    },
    async publish(chainId, head) {
      const kept = await redis.eval(PUBLISH, 1, key(chainId), head.head, head.finalized ?? '');
      return (Array.isArray(kept) ? toStored(kept) : null) ?? head;
    },
  };
}

function toStored([head, finalized]: readonly unknown[]): StoredHead | null {
  if (typeof head !== 'string') return null;
  return { head: Number(head), finalized: typeof finalized === 'string' ? Number(finalized) : null };
}

/** Reconnects; meanwhile commands fail immediately. Close it with `disconnect()`. */
export function openGatewayRedis(options: {
  readonly redisUrl: string;
  readonly logger: Logger;
  /** For one command. Milliseconds. @default 1000 */
  readonly timeoutMs?: number;
}): Redis {
  const redis = new Redis(options.redisUrl, {
    connectionName: 'chainstead-gateway',
    commandTimeout: options.timeoutMs ?? 1_000,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
    enableAutoPipelining: true,
  });
  let isLost = false;
  redis.on('ready', () => {
    isLost = false;
  });
  redis.on('error', (error) => {
    if (isLost) return;
    isLost = true;
    options.logger.warn({ error: errorText(error) }, "Connection to the gateway's Redis lost");
  });
  return redis;
}

/** Each run begins after its caller's call; at most one runs and one waits. */
export function shareRuns<T>(run: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | null = null;
  let next: Promise<T> | null = null;

  function begin(): Promise<T> {
    next = null;
    const began = run().finally(() => {
      // The waiting run starts in the same turn: no call gets in between.
      if (current === began && next === null) current = null;
    });
    current = began;
    return began;
  }

  return () => {
    if (current === null) return begin();
    // The current run may have read before this call.
    next ??= current.then(begin, begin);
    return next;
  };
}
