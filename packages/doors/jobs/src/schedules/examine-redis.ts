import { errorText, type Finding, findingsOf } from '@chainstead/core';
import { Redis } from 'ioredis';

const ANSWER_MS = 5_000;
const MEMORY_LOW = 0.9;
const ROUND_TRIP_SLOW_MS = 10;

export async function examineRedis(redisUrl: string): Promise<Finding[]> {
  const connection = findingsOf('connection');
  const redis = new Redis(redisUrl, {
    lazyConnect: true,
    connectTimeout: ANSWER_MS,
    commandTimeout: ANSWER_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectionName: 'chainstead-doctor',
  });
  let refusal: unknown;
  redis.on('error', (error) => {
    refusal = error;
  });
  try {
    await redis.connect();
    const startedAt = performance.now();
    await redis.ping();
    const ms = performance.now() - startedAt;
    const info = await redis.info();
    return [
      nearness(ms, lineOf(info, 'redis_version') ?? 'unknown'),
      eviction(lineOf(info, 'maxmemory_policy')),
      memory(Number(lineOf(info, 'used_memory') ?? 0), Number(lineOf(info, 'maxmemory') ?? 0)),
      persistence(info),
    ];
  } catch (error) {
    return [
      connection.bad(
        `no answer: ${errorText(refusal ?? error)}`,
        'Schedules wait until Redis is available. All other work is in Postgres.',
        'Check REDIS_URL, the Redis server, and access from this machine. Or unset REDIS_URL to store schedules in Postgres.',
      ),
    ];
  } finally {
    redis.disconnect();
  }
}

function lineOf(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
}

function nearness(ms: number, version: string): Finding {
  const { ok, warning } = findingsOf('connection');
  const text = `Redis ${version}, a round trip takes ${ms.toFixed(1)} ms`;
  if (ms <= ROUND_TRIP_SLOW_MS) return ok(text);
  return warning(text, 'Each job takes a few round trips.', 'Run Chainstead closer to its Redis server.');
}

function eviction(policy: string | undefined): Finding {
  const { ok, bad } = findingsOf('maxmemory-policy');
  if (policy === undefined) return ok('not reported by this server');
  if (policy === 'noeviction') return ok(policy);
  return bad(
    policy,
    'Redis deletes queued jobs when memory is short, so Chainstead does not use it.',
    'Set maxmemory-policy to noeviction on this server.',
  );
}

function memory(used: number, max: number): Finding {
  const { ok, warning } = findingsOf('memory');
  const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1_048_576)} MB`;
  if (max === 0) return ok(`${megabytes(used)} used, no maxmemory limit`);
  const text = `${megabytes(used)} of ${megabytes(max)} used`;
  if (used < MEMORY_LOW * max) return ok(text);
  return warning(
    text,
    'When memory is full, Redis accepts no writes, and schedules stop.',
    'Raise maxmemory, or find out what uses the memory.',
  );
}

function persistence(info: string): Finding {
  const { ok, warning } = findingsOf('persistence');
  if (lineOf(info, 'rdb_last_bgsave_status') === 'err' || lineOf(info, 'aof_last_write_status') === 'err')
    return warning(
      'Redis can’t write to its disk',
      'By default, Redis then accepts no writes.',
      'Check the Redis log and the free space on its disk.',
    );
  return ok(
    lineOf(info, 'aof_enabled') === '1'
      ? 'append-only file'
      : 'snapshots, or none; nothing can get lost: Postgres has all work',
  );
}
