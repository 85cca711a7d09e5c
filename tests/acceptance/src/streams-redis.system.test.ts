/** Webhooks of the running program while the Redis of its queues hangs, and while there is none. */
import type { Address } from '@chainstead/core';
import { startScratchRedis } from '@chainstead/testkit';
import { parseEther } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from './indexed-chain.ts';
import { awaitWebhook, createStreamStage, type StreamStage } from './stream-stage.ts';

// Processes start slowly on a busy machine.
const redis = await startScratchRedis();
if (redis === undefined)
  process.stdout.write('NOT RUN: webhooks while Redis is away (no redis-server on this machine)\n');

let stage: StreamStage | undefined;
beforeAll(async () => {
  if (redis !== undefined)
    stage = await createStreamStage(1_337_041, { REDIS_URL: redis.url, LOG_LEVEL: 'info' });
});
afterAll(async () => {
  redis?.resume();
  await stage?.close();
  await redis?.stop();
});

test.runIf(redis !== undefined)(
  'webhooks arrive and scrapes are answered while Redis hangs, is gone and comes back',
  async () => {
    if (redis === undefined || stage === undefined) throw new Error('There is no stage');
    const { devnet, program, address } = stage;
    const [alice, bob] = devnet.accounts.slice(5) as [Address, Address];
    const receiver = await stage.receive();
    const streamId = await stage.watch(receiver, { includeNativeTxs: true }, [alice]);
    const report = async (): Promise<void> => {
      const hash = await devnet.client.sendTransaction({
        account: alice,
        to: bob,
        value: parseEther('0.001'),
        chain: null,
      });
      const { blockNumber } = await devnet.client.waitForTransactionReceipt({ hash });
      if (stage !== undefined) await awaitWebhook(stage, receiver, streamId, { blockNumber, confirmed: false });
    };
    const lines = (text: string): number => program.output().split(text).length - 1;
    /** What processes with queues said of them, each in its order. */
    const reported = (): ReadonlyMap<string, readonly string[]> => {
      const found = program
        .output()
        .matchAll(/^\{.*"role":"(\w+)".*"msg":"Redis is (unavailable|available)/gm)
        .map(([, role = '', what = '']) => ({ role, what }));
      const byRole = Map.groupBy(found, ({ role }) => role);
      return new Map([...byRole].map(([role, said]) => [role, said.map(({ what }) => what)]));
    };
    const untilAll = (what: 'unavailable' | 'available'): Promise<void> =>
      waitUntil(() => {
        const last = [...reported().values()].map((said) => said.at(-1));
        return last.length === 1 && last.every((said) => said === what) ? null : program.output();
      });
    const scrape = async (): Promise<string> => (await fetch(`${address}/metrics`)).text();
    await report();

    redis.pause();
    await report();
    await untilAll('unavailable');
    expect(await scrape()).toContain('chainstead_jobs_total');
    redis.resume();
    await untilAll('available');

    await redis.stop();
    await report();
    await untilAll('unavailable');
    await report();
    await redis.restart();
    await untilAll('available');
    await report();
    // One process has queues, and there were two outages, more if this machine stood still. Each is logged once as it begins, and once as it ends.
    for (const [role, said] of reported()) {
      expect(said.length, role).toBeGreaterThanOrEqual(4);
      expect(said, role).toEqual(said.map((_, place) => (place % 2 === 0 ? 'unavailable' : 'available')));
    }
    expect(lines('ECONNREFUSED')).toBeLessThanOrEqual(2);
    expect(lines('    at ')).toBe(0);
  },
);
