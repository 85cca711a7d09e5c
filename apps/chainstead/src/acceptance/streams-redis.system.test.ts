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
  if (redis !== undefined) stage = await createStreamStage(1_337_041, { REDIS_URL: redis.url, LOG_LEVEL: 'info' });
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
    const tell = async (): Promise<void> => {
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
    const told = (): ReadonlyMap<string, readonly string[]> => {
      const found = program
        .output()
        .matchAll(/^\{.*"role":"(\w+)".*"msg":"Job queues are (away|back)/gm)
        .map(([, role = '', what = '']) => ({ role, what }));
      const byRole = Map.groupBy(found, ({ role }) => role);
      return new Map([...byRole].map(([role, said]) => [role, said.map(({ what }) => what)]));
    };
    const untilAll = (what: 'away' | 'back'): Promise<void> =>
      waitUntil(() => {
        const last = [...told().values()].map((said) => said.at(-1));
        return last.length === 2 && last.every((said) => said === what) ? null : program.output();
      });
    const scrape = async (): Promise<string> => (await fetch(`${address}/metrics`)).text();
    await tell();

    redis.pause();
    await tell();
    await waitUntil(async () =>
      (await scrape()).includes('_depth_stale{queue="token-facts-devnet"') ? null : program.output(),
    );
    await untilAll('away');
    await waitUntil(async () =>
      /chainstead_jobs_depth_stale\{[^}]*token-facts-devnet[^}]*\} 1/.test(await scrape()) ? null : program.output(),
    );
    redis.resume();
    await untilAll('back');

    await redis.stop();
    await tell();
    await untilAll('away');
    await tell();
    await redis.restart();
    await untilAll('back');
    await tell();
    // Two processes have queues, and there were two outages, more where this machine stood still. Each is told once as it begins, and once as it ends.
    for (const [role, said] of told()) {
      expect(said.length, role).toBeGreaterThanOrEqual(4);
      expect(said, role).toEqual(said.map((_, place) => (place % 2 === 0 ? 'away' : 'back')));
    }
    expect(lines('ECONNREFUSED')).toBeLessThanOrEqual(2);
    expect(lines('    at ')).toBe(0);
  },
);
