/**
 * Every recorded block with its transactions is served as it was recorded, field by field: expected responses are written from the recorded JSON alone.
 * Blocks that were recorded whole are proven; those that lack parts are served as the word of a node.
 */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { createDueWork, type DueWork } from '@chainstead/jobs/worker';
import { addStateReads } from '@chainstead/node-reads';
import type { UpstreamPool } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import {
  type ChainNode,
  checkAnswers,
  createScratchDatabase,
  type ScratchDatabase,
  serveRecordedChain,
} from '@chainstead/testkit';
import { createDatasetRoutes, stateReaders } from 'chainstead/src/datasets/index.ts';
import { createApiUnderTest, TEST_KEY } from 'chainstead/src/testing/api-under-test.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  expectedBlock,
  expectedEvent,
  expectedTransaction,
  type RecordedBlock,
} from './expected-transactions.ts';
import { listRecordings, RECORDINGS, readRecorded, readRecording } from './recorded-evm-blocks.ts';

const ALL = listRecordings();
/** Whose receipts were recorded with all that their root holds. */
const PROVABLE = new Set(
  RECORDINGS.isMissing
    ? []
    : (readRecorded('receipts-roots.json') as { receiptsRoot_recomputes: string[] }).receiptsRoot_recomputes,
);
const CHAINS = [...new Set(ALL.map(({ chain }) => chain))];

interface Served {
  readonly chain: Chain;
  readonly node: ChainNode;
  readonly pool: UpstreamPool;
}

let scratch: ScratchDatabase;
let dueWork: DueWork;
let api: Awaited<ReturnType<typeof createApiUnderTest>>;
const served = new Map<string, Served>();

describe.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('recorded blocks'), () => {
  beforeAll(async () => {
    scratch = await createScratchDatabase();
    const { database } = scratch;
    const [logger, metrics] = [silentLogger(), createMetricsRegistry()];
    dueWork = createDueWork({ database, clock: systemClock, logger, metrics });
    const ids = readRecorded('chain-ids.json') as Record<string, number>;
    const known = createChainRegistry();
    const additional = CHAINS.flatMap((key) =>
      known.find(ids[key] ?? 0) === null ? [{ key, id: ids[key] ?? 0 }] : [],
    );
    const registry = createChainRegistry({ additional });
    for (const name of CHAINS) {
      const isWhole = ALL.every((one) => one.chain !== name || (one.isFaithful && PROVABLE.has(one.folder)));
      const found = registry.get(ids[name] ?? name);
      // What was recorded without signatures or access lists contradicts its header.
      const chain: Chain = {
        ...(isWhole ? found : { ...found, proofPolicy: 'record' as const }),
        finalizedTag: true,
      };
      served.set(name, await serve(name, chain));
    }
    const chains = [...served.values()];
    addStateReads(dueWork, {
      database,
      chains,
      readers: stateReaders,
      clock: systemClock,
      logger,
      metrics,
    });
    dueWork.start();
    const routes = createDatasetRoutes({
      ...{ database, logger, chains: chains.map(({ chain }) => chain), clock: systemClock },
      onDemand: { waitMs: 30_000, maxCalls: 1_000, perKey: 1_000 },
    });
    api = checkAnswers(
      await createApiUnderTest(database, registry, routes, {
        chains: chains.map(({ chain }) => chain),
        datasets: [],
      }),
    );
  });
  afterAll(async () => {
    await dueWork?.close(2_000);
    for (const { pool, node } of served.values()) {
      await pool.close();
      await node.close();
    }
    await scratch?.drop();
  });

  async function serve(name: string, chain: Chain): Promise<Served> {
    const node = await serveRecordedChain({ folder: RECORDINGS.folder, chain: name });
    const pool = createUpstreamPool({
      ...{ chain, upstreams: [{ url: node.url }], logger: silentLogger(), metrics: createMetricsRegistry() },
      limits: { rounds: 2, deadlineMs: 2_000 },
    });
    await pool.start();
    return { chain, node, pool };
  }

  async function ask(path: string): Promise<{ readonly status: number; readonly body: unknown }> {
    const answer = await api.request(`/api/v2.2/${path}`, { headers: { 'x-api-key': TEST_KEY } });
    return { status: answer.status, body: await answer.json() };
  }

  test.each(ALL)('$folder is served as it was recorded', async (recording) => {
    const of = readRecording(recording);
    const chain = served.get(recording.chain)?.chain as Chain;
    const { status, body } = await ask(`block/${recording.n}?chain=${chain.id}`);
    expect(status, JSON.stringify(body).slice(0, 300)).toBe(200);
    const { proof, finalized, confirmations, source, transactions, ...header } = Object(body);
    expect({ finalized, confirmations, source }).toEqual({ finalized: true, confirmations: 0, source: 'node' });
    expect(header).toEqual(expectedBlock(chain, of));
    const expected = of.block.transactions.flatMap((one) => expectedTransaction(chain, of, one) ?? []);
    expect(transactions).toEqual(expected);
    expect(proof).toMatch(expectedProof(recording, chain, of));
    const { transactions: counted } = Object((await ask(`block/${of.block.hash}/stats?chain=${chain.id}`)).body);
    expect(counted).toEqual({ total: String(expected.length) });
  });

  /** Tempo's own type has no known encoding. Some of the blocks converted from forms that lack fields are still provable. */
  function expectedProof(
    { folder: of, isFaithful }: (typeof ALL)[number],
    chain: Chain,
    { block }: RecordedBlock,
  ): RegExp {
    if (chain.receiptsRoot === 'none' || block.transactions.some(({ type }) => type === '0x76')) return /^none$/;
    return isFaithful && PROVABLE.has(of) ? /^receipts\+transactions$/ : /^(?:receipts\+transactions|none)$/;
  }

  // A record is the same however its transaction was found: one block of each chain shows that.
  test.each(CHAINS.flatMap((name) => ALL.find(({ chain }) => chain === name) ?? []))(
    'transactions of $folder are found by their hashes',
    async (recording) => {
      const of = readRecording(recording);
      const chain = served.get(recording.chain)?.chain as Chain;
      const { transactions } = of.block;
      const [first, last] = [transactions[0], transactions.at(-1)];
      const creation = transactions.find(({ to }) => to === null || to === undefined);
      const failed = of.receipts.find(({ status }) => status === '0x0');
      const chosen = [first, last, creation, transactions.find(({ hash }) => hash === failed?.transactionHash)];
      for (const one of new Set(chosen)) {
        const expected = one === undefined ? null : expectedTransaction(chain, of, one);
        if (one === undefined || expected === null) continue;
        const { status, body } = await ask(`transaction/${String(one.hash)}?chain=${chain.id}`);
        expect(status, JSON.stringify(body).slice(0, 300)).toBe(200);
        expect(body).toMatchObject({ ...expected, source: 'node', finalized: true });
        const verbose = await ask(`transaction/${String(one.hash)}/verbose?chain=${chain.id}`);
        const logs = expected.logs.map((log) => ({ ...log, decoded_event: expectedEvent(log) }));
        expect(verbose.body).toMatchObject({ ...expected, logs });
      }
    },
  );
});
