import { type Address, type Hash, type Log, parseHash } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { FIRST_PAGE } from '@chainstead/pages/testing';
import {
  addressOf,
  createPartitions,
  type Explained,
  exampleChain,
  explain,
  hashOf,
  PLANS,
  type PlanKind,
  type PlanNode,
  rowsRead,
  timestampOf,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ContractLogsQuery, contractLogsPage } from './contract-logs-page.ts';
import { logs } from './dataset.ts';

const BLOCKS = 6_000;
const LIMIT = 100;
/** Block numbers that separate the four partitions. */
const CUTS = [1_500, 3_000, 5_000];
/** Number of blocks in the stale statistics. */
const ANALYZED = 200;
const [BUSY, SMALL] = [addressOf(0xb05), addressOf(0x5a1)];
/** Nine of ten logs of the busy contract have the first topic. */
const [COMMON, RARE, UNKNOWN] = [hashOf(7, 1), hashOf(8, 2), hashOf(9, 3)].map((hash, place) =>
  parseHash(`0x${['c0', 'ff', 'aa'][place]}${hash.slice(4)}`),
) as [Hash, Hash, Hash];
const chain = exampleChain();

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  await createPartitions(scratch.database, 'logs', chain.id, CUTS);
  await seed(0, ANALYZED);
  await scratch.database.query(sql`ANALYZE`);
  await seed(ANALYZED, BLOCKS);
});

async function seed(from: number, below: number): Promise<void> {
  await scratch.database.transaction(async (transaction) => {
    const rows = logs.decode([...seeded(from, below)], { chain, timestampOf });
    await transaction.copy('logs', logs.table.columns, rows.map(logs.table.copyLine));
  });
}

function* seeded(from: number, below: number): Generator<Log> {
  for (let blockNumber = from; blockNumber < below; blockNumber++)
    for (let logIndex = 0; logIndex < 10; logIndex++)
      yield logOf(
        logIndex < 8
          ? BUSY
          : logIndex === 8 && blockNumber % 100 === 0
            ? SMALL
            : addressOf(500 + (blockNumber % 300)),
        blockNumber,
        logIndex,
        (blockNumber * 8 + logIndex) % 10 === 0 ? RARE : COMMON,
      );
}

function logOf(address: Address, blockNumber: number, logIndex: number, topic: Hash): Log {
  return {
    ...{ address, blockNumber, logIndex, topics: [topic], data: '0x00', blockHash: hashOf(1, blockNumber) },
    transactionHash: hashOf(2, blockNumber * 1_000 + logIndex),
    transactionIndex: logIndex >> 1,
    blockTimestamp: null,
  };
}

const explainPage = (plan: PlanKind, query: Partial<ContractLogsQuery> = {}): Promise<Explained> =>
  explain(
    scratch.database,
    contractLogsPage(chain, {
      ...FIRST_PAGE,
      contract: BUSY,
      topics: [null, null, null, null],
      limit: LIMIT,
      offset: 0,
      ...query,
    }).statement(),
    plan,
  );

const isOfLogs = (node: PlanNode): boolean => node['Relation Name']?.startsWith('logs_') === true;

const FAR_DOWN = { after: { block: 714, transaction: 1, log: 2 }, pinnedBlock: BLOCKS };
const BOUNDS: readonly (readonly [string, Partial<ContractLogsQuery>])[] = [
  ['the first page', {}],
  ['the first page, ascending', { order: 'ASC' }],
  ['a page far down', FAR_DOWN],
  ['block bounds', { fromBlock: 2_000, toBlock: 4_000 }],
  ['block bounds, ascending', { fromBlock: 2_000, toBlock: 4_000, order: 'ASC' }],
];

// The API uses generic plans.
const GENERIC = PLANS.filter(({ plan }) => plan === 'generic');

describe.each(GENERIC)('the $plan plan $statistics', ({ prepare, plan, statistics }) => {
  beforeAll(() => prepare(scratch.database));

  test.each([
    ...BOUNDS,
    ['a contract of few logs', { contract: SMALL }] as const,
    ['a contract without logs', { contract: addressOf(3) }] as const,
  ])('%s of all logs is a range of the key', async (_name, query) => {
    const { nodes } = await explainPage(plan, query);
    const scans = nodes.filter(isOfLogs);
    // A first page also reads its run's newest block.
    expect(scans.length).toBeGreaterThanOrEqual(query.after ? 1 : 2);
    for (const scan of scans)
      expect(scan['Node Type']).toMatch(/^(Index Scan|Index Only Scan|Bitmap Heap Scan)$/);
    expect(rowsRead(nodes, 'logs')).toBeLessThanOrEqual(1.4 * (LIMIT + 1));
  });

  // Without statistics of a partition, each event looks common until autoanalyze has run.
  test
    .runIf(statistics !== 'without statistics')
    .each([
      ...BOUNDS.flatMap(([name, query]) =>
        [COMMON, RARE, UNKNOWN].map(
          (topic, place) =>
            [
              `${name} of ${['a common', 'a rare', 'an unknown'][place]} event`,
              { ...query, topics: [topic, null, null, null] },
            ] as const,
        ),
      ),
    ])('%s is a range of the index of events', async (_name, query) => {
    const { nodes } = await explainPage(plan, query);
    expect(nodes.some((node) => /substring/.test(node['Index Cond'] ?? ''))).toBe(true);
    // Within a block rows are sorted: whole blocks are read.
    expect(rowsRead(nodes, 'logs')).toBeLessThanOrEqual(1.4 * (LIMIT + 1) + 20);
  });
});
