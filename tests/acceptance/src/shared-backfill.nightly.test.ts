/** One chain's history filled by several real processes, of which any may die at any moment: the tables end as those of a single one. */

import { platform } from 'node:os';
import { type Database, sql } from '@chainstead/db';
import { commandLineOf, type Program } from '@chainstead/testkit';
import { describe, expect, it } from 'vitest';
import { waitUntil } from './indexed-chain.ts';
import { dumpTables, expectEqualToFreshIndex, expectTruth, untilIndexed } from './indexed-tables.ts';
import { processesOf, sharedChainStage } from './shared-chain-stage.ts';

const CHAIN_ID = 1_337_031;
const BLOCKS = 800;
const PROCESSES = 3;
const TIMEOUT_MS = 240_000;
const KILLED_WITHIN_MS = 120_000;
/** One process reads some forty blocks a second: there is something left for those who come later. */
const SLOW = { latencyMs: 600 };
const stage = sharedChainStage({ chainId: CHAIN_ID, seed: 20_261_122, blocks: BLOCKS });
const { chain, facts, openScratch, start } = stage;

async function coveredBlocks(database: Database): Promise<number> {
  const [row] = await database.query<{ blocks: number }>(
    sql`SELECT coalesce(sum(last_block - first_block + 1), 0)::int AS blocks FROM sync_ranges WHERE dataset = 'erc20-transfers'`,
  );
  return row?.blocks ?? 0;
}

/**
 * Kills processes one after the other, each when it has written rows of blocks and waits to commit them. The test holds up all commits of the chain meanwhile,
 * so that each dies with its work half done, and there is history left.
 * @param names of their sessions, one for each kill
 * @param commandOf returns the process of a session by its command line
 */
async function killMidCommit(
  program: Program,
  database: Database,
  names: readonly RegExp[],
  commandOf: (name: string) => RegExp,
): Promise<void> {
  const lock = `commit:${CHAIN_ID}`;
  await database.query(sql`INSERT INTO transaction_locks (name) VALUES (${lock}) ON CONFLICT DO NOTHING`);
  await database.transaction(async (transaction) => {
    await transaction.query(sql`SELECT FROM transaction_locks WHERE name = ${lock} FOR UPDATE`);
    // Sessions of the dead wait on: the server looks for them only when it has something to say.
    const dead: number[] = [];
    for (const name of names) {
      let victim = 0;
      await waitUntil(async () => {
        // Who only waits for its turn has written nothing, and has no transaction id.
        const sessions = await database.query<{ pid: number; name: string }>(
          sql`SELECT pid, application_name AS name FROM pg_stat_activity WHERE datname = current_database()
             AND wait_event_type = 'Lock' AND backend_xid IS NOT NULL AND pid <> ALL (${dead}::int[])`,
        );
        const session = sessions.find((one) => name.test(one.name));
        const [found] = session === undefined ? [] : processesOf(program, commandOf(session.name));
        if (session === undefined || found === undefined) return `${name} does not commit\n${program.output()}`;
        victim = found;
        dead.push(...sessions.flatMap((one) => (one.name === session.name ? [one.pid] : [])));
        return null;
      }, KILLED_WITHIN_MS);
      process.kill(victim, 'SIGKILL');
      await waitUntil(() => (commandLineOf(victim) === null ? null : `${victim} still runs`));
    }
    expect(await coveredBlocks(database)).toBeLessThan(HISTORY);
  });
}

/** Rows of a run's output that are JSON. */
function linesOf(program: Program): Record<string, unknown>[] {
  return program
    .output()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
}

const HISTORY = BLOCKS - facts.reorgDepthMax;
const RANGE = ['--chain', 'shared', '--from', '1', '--to', String(HISTORY)];
let single: Promise<{ readonly outcome: unknown; readonly tables: unknown }> | undefined;

/** Lines and rows of one process alone about the backfill. */
function indexAlone(): NonNullable<typeof single> {
  single ??= (async () => {
    const { database, url } = await openScratch();
    const alone = start(['backfill', ...RANGE], url, 1);
    expect(await alone.exited, alone.output()).toBe(0);
    return { outcome: linesOf(alone).at(-1), tables: await dumpTables(database, facts) };
  })();
  return single;
}

async function untilHelped(program: Program): Promise<void> {
  await waitUntil(
    () => (processesOf(program, /backfill-process\.[jt]s/).length === PROCESSES - 1 ? null : program.output()),
    TIMEOUT_MS,
  );
}

describe.runIf(platform() === 'linux')('the history of one chain', () => {
  it(
    'is filled by all processes of ingest, and whole when some are killed, the leader among them',
    async () => {
      const { database, url } = await openScratch();
      stage.node.faults.set(SLOW);
      const program = start(['start'], url, PROCESSES);
      await program.waitFor(/"process":"ingest-[23]".*Helping with the backfill/);
      // The first leads.
      const victims = [/ ingest-1$/, / ingest-[23]$/, / ingest-[23]$/];
      await killMidCommit(
        program,
        database,
        victims,
        (name) => new RegExp(`role-process\\.[jt]s ingest ${name.at(-1)} 3\\b`),
      );
      stage.node.faults.clear();
      await untilIndexed(database, facts, chain, { proven: true });
      await expectTruth(database, facts, chain);
      await expectEqualToFreshIndex(database, facts, chain);
      // One of them leads and follows; the others are there for history alone.
      const leaders = await database.query<{ name: string }>(
        sql`SELECT name FROM leases WHERE name LIKE 'ingest:%'`,
      );
      expect(leaders).toEqual([{ name: `ingest:${CHAIN_ID}` }]);
      program.signal('SIGTERM');
      expect(await program.exited, program.output()).toBe(0);
      expect(await database.query(sql`SELECT * FROM sync_claims`)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'is filled by the processes of one command, which tells the logs and blocks of all',
    async () => {
      const alone = await indexAlone();
      const { database, url } = await openScratch();
      stage.node.faults.set({ latencyMs: 100 });
      const together = start(['backfill', ...RANGE, '--bulk'], url, PROCESSES);
      await untilHelped(together);
      expect(await together.exited, together.output()).toBe(0);
      stage.node.faults.clear();
      expect(linesOf(together).at(-1)).toEqual(alone.outcome);
      expect(await dumpTables(database, facts)).toEqual(alone.tables);
    },
    TIMEOUT_MS,
  );

  it(
    'is filled by a command whose helpers are killed, which starts them again',
    async () => {
      const alone = await indexAlone();
      const { database, url } = await openScratch();
      stage.node.faults.set(SLOW);
      const program = start(['backfill', ...RANGE], url, PROCESSES);
      await untilHelped(program);
      const victims = [/ backfill-\d$/, / backfill-\d$/, / backfill-\d$/];
      await killMidCommit(
        program,
        database,
        victims,
        (name) => new RegExp(`backfill-process\\.[jt]s .*"number":${name.at(-1)}`),
      );
      expect(program.output()).toContain('Backfill helper process ended unexpectedly, restarting it');
      stage.node.faults.clear();
      expect(await program.exited, program.output()).toBe(0);
      expect(linesOf(program).at(-1)).toMatchObject({ blocks: HISTORY, finished: true });
      expect(await dumpTables(database, facts)).toEqual(alone.tables);
      expect(await database.query(sql`SELECT * FROM sync_claims`)).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
