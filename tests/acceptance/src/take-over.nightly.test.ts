/** Two ingest programs of one chain: the one that stands by takes over from one that is asked to stop, or falls silent at work. */
import { systemClock } from '@chainstead/core';
import {
  createScratchDatabase,
  createScriptedChain,
  type Program,
  serveScriptedChain,
  startProgram,
} from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { scriptedChainFacts, waitUntil } from './indexed-chain.ts';
import { expectTruth, untilIndexed } from './indexed-tables.ts';

const CHAIN_ID = 1_337_014;
const SEED = 20_261_122;
/** Far above the promise (10 s after silence, 2 s after a stop) for a busy machine, far below what open connections would keep locks. */
const TAKEOVER_MS = 60_000;
const FREEZES = 3;

/** Whether it leads: it says so each time, and says when it has lost the lead or stands by. */
function leads(program: Program): boolean {
  const output = program.output();
  const lost = Math.max(output.lastIndexOf('Standing by'), output.lastIndexOf('LEADERSHIP_LOST'));
  return output.lastIndexOf('Leading the chain') > lost;
}

// Invariant: SYNC-ONE-LEADER
test('a leader that stops, or falls silent in the midst of commits, is replaced, and nothing is lost or doubled', async () => {
  const facts = scriptedChainFacts(CHAIN_ID);
  const chain = createScriptedChain({ seed: SEED, chainId: CHAIN_ID });
  chain.mine(60);
  const node = await serveScriptedChain(chain);
  const scratch = await createScratchDatabase();
  const environment = {
    DATABASE_URL: scratch.url,
    CHAINS: 'handed',
    CHAIN_ID_HANDED: `${CHAIN_ID}`,
    RPC_URLS_HANDED: node.url,
    // Its transactions have no signatures.
    SWAPS_HANDED: 'off',
    START_BLOCK_HANDED: '1',
    POLL_INTERVAL_MS: '20',
    LOG_LEVEL: 'info',
  };
  const started: Program[] = [];
  const start = (): Program => {
    const program = startProgram(['start', '--roles', 'ingest'], { environment });
    started.push(program);
    return program;
  };
  const untilLeading = async (program: Program): Promise<number> => {
    const since = performance.now();
    await waitUntil(() => (leads(program) ? null : `it does not lead:\n${program.output()}`), TAKEOVER_MS);
    return performance.now() - since;
  };
  try {
    let leader = start();
    await untilLeading(leader);
    let heir = start();
    await waitUntil(() => (heir.output().includes('Standing by') ? null : heir.output()));

    const stopped = await leader.stop();
    expect(stopped.code).toBe(0);
    const afterStop = await untilLeading(heir);
    [leader, heir] = [heir, start()];
    await waitUntil(() => (heir.output().includes('Standing by') ? null : heir.output()));

    const afterSilence: number[] = [];
    for (let round = 0; round < FREEZES; round += 1) {
      for (let block = 0; block < 12; block += 1) {
        chain.mine();
        await systemClock.sleep(15);
      }
      leader.freeze();
      chain.reorg(2, 4);
      const since = performance.now();
      const { head } = chain;
      await untilLeading(heir);
      await untilIndexed(scratch.database, facts, chain, { timeoutMs: TAKEOVER_MS });
      afterSilence.push(performance.now() - since);
      expect(chain.head).toBe(head);
      leader.thaw();
      const former = leader;
      chain.mine(3);
      await waitUntil(
        () => (leads(former) ? `it still thinks that it leads:\n${former.output()}` : null),
        TAKEOVER_MS,
      );
      [leader, heir] = [heir, former];
    }
    await untilIndexed(scratch.database, facts, chain);
    await expectTruth(scratch.database, facts, chain);
    const seconds = (ms: number): string => (ms / 1000).toFixed(1);
    process.stdout.write(
      `Taken over ${seconds(afterStop)} s after the end of a leader, followed ${afterSilence.map(seconds).join(', ')} s after its silence\n`,
    );
  } finally {
    for (const program of started) program.thaw();
    await Promise.all(started.map((program) => program.kill()));
    await node.close();
    await scratch.drop();
  }
});
