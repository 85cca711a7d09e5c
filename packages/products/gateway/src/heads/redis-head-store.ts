import type { Redis } from 'ioredis';
import type { HeadStore, StoredHead } from './head-store.ts';

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
