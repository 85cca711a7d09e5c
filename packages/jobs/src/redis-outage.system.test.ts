import { createLogger, createMetricsRegistry } from '@chainstead/core';
import { type ScratchRedis, startScratchRedis } from '@chainstead/testkit';
import { afterEach, expect, test, vi } from 'vitest';
import { createJobs, type Jobs } from './jobs.ts';

const redis = await startScratchRedis();
if (redis === undefined)
  process.stdout.write('NOT RUN: job queues while Redis is away (no redis-server on this machine)\n');

const schema = { parse: (input: unknown) => input };
const opened: Jobs[] = [];
afterEach(async () => {
  redis?.resume();
  await Promise.all(opened.splice(0).map((jobs) => jobs.close(500)));
});

/** Queues, what they log, and one whose schedule runs ten times a second. */
async function open({ url }: ScratchRedis, name: string) {
  const lines: { readonly level: string; readonly msg: string; readonly seconds?: number }[] = [];
  const logger = createLogger({ level: 'info', destination: { write: (line) => void lines.push(JSON.parse(line)) } });
  const metrics = createMetricsRegistry();
  const jobs = await createJobs({ redisUrl: url, logger, metrics });
  opened.push(jobs);
  const queue = jobs.queue(name, { schema, lockMs: 2_000 });
  const handler = vi.fn(async () => {});
  await queue.work(handler, { concurrency: 1 });
  await queue.schedule('often', {}, { everyMs: 100 });
  const runsAgain = () => {
    handler.mockClear();
    return vi.waitFor(() => expect(handler).toHaveBeenCalled(), { timeout: 20_000 });
  };
  const logged = (count: number) => vi.waitFor(() => expect(lines).toHaveLength(count), { timeout: 20_000 });
  const messages = () => lines.map(({ level, msg }) => `${level}: ${msg.split(':')[0]}`);
  return { queue, metrics, lines, logged, messages, runsAgain };
}

const OUTAGE = ['warn: Job queues are away', 'info: Job queues are back'];

test.runIf(redis !== undefined)(
  'a Redis that hangs holds up no scrape and no caller, and is told of twice',
  async () => {
    if (redis === undefined) return;
    const { queue, metrics, logged, messages, runsAgain } = await open(redis, 'hanging');
    await runsAgain();
    await metrics.metrics();
    redis.pause();
    await logged(1);
    const scraped = await metrics.metrics();
    expect(scraped).toContain('chainstead_jobs_depth_stale{queue="hanging"} 1');
    expect(scraped).toContain('chainstead_jobs_depth{queue="hanging",state="waiting"}');
    await expect(queue.add('one', {})).rejects.toMatchObject({ code: 'JOBS_AWAY', retryable: true });
    redis.resume();
    await logged(2);
    await runsAgain();
    expect(await metrics.metrics()).toContain('chainstead_jobs_depth_stale{queue="hanging"} 0');
    expect(messages()).toEqual(OUTAGE);
  },
);

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
