import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ChainsteadError, createMetricsRegistry, silentLogger } from '@chainstead/core';
import { DatabaseUnavailableError } from '@chainstead/db';
import { createScratchDatabase, type ScratchDatabase, startScratchRedis } from '@chainstead/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { JobError, jobsAway } from './job-error.ts';
import { createJobs, type Jobs, type JobsOptions } from './jobs.ts';
import type { PayloadSchema } from './payload-schema.ts';

interface Greeting {
  readonly name: string;
}

const greeting: PayloadSchema<Greeting> = {
  parse(input) {
    if (typeof input === 'object' && input !== null && 'name' in input && typeof input.name === 'string') {
      return { name: input.name };
    }
    throw new TypeError('a greeting has a name');
  },
};

const testRedisUrl = process.env.TEST_REDIS_URL;
const ownRedis = testRedisUrl === undefined ? await startScratchRedis() : undefined;
const redisUrl = testRedisUrl ?? ownRedis?.url;
if (redisUrl === undefined) {
  process.stdout.write('NOT RUN: job queues on Redis (no redis-server on this machine, and no TEST_REDIS_URL)\n');
}
let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(async () => {
  await scratch.drop();
  await ownRedis?.stop();
});

const backends = redisUrl === undefined ? (['postgres'] as const) : (['postgres', 'redis'] as const);

