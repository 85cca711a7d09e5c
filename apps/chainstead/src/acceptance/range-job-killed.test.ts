/** Work on ranges that was left to the running program, whose process is killed while it does it: another one goes on, and it ends as it would have. */
import { platform } from 'node:os';
import { listRangeJobs } from '@chainstead/sync';
import {
  createScratchDatabase,
  createScriptedChain,
  type ScratchDatabase,
  serveScriptedChain,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLineOf, descendantsOf, type ProgramProcess, startProgram } from '../testing/program-process.ts';
import { scriptedChainFacts, waitUntil } from './indexed-chain.ts';
import { expectTruth, untilIndexed } from './indexed-tables.ts';

const CHAIN_ID = 1_337_041;
const BLOCKS = 240;
const PROCESSES = 2;
const TIMEOUT_MS = 120_000;
const facts = scriptedChainFacts(CHAIN_ID);
/** The highest block that can no longer be reorganised. */
const SETTLED = BLOCKS - facts.reorgDepthMax;
const chain = createScriptedChain({ seed: 20_261_123, chainId: CHAIN_ID });
let node: Awaited<ReturnType<typeof serveScriptedChain>>;
let scratch: ScratchDatabase;
const programs: ProgramProcess[] = [];

beforeAll(async () => {
  chain.mine(BLOCKS);
  node = await serveScriptedChain(chain);
  scratch = await createScratchDatabase();
});
afterAll(async () => {
  for (const program of programs) program.kill('SIGKILL');
  await Promise.all(programs.map(({ exited }) => exited));
  await node?.close();
  await scratch?.drop();
});

function start(...args: readonly string[]): ProgramProcess {
  const environment = {
    DATABASE_URL: scratch.url,
    DATABASE_POOL_SIZE: '4',
    INGEST_PROCESSES: String(PROCESSES),
    CHAINS: 'shared',
    CHAIN_ID_SHARED: String(CHAIN_ID),
    RPC_URLS_SHARED: node.url,
    START_BLOCK_SHARED: '1',
    POLL_INTERVAL_MS_SHARED: '100',
    PROOF_SHARED: 'strict',
    BACKFILL_PROOF_SHARED: 'receipts',
  };
  const program = startProgram(args, { environment });
  programs.push(program);
  return program;
}

/** The process that works on the chain's jobs, by the session of its lease. */
async function processAtWork(program: ProgramProcess): Promise<number | null> {
  const [session] = await scratch.database.query<{ name: string }>(
    `SELECT application_name AS name FROM leases JOIN pg_stat_activity ON pid = backend_pid
      WHERE leases.name = 'range-jobs:' || $1`,
    [String(CHAIN_ID)],
  );
  const [, number] = /ingest-(\d)/.exec(session?.name ?? '') ?? [];
  if (number === undefined) return null;
  const command = new RegExp(`role-process\\.[jt]s ingest ${number} ${PROCESSES}\\b`);
  return descendantsOf(program.pid).find((pid) => command.test(commandLineOf(pid) ?? '')) ?? null;
}

describe.runIf(platform() === 'linux')('a job on a range', () => {
  it(
    'survives the process that works on it',
    async () => {
      const { database } = scratch;
      const program = start('start', '--roles', 'ingest');
      await untilIndexed(database, facts, chain, { proven: true, timeoutMs: 60_000 });
      // What is to be read anew is damaged, so that nothing else makes it whole.
      await database.query('DELETE FROM erc20_transfers WHERE block_number BETWEEN 20 AND 60');
      node.faults.set({ latencyMs: 1_500 });
      const asked = start('reindex', '--chain', 'shared', '--from', '1', '--to', String(SETTLED), '--detach');
      expect(await asked.exited, asked.output()).toBe(0);
      const job = async () => (await listRangeJobs(database, { limit: 1 }))[0];
      let victim: number | null = null;
      await waitUntil(async () => {
        victim = (await job())?.status === 'running' ? await processAtWork(program) : null;
        return victim === null ? program.output() : null;
      }, 30_000);
      expect((await job())?.holder).not.toBeNull();
      process.kill(victim ?? 0, 'SIGKILL');
      await waitUntil(() => (commandLineOf(victim ?? 0) === null ? null : `${victim} still runs`));
      expect((await job())?.status).toBe('running');
      node.faults.clear();
      await waitUntil(async () => ((await job())?.status === 'done' ? null : program.output()), 60_000);
      expect(await job()).toMatchObject({ work: 'reindex', ranges: [{ from: 1, to: SETTLED }], error: null });
      await expectTruth(database, facts, chain);
      program.kill('SIGTERM');
      expect(await program.exited, program.output()).toBe(0);
    },
    TIMEOUT_MS,
  );
});
