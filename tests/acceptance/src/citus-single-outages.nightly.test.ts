/** Nodes of a cluster of Citus go away: pages say so, and a node that died while blocks were written left nothing half done. */
import { createChainRegistry } from '@chainstead/chains';
import { systemClock } from '@chainstead/core';
import { seedCoverage, seedTransfers } from '@chainstead/erc20/testing';
import { addressOf, createSeededRandom } from '@chainstead/testkit';
import { createApiUnderTest, TEST_KEY } from 'chainstead/src/testing/api-under-test.ts';
import { expect, it, vi } from 'vitest';
import { countRows, dumpEverything } from './citus-rows.ts';
import { describeOnCitus, followSpread } from './citus-stage.ts';
import { untilIndexed } from './indexed-tables.ts';

const DYING = 'a node that goes away';
const TIMEOUT_MS = 240_000;

await describeOnCitus('a distributed database of which a node goes away', DYING, (stage) => {
  it('can not answer, says so, and answers once it is back', { timeout: TIMEOUT_MS }, async () => {
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
      await vi.waitFor(async () => expect(await statusOf(wallet)).toBe(200), { timeout: 60_000 });
  });

  // Several deaths, also of the coordinator: citus-outages.nightly.test.ts.
  it('has lost nothing, and has nothing twice, of what was being written', { timeout: TIMEOUT_MS }, async () => {
    const random = createSeededRandom('citus/outage');
    const { database, chain, facts, mineOn, indexAlone } = await followSpread(stage, { seed: 45, blocks: 80 });
    const stopMining = mineOn(random, 0.3);
    await systemClock.sleep(500);
    const victim = stage.worker(1);
    await victim.crash();
    await systemClock.sleep(200);
    stopMining();
    await victim.restart();
    await untilIndexed(database, facts, chain, { proven: true });
    const own = await dumpEverything(database, facts);
    expect(own).toEqual(await dumpEverything(await indexAlone(), facts));
    expect(countRows(own).erc20_transfer_sides).toBeGreaterThan(200);
  });
});