describe.each(backends)('job queues on %s', (backend) => {
  const opened: Jobs[] = [];
  let metrics = createMetricsRegistry();

  function home(): Pick<JobsOptions, 'databaseUrl' | 'redisUrl'> {
    return backend === 'redis' && redisUrl !== undefined ? { redisUrl } : { databaseUrl: scratch.url };
  }
  async function open(): Promise<Jobs> {
    metrics = createMetricsRegistry();
    const jobs = await createJobs({ ...home(), logger: silentLogger(), metrics });
    opened.push(jobs);
    return jobs;
  }
  let queues = 0;
  function freshName(): string {
    queues += 1;
    return `${backend}-${process.pid}-${queues}`;
  }
  async function outcomes(queue: string, outcome: string): Promise<number> {
    const all = await metrics.getSingleMetric('chainstead_jobs_total')?.get();
    return all?.values.find(({ labels }) => labels.queue === queue && labels.outcome === outcome)?.value ?? 0;
  }

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((jobs) => jobs.close()));
  });

  test('a job reaches its handler with id, payload and attempt, and leaves the queue', async () => {
    const queue = (await open()).queue(freshName(), { schema: greeting });
    const handler = vi.fn(async () => {});
    await queue.work(handler, { concurrency: 1 });
    await queue.add('8453:0xabc', { name: 'Ada' });
    await queue.addBulk([
      { id: '12', payload: { name: 'Bo' } },
      { id: '50%:%3A', payload: { name: 'Cy' } },
    ]);
    await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(3));
    const expected = { attempt: 1, signal: expect.any(AbortSignal) };
    expect(handler.mock.calls).toEqual(
      expect.arrayContaining([
        [{ id: '8453:0xabc', payload: { name: 'Ada' }, ...expected }],
        [{ id: '12', payload: { name: 'Bo' }, ...expected }],
        [{ id: '50%:%3A', payload: { name: 'Cy' }, ...expected }],
      ]),
    );
    await vi.waitFor(async () => expect(await queue.depth()).toEqual({ waiting: 0, active: 0, delayed: 0, failed: 0 }));
    expect(await outcomes(queue.name, 'completed')).toBe(3);
  });

  test('an id that waits is not added twice, and one that completed may come again', async () => {
    const queue = (await open()).queue(freshName(), { schema: greeting });
    await queue.add('same', { name: 'first' });
    await queue.add('same', { name: 'second' });
    await queue.addBulk([{ id: 'same', payload: { name: 'third' } }]);
    expect((await queue.depth()).waiting).toBe(1);
    const seen: string[] = [];
    await queue.work(async ({ payload }) => void seen.push(payload.name), { concurrency: 1 });
    await vi.waitFor(async () => expect(await queue.depth()).toMatchObject({ waiting: 0, active: 0 }));
    await queue.add('same', { name: 'later' });
    await vi.waitFor(() => expect(seen).toEqual(['first', 'later']));
  });

  test('a failed attempt is repeated after its delay, until the attempts are used up', async () => {
    const queue = (await open()).queue(freshName(), {
      schema: greeting,
      attempts: 3,
      backoff: (attempt) => 60 * attempt,
    });
    const starts: { attempt: number; at: number }[] = [];
    await queue.work(
      async ({ attempt }) => {
        starts.push({ attempt, at: performance.now() });
        throw new Error('refused');
      },
      { concurrency: 1 },
    );
    await queue.add('doomed', { name: 'x' });
    await vi.waitFor(async () => expect(await outcomes(queue.name, 'failed')).toBe(1));
    expect(starts.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    const [first, second, third] = starts.map(({ at }) => at);
    expect(Number(second) - Number(first)).toBeGreaterThanOrEqual(55);
    expect(Number(third) - Number(second)).toBeGreaterThanOrEqual(115);
    expect(await outcomes(queue.name, 'retried')).toBe(2);
    await vi.waitFor(async () => expect((await queue.depth()).failed).toBe(0));
  });

  test('an error that is not retryable ends the job at once', async () => {
    const queue = (await open()).queue(freshName(), { schema: greeting, attempts: 5 });
    await queue.work(
      async () => {
        throw new ChainsteadError({ code: 'GONE', message: 'The receiver is gone', retryable: false });
      },
      { concurrency: 1 },
    );
    await queue.add('gone', { name: 'x' });
    await vi.waitFor(async () => expect(await outcomes(queue.name, 'failed')).toBe(1));
    expect(await outcomes(queue.name, 'retried')).toBe(0);
  });

  test.each([
    ['the database', new DatabaseUnavailableError('is shutting down', '57P01', new Error('terminating connection'))],
    ['the queues that it adds to', jobsAway('others')],
  ])('an outage of %s ends no job, and is no attempt of it', async (_name, outage) => {
    const queue = (await open()).queue(freshName(), { schema: greeting });
    const attempts: number[] = [];
    await queue.work(
      async ({ attempt }) => {
        attempts.push(attempt);
        if (attempts.length === 3) return;
        throw outage;
      },
      { concurrency: 1 },
    );
    await queue.add('unlucky', { name: 'x' });
    await vi.waitFor(async () => expect(await outcomes(queue.name, 'completed')).toBe(1), { timeout: 20_000 });
    expect(attempts).toEqual([1, 1, 1]);
    expect(await outcomes(queue.name, 'interrupted')).toBe(2);
    expect(await outcomes(queue.name, 'failed')).toBe(0);
  });

  test('a failed job is kept when asked, and its id stays taken', async () => {
    const queue = (await open()).queue(freshName(), { schema: greeting, removeOnFail: false });
    await queue.work(() => Promise.reject(new Error('no')), { concurrency: 1 });
    await queue.add('kept', { name: 'x' });
    await vi.waitFor(async () => expect((await queue.depth()).failed).toBe(1));
    await queue.add('kept', { name: 'x' });
    expect(await queue.depth()).toMatchObject({ waiting: 0, failed: 1 });
  });

  test('a delayed job waits for its time', async () => {
    const queue = (await open()).queue(freshName(), { schema: greeting });
    const handler = vi.fn(async () => {});
    await queue.work(handler, { concurrency: 1 });
    await queue.add('tomorrow', { name: 'x' }, { delayMs: 86_400_000 });
    expect((await queue.depth()).delayed).toBe(1);
    const added = performance.now();
    await queue.add('later', { name: 'x' }, { delayMs: 300 });
    await vi.waitFor(() => expect(handler).toHaveBeenCalledOnce());
    expect(performance.now() - added).toBeGreaterThanOrEqual(290);
    expect(handler).toHaveBeenCalledWith(expect.objectContaining({ id: 'later' }));
    expect((await queue.depth()).delayed).toBe(1);
  });

  test('a schedule makes jobs again and again, once for all processes, until it is taken away', async () => {
    const queueName = freshName();
    const first = (await open()).queue(queueName, { schema: greeting });
    const second = (await open()).queue(queueName, { schema: greeting });
    const seen: string[] = [];
    for (const queue of [first, second]) {
      await queue.work(async ({ payload }) => void seen.push(payload.name), { concurrency: 1 });
      await queue.schedule('sweep', { name: 'tick' }, { everyMs: 100 });
    }
    /** The most jobs that waited for their time at once, until so many more had come. */
    const mostDelayed = async (jobs: number): Promise<number> => {
      const delayed: number[] = [];
      const enough = seen.length + jobs;
      await vi.waitFor(
        async () => {
          delayed.push((await first.depth()).delayed);
          expect(seen.length).toBeGreaterThanOrEqual(enough);
        },
        { timeout: 10_000 },
      );
      return Math.max(...delayed);
    };
    // BullMQ on Postgres may add one job too many, from which no other follows, where a schedule is put while its job begins.
    await mostDelayed(4);
    // Two independent schedules would have a job each that waits for its time, all along.
    expect(await mostDelayed(6)).toBe(1);
    await first.unschedule('sweep');
    await vi.waitFor(async () => expect(await first.depth()).toMatchObject({ waiting: 0, active: 0, delayed: 0 }));
  });

  test('a schedule that the queue has lost comes back, and one that was taken away does not', async () => {
    const queueName = freshName();
    const keeping = (await open()).queue(queueName, { schema: greeting, scheduleCheckMs: 50 });
    const other = (await open()).queue(queueName, { schema: greeting });
    const handler = vi.fn(async () => {});
    await keeping.work(handler, { concurrency: 1 });
    await keeping.schedule('sweep', { name: 'tick' }, { everyMs: 100 });
    await other.unschedule('sweep');
    handler.mockClear();
    await vi.waitFor(() => expect(handler.mock.calls.length).toBeGreaterThanOrEqual(3));
    await keeping.unschedule('sweep');
    await vi.waitFor(async () => expect(await other.depth()).toMatchObject({ waiting: 0, active: 0, delayed: 0 }));
    handler.mockClear();
    // Time for several looks, which must not find it worth keeping.
    await other.add('later', { name: 'x' }, { delayMs: 300 });
    await vi.waitFor(() => expect(handler).toHaveBeenCalled());
    expect(handler).toHaveBeenCalledOnce();
    expect(handler).toHaveBeenCalledWith(expect.objectContaining({ id: 'later' }));
  });

  test('two workers share the jobs and run none twice', async () => {
    const queueName = freshName();
    const first = (await open()).queue(queueName, { schema: greeting });
    const second = (await open()).queue(queueName, { schema: greeting });
    const runs = { first: [] as string[], second: [] as string[] };
    const ids = Array.from({ length: 200 }, (_, index) => `job:${index}`);
    await first.addBulk(ids.map((id) => ({ id, payload: { name: id } })));
    const bothWork = Promise.withResolvers<void>();
    // One that is ready first would do all of it, where the other takes long to connect.
    const noting = (own: string[], others: string[]) => (job: { readonly id: string }) => {
      own.push(job.id);
      if (others.length > 0) bothWork.resolve();
      return bothWork.promise;
    };
    await Promise.all([
      first.work(noting(runs.first, runs.second), { concurrency: 5 }),
      second.work(noting(runs.second, runs.first), { concurrency: 5 }),
    ]);
    await vi.waitFor(async () => expect(await first.depth()).toMatchObject({ waiting: 0, active: 0 }), {
      timeout: 20_000,
    });
    expect([...runs.first, ...runs.second].toSorted()).toEqual(ids.toSorted());
    expect(runs.first.length).toBeGreaterThan(0);
    expect(runs.second.length).toBeGreaterThan(0);
  });

  test('a job whose worker was killed half-way runs again elsewhere', async () => {
    const queueName = freshName();
    const program = `
      import { createMetricsRegistry, silentLogger } from '@chainstead/core';
      import { createJobs } from './src/jobs.ts';
      const jobs = await createJobs({ ...${JSON.stringify(home())}, logger: silentLogger(), metrics: createMetricsRegistry() });
      const queue = jobs.queue(${JSON.stringify(queueName)}, { schema: { parse: (input) => input }, lockMs: 1000 });
      await queue.work(() => new Promise(() => process.stdout.write('at work')), { concurrency: 1 });
    `;
    const queue = (await open()).queue(queueName, { schema: greeting, lockMs: 1_000 });
    await queue.add('fragile', { name: 'x' });
    const cwd = fileURLToPath(new URL('..', import.meta.url));
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      cwd,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const handler = vi.fn(async () => {});
    await queue.work(handler, { concurrency: 1 });
    await vi.waitFor(() => expect(handler).toHaveBeenCalledOnce(), { timeout: 15_000 });
    expect(handler).toHaveBeenCalledWith(expect.objectContaining({ id: 'fragile', payload: { name: 'x' } }));
    expect(await outcomes(queueName, 'stalled')).toBe(1);
  });

  test('closing waits for the job at work', async () => {
    const jobs = await open();
    const queue = jobs.queue(freshName(), { schema: greeting });
    const started = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    let finished = false;
    await queue.work(
      async () => {
        started.resolve();
        await gate.promise;
        finished = true;
      },
      { concurrency: 1 },
    );
    await queue.add('slow', { name: 'x' });
    await started.promise;
    const closing = jobs.close();
    gate.resolve();
    await closing;
    expect(finished).toBe(true);
  });

  test('a job that is interrupted at the end of its process is put back without losing an attempt', async () => {
    const queueName = freshName();
    const first = (await open()).queue(queueName, { schema: greeting });
    const started = Promise.withResolvers<void>();
    await first.work(
      async ({ signal }) => {
        started.resolve();
        await once(signal, 'abort');
        signal.throwIfAborted();
      },
      { concurrency: 1 },
    );
    await first.add('long', { name: 'x' });
    await started.promise;
    await first.close(50);
    const second = (await open()).queue(queueName, { schema: greeting });
    const handler = vi.fn(async () => {});
    await second.work(handler, { concurrency: 1 });
    await vi.waitFor(() => expect(handler).toHaveBeenCalledWith(expect.objectContaining({ id: 'long', attempt: 1 })));
  });

  test('payloads are checked when added and when taken', async () => {
    const queueName = freshName();
    const jobs = await open();
    const strict = jobs.queue(queueName, { schema: greeting, attempts: 3 });
    // @ts-expect-error the payload is wrong on purpose
    const wrong = strict.add('bad', { nom: 'x' });
    await expect(wrong).rejects.toThrow(expect.objectContaining({ code: 'JOB_PAYLOAD_INVALID', name: JobError.name }));
    expect((await strict.depth()).waiting).toBe(0);

    const older = (await open()).queue(queueName, { schema: { parse: (input: unknown) => input } });
    await older.add('bad', { nom: 'x' });
    const handler = vi.fn(async () => {});
    const reader = (await open()).queue(queueName, { schema: greeting, attempts: 3 });
    await reader.work(handler, { concurrency: 1 });
    await vi.waitFor(async () => expect(await outcomes(queueName, 'failed')).toBe(1));
    expect(handler).not.toHaveBeenCalled();
  });

  test('the depth is read at each scrape', async () => {
    const queue = (await open()).queue(freshName(), { schema: greeting });
    await queue.add('one', { name: 'x' });
    await queue.add('two', { name: 'x' }, { delayMs: 60_000 });
    const scraped = await metrics.metrics();
    expect(scraped).toContain(`chainstead_jobs_depth{queue="${queue.name}",state="waiting"} 1`);
    expect(scraped).toContain(`chainstead_jobs_depth{queue="${queue.name}",state="delayed"} 1`);
  });
});

test('a home must be given, and only one', async () => {
  const common = { logger: silentLogger(), metrics: createMetricsRegistry() };
  await expect(createJobs(common)).rejects.toMatchObject({ code: 'JOBS_BACKEND_AMBIGUOUS' });
});
