import { sql } from '@chainstead/db';
import {
  addressOf,
  createPartitions,
  exampleChain,
  explain,
  hashOf,
  PLANS,
  timestampOf,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { logs } from '../contract-logs/dataset.ts';
import { storedLogsStatement } from './stored-logs.ts';

const BLOCKS = 6_000;
/** Block numbers that separate the three partitions. */
const CUTS = [2_000, 4_000];
/** Number of blocks in the stale statistics. */
const ANALYZED = 200;
const LOGS_OF_BLOCK = 10;
const chain = exampleChain();

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  await createPartitions(scratch.database, 'logs', chain.id, CUTS);
  await seed(0, ANALYZED);
  await scratch.database.query(sql`ANALYZE`);
  await seed(ANALYZED, BLOCKS);
});

async function seed(from: number, below: number): Promise<void> {
  const given = Array.from({ length: (below - from) * LOGS_OF_BLOCK }, (_, place) => {
    const [blockNumber, logIndex] = [from + Math.floor(place / LOGS_OF_BLOCK), place % LOGS_OF_BLOCK];
    return {
      ...{
        address: addressOf(logIndex),
        blockNumber,
        logIndex,
        topics: [hashOf(7, logIndex)],
        data: '0x00' as const,
      },
      ...{ blockHash: hashOf(1, blockNumber), transactionHash: hashOf(2, place), blockTimestamp: null },
      transactionIndex: logIndex >> 1,
    };
  });
  const rows = logs.decode(given, { chain, timestampOf });
  await scratch.database.transaction((transaction) =>
    transaction.copy('logs', logs.table.columns, rows.map(logs.table.copyLine)),
  );
}

// The API uses generic plans.
describe.each(PLANS.filter(({ plan }) => plan === 'generic'))(
  'the $plan plan $statistics',
  ({ prepare, plan }) => {
    beforeAll(() => prepare(scratch.database));

    test('finds the logs of a page by the blocks of their transactions', async () => {
      const places = Array.from({ length: 100 }, (_, place) => ({ block: 50 * place + 7, transaction: 3 }));
      const statement = storedLogsStatement(chain, places, { select: sql`count(*)`, isSpread: false });
      const { nodes } = await explain(scratch.database, statement, plan);
      const scans = nodes.filter((node) => node['Relation Name']?.startsWith('logs_') === true);
      expect(scans.length).toBeGreaterThanOrEqual(3);
      for (const scan of scans) expect(scan['Node Type']).toMatch(/^(Index Scan|Bitmap Heap Scan)$/);
    });
  },
);
