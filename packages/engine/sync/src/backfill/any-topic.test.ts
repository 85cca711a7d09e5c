/** Logs of one emitter with any topic: they are read of that contract alone, whatever other datasets read. */
import { sql } from '@chainstead/db';
import { requestNode } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import type { Dataset } from '../dataset/dataset.ts';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { openScriptedStage } from '../testing/scripted-stage.ts';
import { backfill } from './backfill.ts';

const BLOCKS = 60;
const RANGE = { from: 1, to: BLOCKS };
const scratch = scratchOfFile();
let nextChainId = 982_001;

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await scratch.database.query(sql`CREATE TABLE seen (LIKE marks INCLUDING ALL)`);
});

interface JsonLog {
  readonly address: string;
  readonly blockNumber: string;
  readonly logIndex: string;
}

it.each(['none', 'receipts'] as const)('are complete with the proof %s', async (proof) => {
  const filters: { readonly address?: unknown; readonly topics?: unknown }[] = [];
  const stage = await openScriptedStage(scratch.database, nextChainId++, [marks] as readonly Dataset[], {
    blocks: BLOCKS,
    answer: (method, params, own) => {
      if (method === 'eth_getLogs') filters.push(Object(params[0]));
      return own(params);
    },
  });
  onTestFinished(() => stage.close());
  const emitter = stage.scripted.tokens[0]?.address;
  if (emitter === undefined) throw new RangeError('The scripted chain has no token');
  const seen = {
    ...{ name: 'seen', topics: () => [], anyTopic: () => true, emitters: () => [emitter] },
    table: { ...marks.table, name: 'seen' },
    decode: (logs, { chain }) =>
      logs.flatMap(({ address: account, blockNumber, blockHash, logIndex }) =>
        account === emitter
          ? [{ account, chainId: chain.id, blockNumber, logIndex, amount: '1', blockHash, token: account }]
          : [],
      ),
  } satisfies typeof marks;
  const datasets = [seen, marks] as readonly Dataset[];
  await backfill(
    { ...stage, datasets, order: 'newest-first', proof, kind: 'add' },
    [RANGE],
    new AbortController().signal,
  );
  for (const dataset of datasets) expect((await stage.coverageOf(dataset)).ranges).toEqual([RANGE]);
  const stored = await scratch.database.query<{ place: string }>(
    sql`SELECT block_number || ' ' || log_index AS place FROM seen WHERE chain_id = ${stage.chain.id} ORDER BY block_number, log_index`,
  );
  // Filters without a topic name the contract: no dataset makes another one read all logs of the chain.
  for (const { address, topics } of filters) expect(topics === undefined ? address : topics).toHaveLength(1);
  expect(filters.some(({ topics }) => topics === undefined)).toBe(proof === 'none');
  const all = (await requestNode(stage.node.url, 'eth_getLogs', [
    { fromBlock: '0x1', toBlock: 'latest' },
  ])) as JsonLog[];
  const expected = all.filter(({ address }) => address === emitter);
  expect(expected.length).toBeGreaterThan(10);
  expect(expected.length).toBeLessThan(all.length);
  expect(stored.map(({ place }) => place)).toEqual(
    expected.map(({ blockNumber, logIndex }) => `${Number(blockNumber)} ${Number(logIndex)}`),
  );
  const { stored: marked, expected: transfers } = await stage.marksOf(RANGE.from, RANGE.to);
  expect(marked).toBe(transfers);
});
