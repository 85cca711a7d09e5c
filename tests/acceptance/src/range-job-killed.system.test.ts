/** A range job in the running program, whose process is killed during it: another one continues, and it ends as it would have. */

import { platform } from 'node:os';
import { type Database, sql } from '@chainstead/db';
import { listRangeJobs } from '@chainstead/sync/ingest';
import { commandLineOf } from '@chainstead/testkit';
import { describe, expect, it } from 'vitest';
import { waitUntil } from './indexed-chain.ts';
import { expectTruth, untilIndexed } from './indexed-tables.ts';
import { sharedChainStage } from './shared-chain-stage.ts';

const CHAIN_ID = 1_337_041;
const BLOCKS = 240;
const PROCESSES = 2;
const TIMEOUT_MS = 90_000;
const stage = sharedChainStage({ chainId: CHAIN_ID, seed: 20_261_123, blocks: BLOCKS });
const { chain, facts, openScratch } = stage;
/** The highest block that can no longer be reorganised. */
const SETTLED = BLOCKS - facts.reorgDepthMax;

/** The process that works on the job. */
async function processAtWork(database: Database): Promise<number | null> {
  const [job] = await listRangeJobs(database, { limit: 1 });
  const [, id] = /, process (\d+)$/.exec(job?.holder ?? '') ?? [];
  return id === undefined ? null : Number(id);
}

describe.runIf(platform() === 'linux')('a job on a range', () => {
  it(
    'survives the process that works on it',
    async () => {
      const { database, url } = await openScratch();
      const start = (...args: readonly string[]) => stage.start(args, url, PROCESSES);
      const program = start('start');
      await untilIndexed(database, facts, chain, { proven: true });
      // The blocks to fetch again are damaged, so that nothing else repairs them.
      await database.query(sql`DELETE FROM erc20_transfer_sides WHERE block_number BETWEEN 20 AND 60`);
      stage.node.faults.set({ latencyMs: 1_500 });
      const requested = start('reindex', '--chain', 'shared', '--from', '1', '--to', String(SETTLED), '--detach');
      expect(await requested.exited, requested.output()).toBe(0);
      const job = async () => (await listRangeJobs(database, { limit: 1 }))[0];
      let victim: number | null = null;
      await waitUntil(async () => {
        victim = (await job())?.status === 'running' ? await processAtWork(database) : null;
        return victim === null ? program.output() : null;
      });
      expect((await job())?.holder).not.toBeNull();
      process.kill(victim ?? 0, 'SIGKILL');
      await waitUntil(() => (commandLineOf(victim ?? 0) === null ? null : `${victim} still runs`));
      expect((await job())?.status).toBe('running');
      stage.node.faults.clear();
      await waitUntil(async () => ((await job())?.status === 'done' ? null : program.output()));
      expect(await job()).toMatchObject({ work: 'reindex', ranges: [{ from: 1, to: SETTLED }], error: null });
      await expectTruth(database, facts, chain);
      program.signal('SIGTERM');
      expect(await program.exited, program.output()).toBe(0);
    },
    TIMEOUT_MS,
  );
});
