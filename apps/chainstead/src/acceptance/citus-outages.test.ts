/** Nodes of a cluster of Citus die: nothing is lost or doubled of what is being indexed, and no page is wrong meanwhile. */
import { createChainRegistry } from '@chainstead/chains';
import { systemClock } from '@chainstead/core';
import { seedCoverage, seedTransfers } from '@chainstead/erc20/testing';
import { addressOf, createSeededRandom } from '@chainstead/testkit';
import { expect, it, vi } from 'vitest';
import { createApiUnderTest, TEST_KEY } from './api-under-test.ts';
import { countRows, dumpEverything } from './citus-rows.ts';
import { describeOnCitus, followSpread, untilSettled } from './citus-stage.ts';
import { untilIndexed } from './indexed-tables.ts';

const DYING = 'nodes that die while blocks are written and read';
const TIMEOUT_MS = 300_000;
const KILLS = 4;

await describeOnCitus('a distributed database of which a node dies', DYING, (stage) => {
  it('loses nothing and has nothing twice of what was being written', { timeout: TIMEOUT_MS }, async () => {
    const random = createSeededRandom('citus/outages');
    const followed = await followSpread(stage, { seed: 44, blocks: 400 });
    const { database, chain, facts } = followed;
    for (let kill = 0; kill < KILLS; kill++) {
      const victim = stage.worker(kill % stage.cluster.workers.length);
      const stopMining = followed.mineOn(random, 0.3);
      await systemClock.sleep(random.integer(300, 1_200));
      await victim.crash();
      await systemClock.sleep(random.integer(100, 800));
      stopMining();
      await victim.restart();
    }
    await untilIndexed(database, facts, chain, { proven: true, timeoutMs: 120_000 });
    const own = await dumpEverything(database, facts);
    expect(own).toEqual(await dumpEverything(await followed.indexAlone(), facts));
    expect(countRows(own).erc20_transfers).toBeGreaterThan(1_000);
    await untilSettled(database);
  });

  it('says that it can not answer while a node is away, and answers once it is back', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const spread = await stage.createSpread();
    const chains = createChainRegistry();
    const eth = chains.get('eth');
    const wallets = Array.from({ length: 16 }, (_, index) => addressOf(0xa000 + index * 7_919));
    await seedTransfers(
      spread.database,
      eth,
      wallets.map((to, index) => ({
        ...{ from: addressOf(1), to, token: addressOf(2), value: 5n },
        ...{ blockNumber: 10 + index, transactionIndex: 0, logIndex: 0 },
      })),
    );
    await seedCoverage(spread.database, eth, 0, 100);
    const api = await createApiUnderTest(spread.database, chains);
    const statusOf = async (wallet: string): Promise<number> => {
      const path = `/api/v2.2/${wallet}/erc20/transfers?chain=eth`;
      const answer = await api.request(path, { headers: { 'x-api-key': TEST_KEY } });
      if (answer.status === 200)
        expect(await answer.json()).toMatchObject({ result: [{ to_address: wallet, value: '5' }] });
      return answer.status;
    };
    for (const wallet of wallets) expect(await statusOf(wallet)).toBe(200);
    const dead = stage.worker();
    await dead.crash();
    const statuses: number[] = [];
    for (const wallet of wallets) statuses.push(await statusOf(wallet));
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(statuses).toContain(503);
    await dead.restart();
    for (const wallet of wallets)
      await vi.waitFor(async () => expect(await statusOf(wallet)).toBe(200), { timeout: 20_000 });
  });
});
