/**
 * Pages whose rows and blocks are of different moments, as on a cluster while a reorganisation is being committed: they are read again, and answered 503
 * where that doesn't help.
 */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import { type Database, type Sql, sql, statementOf } from '@chainstead/db';
import {
  createScratchDatabase,
  createScriptedChain,
  type ScratchDatabase,
  serveScriptedChain,
} from '@chainstead/testkit';
import { createDatasetRoutes } from 'chainstead/src/datasets/index.ts';
import { createApiUnderTest, TEST_KEY } from 'chainstead/src/testing/api-under-test.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeOnCitus } from './citus-stage.ts';
import { indexFresh, SCRIPTED_CHAIN_ID, scriptedChainFacts } from './indexed-chain.ts';

const TIMEOUT_MS = 90_000;
/** Statements of pages, which return the rows and their blocks, unlike the other ones of a request. */
const IS_PAGE = /\) AS blocks\b/;
/** A page is read so often at most. */
const READS = 4;

describe('on one server', () => {
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    scratch = await createScratchDatabase();
  });
  afterAll(() => scratch.drop());
  addTests(async () => scratch);
});

await describeOnCitus('on a cluster', 'pages that are read while blocks are replaced', ({ createSpread }) => {
  addTests(createSpread);
});

function addTests(open: () => Promise<ScratchDatabase>): void {
  let torn: TornDatabase;
  let ask: (path: string) => Promise<Response>;
  let paths: readonly string[];

  beforeAll(async () => {
    const facts = scriptedChainFacts();
    const scratch = await open();
    const chain = createScriptedChain({ seed: 48, chainId: SCRIPTED_CHAIN_ID, wallets: 6 });
    chain.mine(30);
    const node = await serveScriptedChain(chain);
    await indexFresh({ chain: facts, url: node.url, database: scratch.database, from: 1, to: chain.head });
    await node.close();
    torn = tearing(scratch.database, facts);
    const routes = createDatasetRoutes({
      database: torn.database,
      logger: silentLogger(),
      chains: [facts],
      onDemand: { waitMs: 0, maxCalls: 0, perKey: 1_000 },
      clock: systemClock,
    });
    const { key, id } = facts;
    const chains = createChainRegistry({ additional: [{ key, id, headerHash: true, proofPolicy: 'strict' }] });
    const api = await createApiUnderTest(torn.database, chains, routes);
    ask = async (path) => api.request(`/api/v2.2${path}?chain=${key}`, { headers: { 'x-api-key': TEST_KEY } });
    const [moved] = chain.expectedTransfers();
    const [given] = chain.expectedNftMoves();
    if (moved === undefined || given === undefined) throw new Error('The chain has no transfers');
    paths = [
      `/${moved.to}/erc20/transfers`,
      `/erc20/${moved.token}/transfers`,
      `/${given.to}/nft/transfers`,
      `/nft/${given.token}/transfers`,
      `/nft/${given.token}/${given.tokenId}/transfers`,
    ];
  }, TIMEOUT_MS);

  // Invariant: PAGE-ONE-SNAPSHOT
  it('is read again until its rows have their blocks', async () => {
    for (const path of paths) {
      const whole = await (await ask(path)).text();
      await torn.takeBlocks({ until: READS - 1 });
      const answer = await ask(path);
      expect([path, answer.status, await answer.text()]).toEqual([path, 200, whole]);
      expect(torn.reads()).toBe(READS);
    }
  });

  // Invariant: PAGE-ONE-SNAPSHOT
  it('is answered 503, with when to ask again, where they stay away', async () => {
    for (const path of paths) {
      const whole = await (await ask(path)).text();
      await torn.takeBlocks({ until: READS + 1 });
      const answer = await ask(path);
      expect([path, answer.status, await answer.json()]).toEqual([
        path,
        503,
        { message: 'Temporarily unavailable' },
      ]);
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(torn.reads()).toBe(READS);
      await torn.putBack();
      expect(await (await ask(path)).text()).toBe(whole);
    }
  });
}

interface TornDatabase {
  readonly database: Database;
  /** Takes the chain's blocks out, until a page has been read so often from then on. */
  takeBlocks(options: { readonly until: number }): Promise<void>;
  putBack(): Promise<void>;
  /** Number of pages, since blocks were taken out. */
  reads(): number;
}

/** The same database, in which rows are there and their blocks are not. */
function tearing(inner: Database, { id }: Chain): TornDatabase {
  let reads = 0;
  let putBackAt = Number.POSITIVE_INFINITY;
  const putBack = async (): Promise<void> => {
    await inner.query(sql`INSERT INTO blocks SELECT * FROM taken_blocks ON CONFLICT DO NOTHING`);
  };
  async function select<Row extends object>(statement: Sql): Promise<Row[]> {
    const rows = await inner.select<Row>(statement);
    if (IS_PAGE.test(statementOf(statement).text)) {
      reads += 1;
      if (reads === putBackAt) await putBack();
    }
    return rows;
  }
  return {
    database: { ...inner, select, until: (...args) => ({ ...inner.until(...args), select }) },
    async takeBlocks({ until }) {
      await inner.query(sql`CREATE TABLE IF NOT EXISTS taken_blocks AS SELECT * FROM blocks`);
      await inner.query(sql`DELETE FROM blocks WHERE chain_id = ${id}`);
      reads = 0;
      putBackAt = until;
    },
    putBack,
    reads: () => reads,
  };
}
