/** A cluster of Citus for the tests of one file, databases on it, and a chain that is followed into one of them while servers die. */
import type { Chain } from '@chainstead/chains';
import { type Database, sql } from '@chainstead/db';
import {
  createScratchDatabase,
  createScriptedChain,
  findCitus,
  type ScratchCitus,
  type ScratchCluster,
  type ScratchDatabase,
  type ScriptedChain,
  type SeededRandom,
  serveScriptedChain,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, onTestFinished, vi } from 'vitest';
import {
  type Indexer,
  indexFresh,
  SCRIPTED_CHAIN_ID,
  scriptedChainFacts,
  startIndexer,
} from './indexed-chain.ts';

/** Three servers start, which is slow during other tests. */
const START_MS = 300_000;

export interface CitusStage {
  /** Runs from the first test on, and ends after the last. */
  readonly cluster: ScratchCitus;
  worker(index?: number): ScratchCluster;
  /** A database whose tables are distributed. It goes with the cluster. */
  createSpread(): Promise<ScratchDatabase>;
  /** One that is distributed, and one of one server to compare with. */
  createBoth(): Promise<readonly [spread: ScratchDatabase, single: ScratchDatabase]>;
}

/**
 * Tests on a separate cluster. Without Citus they are skipped with a notice.
 * @param what is not tested then: `nodes that die`
 */
export async function describeOnCitus(
  title: string,
  what: string,
  addTests: (stage: CitusStage) => void,
): Promise<void> {
  const programs = await findCitus(what);
  describe.runIf(programs !== undefined)(title, () => {
    let running: ScratchCitus | undefined;
    const parts = new AsyncDisposableStack();
    beforeAll(async () => {
      if (programs !== undefined) running = parts.adopt(await programs.createCluster(), (one) => one.remove());
    }, START_MS);
    afterAll(() => parts.disposeAsync());
    const cluster = (): ScratchCitus => {
      if (running === undefined) throw new Error('The cluster does not run yet');
      return running;
    };
    const open = async (created: Promise<ScratchDatabase>): Promise<ScratchDatabase> =>
      parts.adopt(await created, (scratch) => scratch.drop());
    const createSpread = () => open(cluster().createDatabase({ distributed: true }));
    addTests({
      get cluster() {
        return cluster();
      },
      worker(index = 0) {
        const found = cluster().workers[index];
        if (found === undefined) throw new Error(`The cluster has no worker ${index}`);
        return found;
      },
      createSpread,
      createBoth: () => Promise.all([createSpread(), open(createScratchDatabase())]),
    });
  });
}

/** A scripted chain that is followed into a distributed database, until the test is over. */
export interface FollowedSpread {
  readonly database: Database;
  readonly chain: ScriptedChain;
  readonly facts: Chain;
  readonly indexer: Indexer;
  /** Mines a block every 50 ms, and now and then replaces some. @returns what ends it */
  mineOn(random: SeededRandom, chanceOfReorg: number): () => void;
  /** The chain as it is now, indexed at once into a database of one server. */
  indexAlone(): Promise<Database>;
}

/** @param options `blocks` are there from the start */
export async function followSpread(
  { createSpread }: CitusStage,
  { blocks, ...options }: { seed: number; blocks: number; wallets?: number; finalityDepth?: number },
): Promise<FollowedSpread> {
  const { database } = await createSpread();
  const chain = createScriptedChain({ ...options, chainId: SCRIPTED_CHAIN_ID });
  chain.mine(blocks);
  // Slow responses to small ranges, so that a crash meets commits.
  const node = await serveScriptedChain(chain, {
    faults: { latencyMs: 5, logLimit: { style: 'geth', maxRange: 16 } },
  });
  onTestFinished(() => node.close());
  const facts = scriptedChainFacts();
  const indexer = await startIndexer({ chain: facts, database, urls: [node.url] });
  onTestFinished(() => indexer.stop());
  return {
    database,
    chain,
    facts,
    indexer,
    mineOn(random, chanceOfReorg) {
      const mining = setInterval(() => {
        chain.mine(1);
        if (random.chance(chanceOfReorg)) chain.reorg(random.integer(1, 4), random.integer(4, 6));
      }, 50);
      return () => clearInterval(mining);
    },
    async indexAlone() {
      const single = await createScratchDatabase();
      onTestFinished(() => single.drop());
      await indexFresh({ chain: facts, url: node.url, database: single.database, from: 1, to: chain.head });
      return single.database;
    },
  };
}

/** What a crash left half committed is committed or taken back, on every worker. */
export async function untilSettled(database: Database): Promise<void> {
  await vi.waitFor(
    async () =>
      expect(
        await database.query(
          sql`SELECT result FROM run_command_on_workers('SELECT count(*) FROM pg_prepared_xacts') WHERE result <> '0'`,
        ),
      ).toEqual([]),
    { timeout: 60_000, interval: 500 },
  );
}
