import { createLogger, createMetricsRegistry, silentLogger } from '@chainstead/core';
import { type ScratchRedis, startScratchRedis } from '@chainstead/testkit';
import { afterEach, expect, test, vi } from 'vitest';
import { createSchedules, type Schedules } from './schedules.ts';

const redis = await startScratchRedis();
const evicting = await startScratchRedis({ maxmemoryPolicy: 'allkeys-lru' });
if (redis === undefined || evicting === undefined)
  process.stdout.write('NOT RUN: schedules while Redis is away (no redis-server on this machine)\n');

const opened: Schedules[] = [];
afterEach(async () => {
  redis?.resume();
  await Promise.all(opened.splice(0).map((schedules) => schedules.close(500)));
});

/** Starts a schedule that runs ten times per second, and collects its log lines. */
async function open({ url }: ScratchRedis, name: string) {
  const lines: { readonly level: string; readonly msg: string; readonly seconds?: number }[] = [];
  const logger = createLogger({
    level: 'info',
    destination: { write: (line) => void lines.push(JSON.parse(line)) },
  });
  const schedules = await createSchedules({
    databaseUrl: '',
    redisUrl: url,
    logger,
    metrics: createMetricsRegistry(),
  });
  opened.push(schedules);
  const run = vi.fn(async () => {});
  await schedules.start([{ name, everyMs: 100, run }]);
  const runsAgain = () => {
    run.mockClear();
    return vi.waitFor(() => expect(run).toHaveBeenCalled(), { timeout: 20_000 });
  };
  const logged = (count: number) => vi.waitFor(() => expect(lines).toHaveLength(count), { timeout: 20_000 });
  const messages = () => lines.map(({ level, msg }) => `${level}: ${msg.split(':')[0]}`);
  return { lines, logged, messages, runsAgain };
}

const OUTAGE = ['warn: Redis is unavailable', 'info: Redis is available again'];

test.runIf(redis !== undefined)('a Redis that hangs is reported twice, and the schedule continues', async () => {
  if (redis === undefined) return;
  const { logged, messages, runsAgain } = await open(redis, 'hanging');
  await runsAgain();
  redis.pause();
  await logged(1);
  redis.resume();
  await logged(2);
  await runsAgain();
  expect(messages()).toEqual(OUTAGE);
});

test.runIf(redis !== undefined)('a Redis that comes back empty gets its schedules again', async () => {
  if (redis === undefined) return;
  const { lines, logged, messages, runsAgain } = await open(redis, 'emptied');
  await runsAgain();
  await redis.stop();
  await logged(1);
  await redis.restart();
  await runsAgain();
  await logged(3);
  expect(messages()).toEqual([...OUTAGE, 'warn: Schedule was lost and is made again']);
  expect(lines[1]?.seconds).toEqual(expect.any(Number));
});

test.runIf(redis !== undefined)('a Redis that is away at the start is used once it is there', async () => {
  if (redis === undefined) return;
  await redis.stop();
  const { messages, runsAgain } = await open(redis, 'late');
  expect(messages()).toEqual(OUTAGE.slice(0, 1));
  await redis.restart();
  await runsAgain();
  expect(messages().filter((message) => !message.includes('Schedule'))).toEqual(OUTAGE);
  await redis.stop();
});

test.runIf(evicting !== undefined)('a Redis that evicts keys is refused', async () => {
  const options = { databaseUrl: '', logger: silentLogger(), metrics: createMetricsRegistry() };
  try {
    await expect(createSchedules({ ...options, redisUrl: evicting?.url ?? '' })).rejects.toMatchObject({
      code: 'JOBS_REDIS_EVICTS',
      facts: { maxmemory_policy: 'allkeys-lru' },
      message: expect.stringContaining('noeviction'),
    });
  } finally {
    await evicting?.stop();
  }
});
