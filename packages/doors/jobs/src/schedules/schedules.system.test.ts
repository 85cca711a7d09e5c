import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createMetricsRegistry, type Registry, silentLogger } from '@chainstead/core';
import { DatabaseUnavailableError } from '@chainstead/db';
import { startScratchRedis } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createSchedules, type Schedule, type Schedules } from './schedules.ts';

const testRedisUrl = process.env.TEST_REDIS_URL;
const ownRedis = testRedisUrl === undefined ? await startScratchRedis() : undefined;
const redisUrl = testRedisUrl ?? ownRedis?.url;
if (redisUrl === undefined)
  process.stdout.write('NOT RUN: schedules on Redis (no redis-server on this machine, and no TEST_REDIS_URL)\n');
afterAll(() => ownRedis?.stop());
const WAIT = { timeout: 20_000 };
const HOURLY = 3_600_000;

describe.each(redisUrl === undefined ? (['postgres'] as const) : (['postgres', 'redis'] as const))(
  'schedules on %s',
  (kind) => {
    const scratch = scratchOfFile();
    let names = 0;
    const freshName = (): string => `${kind}-${process.pid}-${++names}`;
    const storage = () => ({
      databaseUrl: scratch.url,
      redisUrl: kind === 'redis' ? (redisUrl ?? null) : null,
      lockMs: 2_000,
    });

    async function open(
      checkEveryMs = 60_000,
    ): Promise<{ readonly schedules: Schedules; readonly metrics: Registry }> {
      const metrics = createMetricsRegistry();
      const schedules = await createSchedules({ ...storage(), logger: silentLogger(), metrics, checkEveryMs });
      onTestFinished(() => schedules.close());
      return { schedules, metrics };
    }
    const outcomes = async (metrics: Registry, name: string): Promise<Readonly<Record<string, number>>> => {
      const all = await metrics.getSingleMetric('chainstead_jobs_total')?.get();
      const own = all?.values.filter(({ labels }) => labels.queue === name) ?? [];
      return Object.fromEntries(own.map(({ labels, value }) => [labels.outcome, value]));
    };

    test('run repeatedly, in one of several processes at a time', async () => {
      const name = freshName();
      let atOnce = 0;
      let most = 0;
      const run = vi.fn(async () => {
        most = Math.max(most, ++atOnce);
        await new Promise(setImmediate);
        atOnce -= 1;
      });
      const schedule: Schedule = { name, everyMs: 100, run };
      const first = await open();
      const second = await open();
      await first.schedules.start([schedule]);
      await second.schedules.start([schedule]);
      await vi.waitFor(() => expect(run.mock.calls.length).toBeGreaterThanOrEqual(4), WAIT);
      expect(most).toBe(1);
      await Promise.all([first.schedules.close(), second.schedules.close()]);
      const counted = await Promise.all([first, second].map(({ metrics }) => outcomes(metrics, name)));
      expect(counted.reduce((sum, { completed = 0 }) => sum + completed, 0)).toBe(run.mock.calls.length);
      expect(await first.metrics.metrics()).toContain(`chainstead_job_seconds_count{queue="${name}"}`);
    });

    test('run again after a failure, and an outage of the database counts as an interruption', async () => {
      const { schedules, metrics } = await open();
      const name = freshName();
      const failures: unknown[] = [
        new Error('no'),
        new DatabaseUnavailableError('is shutting down', '57P01', new Error('terminating connection')),
      ];
      const run = vi.fn(async () => {
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
      });
      await schedules.start([{ name, everyMs: 50, run }]);
      await vi.waitFor(() => expect(run.mock.calls.length).toBeGreaterThanOrEqual(4), WAIT);
      expect(await outcomes(metrics, name)).toMatchObject({ failed: 1, interrupted: 1 });
    });

    test('that no process has any more are removed, and those that were lost come back', async () => {
      const [dropped, kept] = [freshName(), freshName()];
      const run = vi.fn(async () => {});
      const other = vi.fn(async () => {});
      const before = await open();
      await before.schedules.start([{ name: dropped, everyMs: 50, run }]);
      await vi.waitFor(() => expect(run).toHaveBeenCalled(), WAIT);
      await before.schedules.close();
      const after = await open();
      // A worker without the schedule `dropped` takes its next job.
      await after.schedules.start([{ name: kept, everyMs: HOURLY, run: other }]);
      await vi.waitFor(() => expect(other).toHaveBeenCalled(), WAIT);
      // This process finds its schedule removed and adds it again.
      const again = await open(50);
      run.mockClear();
      await again.schedules.start([{ name: dropped, everyMs: 50, run }]);
      await vi.waitFor(() => expect(run.mock.calls.length).toBeGreaterThanOrEqual(3), WAIT);
    });

    test('whose process was killed half-way run elsewhere', async () => {
      const name = freshName();
      const program = `
        import { createMetricsRegistry, silentLogger } from '@chainstead/core';
        import { createSchedules } from './src/schedules/schedules.ts';
        const schedules = await createSchedules({ ...${JSON.stringify(storage())}, logger: silentLogger(), metrics: createMetricsRegistry() });
        const run = () => new Promise(() => process.stdout.write('at work'));
        await schedules.start([{ name: ${JSON.stringify(name)}, everyMs: 3600000, run }]);
      `;
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
        cwd: fileURLToPath(new URL('../..', import.meta.url)),
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data');
      child.kill('SIGKILL');
      await once(child, 'exit');
      const { schedules } = await open();
      const run = vi.fn(async () => {});
      await schedules.start([{ name, everyMs: HOURLY, run }]);
      await vi.waitFor(() => expect(run).toHaveBeenCalled(), WAIT);
    });

    test('end before a stop does', async () => {
      const { schedules } = await open();
      const started = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      let isFinished = false;
      await schedules.start([
        {
          name: freshName(),
          everyMs: HOURLY,
          async run() {
            started.resolve();
            await gate.promise;
            isFinished = true;
          },
        },
      ]);
      await started.promise;
      const closing = schedules.close();
      gate.resolve();
      await closing;
      expect(isFinished).toBe(true);
    });

    test('are aborted when a stop waits no longer', async () => {
      const { schedules, metrics } = await open();
      const name = freshName();
      const started = Promise.withResolvers<void>();
      await schedules.start([
        {
          name,
          everyMs: HOURLY,
          async run(signal) {
            started.resolve();
            await once(signal, 'abort');
            signal.throwIfAborted();
          },
        },
      ]);
      await started.promise;
      await schedules.close(0);
      expect(await outcomes(metrics, name)).toMatchObject({ interrupted: 1, failed: 0 });
    });
  },
);
