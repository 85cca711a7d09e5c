import { Redis } from 'ioredis';
import { SLOTS, type SlotSpending } from './rolling-window.ts';
import { ATTENDANCE_SECONDS, type SpendingStore, type StoredSpending } from './spending-store.ts';

const PREFIX = 'chainstead:limits:';
const COMMAND_TIMEOUT_MS = 1_000;

/** One hash a bucket, by slot. Scripts run alone on the server, so each report sees all before it. */
const SPEND = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local slot = math.floor(now / ARGV[2])
redis.call('HINCRBYFLOAT', KEYS[1], string.format('%.0f', slot), ARGV[1])
redis.call('PEXPIRE', KEYS[1], math.ceil(ARGV[2] * ${SLOTS}))
local told = { string.format('%.3f', now) }
local spent = redis.call('HGETALL', KEYS[1])
for at = 1, #spent, 2 do
  local age = slot - spent[at]
  -- Slots to come are those of a clock that was set back.
  if age < 0 or age >= ${SLOTS} then
    redis.call('HDEL', KEYS[1], spent[at])
  else
    told[#told + 1] = spent[at]
    told[#told + 1] = spent[at + 1]
  end
end
return told`;

const ATTEND = `
local now = redis.call('TIME')[1]
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${ATTENDANCE_SECONDS})
redis.call('EXPIRE', KEYS[1], ${ATTENDANCE_SECONDS})
return redis.call('ZCARD', KEYS[1])`;

export interface RedisSpendingStoreOptions {
  readonly redisUrl: string;
  /** Milliseconds that a command may take. @default 1000 */
  readonly commandTimeoutMs?: number;
}

/** Connects with the first report. What nobody spends of goes by itself after its window. */
export function createRedisSpendingStore(options: RedisSpendingStoreOptions): SpendingStore {
  const { redisUrl, commandTimeoutMs = COMMAND_TIMEOUT_MS } = options;
  let connection: Redis | null = null;

  function connected(): Redis {
    if (connection === null) {
      connection = new Redis(redisUrl, {
        connectionName: 'chainstead-limits',
        commandTimeout: commandTimeoutMs,
        maxRetriesPerRequest: 0,
        retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
        enableAutoPipelining: true,
      });
      // Each command fails with it, and whoever sent it tells.
      connection.on('error', () => undefined);
    }
    return connection;
  }

  return {
    name: 'Redis',
    async exchange(reports) {
      const redis = connected();
      const answers = await Promise.all(
        reports.map(({ bucket, amount, slotMs }) => redis.eval(SPEND, 1, PREFIX + bucket, amount, slotMs)),
      );
      return toStored(
        reports.map(({ bucket }) => bucket),
        answers,
      );
    },
    attend: async (process) => Number(await connected().eval(ATTEND, 1, `${PREFIX}processes`, process)),
    async close() {
      connection?.disconnect();
    },
  };
}

/** @throws TypeError where an answer is not what the script gives */
function toStored(names: readonly string[], answers: readonly unknown[]): StoredSpending {
  const buckets = new Map<string, SlotSpending[]>();
  let now = 0;
  for (const [index, answer] of answers.entries()) {
    if (!Array.isArray(answer)) throw new TypeError(`Redis answered ${typeof answer} to a report of spending`);
    const [at, ...pairs] = answer.map(Number);
    now = Math.max(now, at ?? 0);
    const spending: SlotSpending[] = [];
    for (let pair = 0; pair + 1 < pairs.length; pair += 2)
      spending.push({ slot: pairs[pair] ?? 0, amount: pairs[pair + 1] ?? 0 });
    buckets.set(names[index] ?? '', spending);
  }
  return { now, buckets };
}
