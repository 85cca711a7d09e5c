/** `kill -9` of the real ingest process at many random moments: the tables end as those of an undisturbed run. */
import { systemClock } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import {
  type ChainNode,
  createScratchDatabase,
  createScriptedChain,
  createSeededRandom,
  type Program,
  serveScriptedChain,
  startProgram,
} from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { scriptedChainFacts, waitUntil } from './indexed-chain.ts';
import { expectEqualToFreshIndex, expectTruth, untilIndexed } from './indexed-tables.ts';

const CHAIN_ID = 1_337_004;
const SEED = 20_261_120;
/** Kills while history is read, and while the head is followed. */
const BACKFILL_KILLS = 6;
const FOLLOW_KILLS = 4;
const TIMEOUT_MS = 300_000;
/** So often that a kill meets what it is meant to. */
const LOOK_MS = 25;

type BackfillProof = 'none' | 'receipts';

function startIngest(databaseUrl: string, nodeUrl: string, backfillProof: BackfillProof): Program {
  const environment = {
    DATABASE_URL: databaseUrl,
    CHAINS: 'crash',
    CHAIN_ID_CRASH: `${CHAIN_ID}`,
    RPC_URLS_CRASH: nodeUrl,
    // Its transactions have no signatures.
    SWAPS_CRASH: 'off',
    START_BLOCK_CRASH: '1',
    POLL_INTERVAL_MS: '20',
    VERIFICATION_CRASH: 'strict',
    BACKFILL_PROOF_CRASH: backfillProof,
    VERIFY_BLOCKS_PER_SECOND: '500',
    LOG_LEVEL: 'info',
  };
  return startProgram(['start', '--roles', 'ingest'], { environment });
}

async function coveredBlocks(database: Database): Promise<number> {
  const [row] = await database.query<{ blocks: number }>(
    sql`SELECT coalesce(sum(last_block - first_block + 1), 0)::int AS blocks FROM sync_ranges WHERE dataset = 'erc20-transfers'`,
  );
  return row?.blocks ?? 0;
}

/** Waits until it works and the node was asked so often since: a moment that does not depend on how busy this machine is. */
async function untilRequested(program: Program, node: ChainNode, requests: number): Promise<void> {
  await waitUntil(() => (program.output().includes('Leading the chain') ? null : program.output()));
  const until = node.counters.httpRequests + requests;
  await waitUntil(() => (node.counters.httpRequests >= until ? null : program.output()), TIMEOUT_MS, LOOK_MS);
}

test(
  `${BACKFILL_KILLS + FOLLOW_KILLS} kills during backfill and follow leave the rows of an undisturbed run`,
  async () => {
    const random = createSeededRandom(`crash/${SEED}`);
    const facts = scriptedChainFacts(CHAIN_ID);
    const chain = createScriptedChain({ seed: SEED, chainId: CHAIN_ID });
    chain.mine(900);
    // Slow responses to small ranges, so that a kill meets work.
    const faults = { latencyMs: 10, logLimit: { style: 'geth', maxRange: 16 } } as const;
    const node = await serveScriptedChain(chain, { faults });
    const scratch = await createScratchDatabase();
    const { database } = scratch;
    let program = startIngest(scratch.url, node.url, 'receipts');
    const killed = { inBackfill: 0, afterCommits: 0 };
    /** However busy this machine is, some kills come after a commit. */
    const killAfter = async (requests: number, isAfterCommit: boolean): Promise<void> => {
      const before = await coveredBlocks(database);
      await untilRequested(program, node, requests);
      if (isAfterCommit)
        await waitUntil(
          async () => {
            if ((await coveredBlocks(database)) > before) return null;
            // Where nothing was left to commit.
            if (before >= chain.head) chain.mine();
            return program.output();
          },
          TIMEOUT_MS,
          LOOK_MS,
        );
      await systemClock.sleep(random.integer(0, 20));
      await program.kill();
      const covered = await coveredBlocks(database);
      if (covered < chain.head) killed.inBackfill++;
      if (covered > before) killed.afterCommits++;
    };
    try {
      for (let kill = 0; kill < BACKFILL_KILLS; kill++) {
        // Whole blocks take a request each, filtered logs one for sixteen blocks.
        await killAfter(kill % 2 === 0 ? random.integer(60, 170) : random.integer(1, 20), kill % 4 === 1);
        program = startIngest(scratch.url, node.url, kill % 2 === 0 ? 'none' : 'receipts');
      }
      for (let kill = 0; kill < FOLLOW_KILLS; kill++) {
        const mining = setInterval(() => {
          chain.mine(2);
          if (random.chance(0.2)) chain.reorg(random.integer(1, 6), random.integer(6, 8));
        }, 40);
        await killAfter(random.integer(5, 90), kill % 3 === 0).finally(() => clearInterval(mining));
        program = startIngest(scratch.url, node.url, 'none');
      }
      node.faults.clear();
      await untilIndexed(database, facts, chain, { proven: true });
      await expectTruth(database, facts, chain);
      await expectEqualToFreshIndex(database, facts, chain);
      // The kills met a process that was in the middle of something.
      expect(killed.inBackfill).toBeGreaterThan(4);
      expect(killed.afterCommits).toBeGreaterThan(2);
      const { code } = await program.stop();
      expect(code, program.output()).toBe(0);
      expect(await database.query(sql`SELECT * FROM sync_claims`)).toEqual([]);
    } finally {
      await program.kill();
      await node.close();
      await scratch.drop();
    }
  },
  TIMEOUT_MS,
);
