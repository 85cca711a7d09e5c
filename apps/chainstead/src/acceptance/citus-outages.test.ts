/** Nodes of a cluster of Citus die: nothing is lost or doubled of what is being indexed, and no page is wrong meanwhile. */
import { createChainRegistry } from '@chainstead/chains';
import { systemClock } from '@chainstead/core';
import { seedCoverage, seedTransfers } from '@chainstead/erc20/testing';
import {
  addressOf,
  createScratchDatabase,
  createScriptedChain,
  createSeededRandom,
  findCitus,
  type ScratchCitus,
  serveScriptedChain,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createApiUnderTest, TEST_KEY } from './api-under-test.ts';
import { countRows, dumpEverything } from './citus-rows.ts';
import { indexFresh, SCRIPTED_CHAIN_ID, scriptedChainFacts, startIndexer } from './indexed-chain.ts';
import { untilIndexed } from './indexed-tables.ts';

const programs = await findCitus('nodes that die while blocks are written and read');
const TIMEOUT_MS = 300_000;
const KILLS = 4;

describe.runIf(programs !== undefined)('a distributed database of which a node dies', () => {
  let cluster: ScratchCitus;

  beforeAll(async () => {
    if (programs === undefined) return;
    cluster = await programs.createCluster();
  }, TIMEOUT_MS);
  afterAll(() => cluster?.remove());

  it('loses nothing and has nothing twice of what was being written', { timeout: TIMEOUT_MS }, async () => {
    const random = createSeededRandom('citus/outages');
    const spread = await cluster.createDatabase({ distributed: true });
    onTestFinished(() => spread.drop());
    const chain = createScriptedChain({ seed: 44, chainId: SCRIPTED_CHAIN_ID });
    chain.mine(400);
    // Slow answers to small ranges, so that a crash meets commits.
    const node = await serveScriptedChain(chain, {
      faults: { latencyMs: 5, logLimit: { style: 'geth', maxRange: 16 } },
    });
    onTestFinished(() => node.close());
    const facts = scriptedChainFacts();
    const indexer = await startIndexer({ chain: facts, database: spread.database, urls: [node.url] });
    onTestFinished(() => indexer.stop());
    for (let kill = 0; kill < KILLS; kill++) {
      const victim = cluster.workers[kill % cluster.workers.length];
      if (victim === undefined) throw new Error('The cluster has no workers');
      const mining = setInterval(() => {
        chain.mine(1);
        if (random.chance(0.3)) chain.reorg(random.integer(1, 4), random.integer(4, 6));
      }, 50);
      await systemClock.sleep(random.integer(300, 1_200));
      await victim.crash();
      await systemClock.sleep(random.integer(100, 800));
      clearInterval(mining);
      await victim.restart();
    }
    await untilIndexed(spread.database, facts, chain, { proven: true, timeoutMs: 120_000 });
    const single = await createScratchDatabase();
    onTestFinished(() => single.drop());
    await indexFresh({ chain: facts, url: node.url, database: single.database, from: 1, to: chain.head });
    const own = await dumpEverything(spread.database, facts);
    expect(own).toEqual(await dumpEverything(single.database, facts));
    expect(countRows(own).erc20_transfers).toBeGreaterThan(1_000);
    // What a crash left half committed is settled by then.
    await vi.waitFor(
      async () =>
        expect(
          await spread.database.query(
            `SELECT result FROM run_command_on_workers('SELECT count(*) FROM pg_prepared_xacts') WHERE result <> '0'`,
          ),
        ).toEqual([]),
      { timeout: 20_000, interval: 500 },
    );
  });

  it('says that it can not answer while a node is away, and answers once it is back', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const spread = await cluster.createDatabase({ distributed: true });
    onTestFinished(() => spread.drop());
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
    const [dead] = cluster.workers;
    if (dead === undefined) throw new Error('The cluster has no workers');
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
