import type { Redis } from 'ioredis';
import {
  type AnswerAddress,
  type AnswerStore,
  type AnswerStoreLimits,
  DEFAULT_STORE_LIMITS,
} from './answer-store.ts';

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
