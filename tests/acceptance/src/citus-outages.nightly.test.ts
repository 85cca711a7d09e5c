/** Nodes of a cluster of Citus die: nothing is lost or doubled of what is being indexed. */
import { systemClock } from '@chainstead/core';
import { createSeededRandom } from '@chainstead/testkit';
import { expect, it } from 'vitest';
import { countRows, dumpEverything } from './citus-rows.ts';
import { describeOnCitus, followSpread, untilSettled } from './citus-stage.ts';
import { untilIndexed } from './indexed-tables.ts';

const DYING = 'nodes that die while blocks are written';
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
    expect(countRows(own).erc20_transfer_sides).toBeGreaterThan(1_000);
    await untilSettled(database);
  });
});
