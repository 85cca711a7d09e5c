/**
 * Recorded blocks of thirteen chains are indexed whole, and wallets' transactions are served as they were recorded, field by field: expected answers are
 * written from the recorded JSON alone.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { createDatasetRoutes, datasets, stateReaders } from '@chainstead/datasets';
import { createJobs } from '@chainstead/jobs';
import { createUpstreamPool } from '@chainstead/rpc';
import { createStateWorker } from '@chainstead/state';
import {
  checkAnswers,
  createScratchDatabase,
  recordedData,
  type ScratchDatabase,
  serveRecordedChain,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApiUnderTest, TEST_KEY } from './api-under-test.ts';
import { expectedEvent, expectedTransaction, type RecordedBlock } from './expected-transactions.ts';
import { indexRecordedBlocks, recordedRanges } from './recorded-blocks.ts';

const { folder, isMissing, title } = recordedData('data/evm');

const read = (...path: string[]): unknown => JSON.parse(readFileSync(join(folder, ...path), 'utf8'));
const ids = (isMissing ? {} : read('chain-ids.json')) as Record<string, number>;
const known = createChainRegistry();
const registry = createChainRegistry({
  additional: Object.entries(ids).flatMap(([key, id]) => (known.find(id) === null ? [{ key, id }] : [])),
});

type Answered = NonNullable<ReturnType<typeof expectedTransaction>>;
type Listed = Omit<Answered, 'logs'>;

/** Wallets of a chain whose lists are compared: those with most transactions, and others as they come. */
const WALLETS = { busiest: 20, others: 60 } as const;
/** Of which all pages are read in both directions. */
const PAGED = 3;

interface Recorded {
  readonly chain: Chain;
  /** Of every wallet, by block and place. */
  readonly lists: ReadonlyMap<string, readonly Answered[]>;
}

function recordedLists(name: string): Recorded {
  const facts = registry.get(ids[name] ?? name);
  const chain: Chain = {
    ...facts,
    finalizedTag: true,
    proofPolicy: 'record',
    transactions: { mode: 'all', input: 'full', provesSenders: true },
  };
  const lists = new Map<string, Answered[]>();
  for (const { from, to } of recordedRanges(folder, name))
    for (let number = from; number <= to; number++) {
      const of: RecordedBlock = {
        block: read(name, String(number), 'block.json') as RecordedBlock['block'],
        receipts: read(name, String(number), 'receipts.json') as RecordedBlock['receipts'],
      };
      for (const transaction of of.block.transactions) {
        const expected = expectedTransaction(chain, of, transaction);
        if (expected === null) continue;
        const created = expected.receipt_status === '0' ? null : expected.receipt_contract_address;
        for (const wallet of new Set([expected.from_address, expected.to_address, created]))
          if (wallet !== null && !/^0x0{40}$/.test(wallet)) lists.set(wallet, [...(lists.get(wallet) ?? []), expected]);
      }
    }
  return { chain, lists };
}

function chosen({ lists }: Recorded): readonly string[] {
  const byLength = [...lists].toSorted(([, one], [, other]) => other.length - one.length).map(([wallet]) => wallet);
  const others = byLength.slice(WALLETS.busiest);
  const step = Math.max(1, Math.floor(others.length / WALLETS.others));
  return [...byLength.slice(0, WALLETS.busiest), ...others.filter((_, index) => index % step === 0)];
}

function listed({ logs: _, ...transaction }: Answered): Listed {
  return transaction;
}

describe.skipIf(isMissing)(title('wallets of recorded blocks'), () => {
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    scratch = await createScratchDatabase();
  });
  afterAll(() => scratch?.drop());

  test.each(Object.keys(ids))('of %s have the transactions that were recorded', async (name) => {
    const { database } = scratch;
    const recorded = recordedLists(name);
    const { chain, lists } = recorded;
    await indexRecordedBlocks({ database, chain, folder, name });
    const logger = silentLogger();
    const jobs = await createJobs({ databaseUrl: scratch.url, logger, metrics: createMetricsRegistry() });
    const node = await serveRecordedChain({ folder, chain: name });
    const pool = createUpstreamPool({
      ...{ chain, upstreams: [{ url: node.url }], logger, metrics: createMetricsRegistry() },
      limits: { rounds: 2, deadlineMs: 2_000 },
    });
    try {
      await pool.start();
      await createStateWorker({
        ...{ database, jobs, chains: [{ chain, pool }], readers: stateReaders, clock: systemClock, logger },
        metrics: createMetricsRegistry(),
      }).start();
      const routes = createDatasetRoutes({
        ...{ database, jobs, logger, chains: [chain], clock: systemClock },
        onDemand: { waitMs: 30_000, maxCalls: 1_000, perKey: 1_000 },
      });
      const chains = { ...registry, find: () => chain, get: () => chain };
      const indexed = { chains: [chain], datasets: datasets.map((one) => one.name) };
      const api = checkAnswers(await createApiUnderTest(database, chains, routes, indexed));
      const ask = async (path: string) => {
        const answer = await api.request(`/api/v2.2/${path}`, { headers: { 'x-api-key': TEST_KEY } });
        const body = (await answer.json()) as { result: Listed[]; cursor: string | null; indexed: object };
        expect([path, answer.status, answer.status === 200 ? '' : body]).toEqual([path, 200, '']);
        return body;
      };
      const pagesOf = async (query: string): Promise<Listed[]> => {
        const rows: Listed[] = [];
        for (let cursor: string | null = ''; cursor !== null; ) {
          const page = await ask(cursor === '' ? query : `${query.split('?')[0]}?cursor=${cursor}`);
          rows.push(...page.result);
          ({ cursor } = page);
        }
        return rows;
      };
      for (const [place, wallet] of chosen(recorded).entries()) {
        const expected = (lists.get(wallet) ?? []).map(listed);
        expect(await pagesOf(`${wallet}?chain=${chain.id}&order=ASC`), wallet).toEqual(expected);
        if (place >= PAGED) continue;
        const size = Math.max(1, Math.ceil(expected.length / 4));
        expect(await pagesOf(`${wallet}?chain=${chain.id}&limit=${size}`)).toEqual(expected.toReversed());
        const [, one] = expected;
        if (one === undefined) continue;
        const since = expected.filter(({ block_number: block }) => Number(block) >= Number(one.block_number));
        expect(await pagesOf(`${wallet}?order=asc&from_block=${one.block_number}`)).toEqual(since);
        expect(await pagesOf(`${wallet}?order=asc&from_date=${one.block_timestamp}`)).toEqual(since);
      }
      const [busiest = ''] = chosen(recorded);
      const verbose = (await ask(`${busiest}/verbose?limit=10&order=ASC`)).result;
      expect(verbose).toEqual(
        (lists.get(busiest) ?? []).slice(0, 10).map((one) => ({
          ...one,
          logs: one.logs.map((log) => ({ ...log, decoded_event: expectedEvent(log) })),
          decoded_call: expect.toSatisfy(
            (call) => (call === null) === (verbose.find(({ hash }) => hash === one.hash)?.method_label === null),
          ),
        })),
      );
    } finally {
      await jobs.close(2_000);
      await pool.close();
      await node.close();
    }
  });
});
