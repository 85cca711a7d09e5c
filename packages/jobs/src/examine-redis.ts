import { errorText, type Finding, findingsOf } from '@chainstead/core';
import { Redis } from 'ioredis';

const ANSWER_MS = 5_000;
const MEMORY_LOW = 0.9;
const ROUND_TRIP_SLOW_MS = 10;

/** Whether a Redis is good for the queues: there, keeping what it is given, with room. Writes nothing; takes some seconds at most. */
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
  // What a command is told, is told by the command.
  let refusal: string | null = null;
  redis.on('error', (error) => {
    refusal = errorText(error);
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
        `no answer: ${refusal ?? errorText(error)}`,
        'Queues stand still; what they carry stays in Postgres until it is back.',
        'Check REDIS_URL, and that the server runs and lets this machine in; or unset it to keep the queues in Postgres.',
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
  const found = `Redis ${version}, a round trip takes ${ms.toFixed(1)} ms`;
  if (ms <= ROUND_TRIP_SLOW_MS) return ok(found);
  return warning(found, 'Each job takes a few of them.', 'Run the program nearer to its Redis.');
}

function eviction(policy: string | undefined): Finding {
  const { ok, bad } = findingsOf('maxmemory-policy');
  if (policy === undefined) return ok('not told by this server');
  if (policy === 'noeviction') return ok(policy);
  return bad(
    policy,
    'It deletes queued jobs when memory is short, so the program refuses it.',
    'Set maxmemory-policy to noeviction on that server.',
  );
}

function memory(used: number, max: number): Finding {
  const { ok, warning } = findingsOf('memory');
  const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1_048_576)} MB`;
  if (max === 0) return ok(`${megabytes(used)} used, without a limit of its own`);
  const found = `${megabytes(used)} of ${megabytes(max)} used`;
  if (used < MEMORY_LOW * max) return ok(found);
  return warning(found, 'When it is full, it takes no more jobs.', 'Raise maxmemory, or look which queue piles up.');
}

function persistence(info: string): Finding {
  const { ok, warning } = findingsOf('persistence');
  if (lineOf(info, 'rdb_last_bgsave_status') === 'err' || lineOf(info, 'aof_last_write_status') === 'err')
    return warning(
      'it can’t write to its disk',
      'By default it takes no writes then.',
      'Look at its log, and at the space on its disk.',
    );
  return ok(
    lineOf(info, 'aof_enabled') === '1'
      ? 'append-only file'
      : 'snapshots, or none; nothing is lost: rows in Postgres are the truth',
  );
}
