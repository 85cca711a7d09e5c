import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { createScratchDatabase, openSilentLine } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createPostgresSpendingStore } from './postgres-spending-store.ts';
import { unreportedMax } from './shared-budget.ts';
import type { SharedLimit } from './shared-limits.ts';
import type { SpendingStore } from './spending-exchange.ts';
import {
  closeLimits,
  LONG_MS,
  type LoggedLine,
  newName,
  type OpenLimits,
  openLimits,
  spendMany,
} from './testing/open-limits.ts';

const SPENDING_PROCESS = fileURLToPath(new URL('./testing/spending-process.ts', import.meta.url));

const scratch = scratchOfFile();
afterEach(closeLimits);

const open = (): SpendingStore => createPostgresSpendingStore({ database: scratch.database });

/** Returns the number of stored buckets of a limit. */
async function stored(limit: string): Promise<number> {
  const [row] = await scratch.database.query<{ buckets: number }>(
    sql`SELECT count(*)::int AS buckets FROM rate_limit_usage WHERE starts_with(bucket, ${`${limit}:`})`,
  );
  return row?.buckets ?? 0;
}

describe('a limit that processes share', () => {
  test('is one for two real processes: all of it passes, and at most a block more for each', async () => {
    const budget = 200;
    const name = newName();
    const run = () =>
      promisify(execFile)(process.execPath, [SPENDING_PROCESS, scratch.url, name, String(budget), '400']);
    const runs = await Promise.all([run(), run()]);
    const accepted = runs.reduce((sum, { stdout }) => sum + Number(stdout), 0);
    expect(accepted).toBeGreaterThanOrEqual(budget);
    expect(accepted).toBeLessThanOrEqual(budget + 2 * unreportedMax(budget));
  });

  test('is there again when its window has passed, and leaves nothing behind', async () => {
    const windowMs = 2_000;
    async function spendTwoWindows(): Promise<{ name: string; passed: readonly number[]; wait: number }> {
      const name = newName();
      const [first, second] = [openLimits(open()).limits, openLimits(open()).limits];
      const one = first.add({ name, budget: 5, windowMs });
      const other = second.add({ name, budget: 5, windowMs });
      const started = performance.now();
      const passed = [await spendMany(first, one, 10), await spendMany(second, other, 10)];
      const buckets = await stored(name);
      const wait = await second.spend([{ budget: other.budgetOf('key'), amount: 1 }]);
      const spent = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 1.1 * windowMs));
      const again = performance.now();
      passed.push(await spendMany(second, other, 10));
      // If the machine stalls, the windows move on and the measurement is invalid.
      const isDisturbed = Math.max(spent - started, performance.now() - again) > windowMs / 2;
      if (isDisturbed) return spendTwoWindows();
      expect(buckets).toBe(1);
      return { name, passed, wait };
    }
    const { name, passed, wait } = await spendTwoWindows();
    expect(passed).toEqual([5, expect.toSatisfy((late: number) => late <= 1), 5]);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(windowMs);
    await vi.waitFor(async () => expect(await stored(name)).toBe(0), { timeout: 20_000, interval: 250 });
  });

  test('is counted by as many processes as there are', async () => {
    const [first, second] = [openLimits(open()), openLimits(open())];
    first.limits.add({ name: newName(), budget: 5, windowMs: 2_000 });
    second.limits.add({ name: newName(), budget: 5, windowMs: 2_000 });
    await vi.waitFor(async () => expect(await first.processes()).toBeGreaterThanOrEqual(2), { timeout: 20_000 });
  });
});

describe('while the store is away', () => {
  const AWAY = ['warn: Limits can not be counted over all processes'];
  const BACK = [...AWAY, 'info: Limits count over all processes again'];
  const messages = (lines: readonly LoggedLine[]): string[] =>
    lines.map(({ level, msg }) => `${level}: ${msg.split(':')[0]}`);
  /** On a stalling machine, a store with a short timeout seems unavailable: such log lines are discarded. */
  const beginCounting = async ({ processes, lines }: OpenLimits, count = 1): Promise<void> => {
    await vi.waitFor(async () => expect(await processes()).toBeGreaterThanOrEqual(count), { timeout: 20_000 });
    lines.length = 0;
  };

  /** A separate database behind a connection that can fall silent: no other process counts there. */
  async function openLine() {
    const stack = new AsyncDisposableStack();
    const own = await createScratchDatabase();
    stack.defer(() => own.drop());
    const url = new URL(own.url);
    const line = await openSilentLine({ host: url.hostname, port: Number(url.port) });
    stack.defer(() => line.close());
    url.host = `127.0.0.1:${line.port}`;
    const database = openDatabase({ url: url.href, applicationName: 'chainstead-test', logger: silentLogger() });
    stack.defer(() => database.close());
    stack.defer(closeLimits);
    stack.defer(() => line.resume());
    return {
      line,
      open: () => openLimits(createPostgresSpendingStore({ database }), 200),
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  }

  /** Spends with another key until the store responds again. */
  const isBack = ({ limits, lines }: OpenLimits, limit: SharedLimit): Promise<void> =>
    vi.waitFor(
      async () => {
        await limits.spend([{ budget: limit.budgetOf('other'), amount: 1 }]);
        expect(messages(lines).slice(0, BACK.length)).toEqual(BACK);
      },
      { timeout: 20_000, interval: 200 },
    );

  test('a process serves on by the limit itself, says so once, and comes back to the others', async () => {
    await using stage = await openLine();
    const counted = stage.open();
    const { limits } = counted;
    const limit = limits.add({ name: newName(), budget: 40, windowMs: LONG_MS });
    expect(await spendMany(limits, limit, 10)).toBe(10);
    await beginCounting(counted);
    stage.line.fallSilent();
    // Calls waiting when the store falls silent pass as soon as the outage is detected.
    expect(await spendMany(limits, limit, 20)).toBe(20);
    await vi.waitFor(() => expect(messages(counted.lines)).toEqual(AWAY));
    expect(await counted.processes()).toBe(0);
    for (let call = 0; call < 40; call += 1)
      expect(typeof limits.spend([{ budget: limit.budgetOf('key'), amount: 1 }])).toBe('number');
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(messages(counted.lines)).toEqual(AWAY);
    stage.line.resume();
    await isBack(counted, limit);
    expect(await counted.processes()).toBeGreaterThan(0);
  });

  test('two processes have half of the limit each, once they know of each other', async () => {
    await using stage = await openLine();
    const [first, second] = [stage.open(), stage.open()];
    const name = newName();
    const one = first.limits.add({ name, budget: 100, windowMs: LONG_MS });
    const other = second.limits.add({ name, budget: 100, windowMs: LONG_MS });
    for (const counted of [first, second]) await beginCounting(counted, 2);
    stage.line.fallSilent();
    const accepted = (await spendMany(first.limits, one, 200)) + (await spendMany(second.limits, other, 200));
    expect(accepted).toBeGreaterThanOrEqual(50);
    expect(accepted).toBeLessThanOrEqual(100);
    for (const { lines } of [first, second]) await vi.waitFor(() => expect(messages(lines)).toEqual(AWAY));
    stage.line.resume();
    await isBack(first, one);
    await isBack(second, other);
  });
});
