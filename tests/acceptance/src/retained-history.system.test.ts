/** Old transfers are deleted during requests: blocks that a response calls indexed always have their rows. */

import { createChainRegistry } from '@chainstead/chains';
import { sql } from '@chainstead/db';
import { erc20Transfers } from '@chainstead/erc20/requests';
import { ensurePartitions } from '@chainstead/sync/ingest';
import { createApiUnderTest, type ServedTransfer, TEST_KEY } from 'chainstead/src/testing/api-under-test.ts';
import { describe, vi } from 'vitest';
import { untilIndexed } from './indexed-tables.ts';
import { type Stage, stagedTest } from './stage.ts';

const RETENTION = { blocks: 100, since: null };
const REORG_DEPTH_MAX = 8;
const PARTITION_BLOCKS = 20;
const PAGE_LIMIT = 100;

interface Page {
  readonly result: readonly ServedTransfer[];
  readonly cursor: string | null;
  readonly indexed: { readonly from_block: string; readonly to_block: string; readonly complete: boolean };
}

async function openApi({ scratch, facts }: Stage) {
  const { key, id } = facts;
  const chains = createChainRegistry({ additional: [{ key, id }] });
  const api = await createApiUnderTest(scratch.database, chains);
  return async (wallet: string): Promise<Page> => {
    const query = new URLSearchParams({ chain: key, limit: String(PAGE_LIMIT) });
    const response = await api.request(`/api/v2.2/${wallet}/erc20/transfers?${query}`, {
      headers: { 'x-api-key': TEST_KEY },
    });
    return (await response.json()) as Page;
  };
}

/** The transfers of a wallet in some blocks, as `block/index`. */
const truthOf = (
  { chain }: Stage,
  wallet: string,
  range: { readonly from: number; readonly to: number },
): string[] =>
  chain
    .expectedTransfers(range)
    .filter(({ from, to }) => from === wallet || to === wallet)
    .map(({ blockNumber, logIndex }) => `${blockNumber}/${logIndex}`);

/** A wallet whose transfers fit onto a page, and that has some all along. */
function steadyWallet(stage: Stage): string {
  const wallet = stage.chain.wallets.find((one) => {
    const { length } = truthOf(stage, one, { from: 1, to: stage.chain.head });
    return length > 20 && length < 60;
  });
  if (wallet === undefined) throw new Error('No wallet has some transfers');
  return wallet;
}

describe('pages of a wallet', () => {
  stagedTest(
    'begin where transfers are kept, and lack none of those that are said to be there',
    async ({ stage, expect }) => {
      const { scratch, chain } = stage;
      const facts = { ...stage.facts, reorgDepthMax: REORG_DEPTH_MAX };
      const density = { rows: 1_000, blocks: 1 };
      for (let from = 0; from < 500; from += PARTITION_BLOCKS) {
        const table = { name: erc20Transfers.table.name, rowsPerPartition: PARTITION_BLOCKS * density.rows };
        await ensurePartitions(
          scratch.database,
          facts.id,
          [{ from, to: from + PARTITION_BLOCKS - 1 }],
          [{ table, density }],
        );
      }
      const node = await stage.serve();
      const ask = await openApi(stage);
      const wallet = steadyWallet(stage);
      const indexer = await stage.index([node], { chain: facts });
      await untilIndexed(scratch.database, facts, chain);
      expect((await ask(wallet)).indexed).toMatchObject({ from_block: '1', to_block: '300' });
      await indexer.stop();

      await stage.index([node], { chain: facts, settings: { retention: RETENTION } });
      let isOver = false;
      let pages = 0;
      const asking = (async () => {
        for (; ; pages++) {
          const { result, cursor, indexed } = await ask(wallet);
          expect(cursor).toBeNull();
          const range = { from: Number(indexed.from_block), to: Number(indexed.to_block) };
          const served = new Set(result.map((row) => `${row.block_number}/${row.log_index}`));
          expect(truthOf(stage, wallet, range).filter((one) => !served.has(one))).toEqual([]);
          if (isOver) return;
        }
      })();
      const untilFrom = (least: number) =>
        vi.waitFor(
          async () => {
            const from = Number((await ask(wallet)).indexed.from_block);
            expect(from).toBeGreaterThanOrEqual(least);
            expect(from).toBeLessThanOrEqual(chain.head + 1 - RETENTION.blocks);
          },
          { timeout: 60_000, interval: 50 },
        );
      for (let round = 0; round < 3; round++) {
        // Pages are requested all along.
        await vi.waitFor(() => expect(pages).toBeGreaterThan(7 * round), { timeout: 60_000, interval: 5 });
        await untilFrom(chain.head - RETENTION.blocks - REORG_DEPTH_MAX - 2 * PARTITION_BLOCKS);
        chain.mine(40);
      }
      await untilFrom(chain.head - RETENTION.blocks - REORG_DEPTH_MAX - 2 * PARTITION_BLOCKS);
      isOver = true;
      await asking;
      // What is said to be indexed shrinks first; the rows go a moment after it.
      await vi.waitFor(
        async () => {
          const { indexed, result } = await ask(wallet);
          expect(result.filter((row) => Number(row.block_number) < Number(indexed.from_block))).toEqual([]);
        },
        { timeout: 60_000, interval: 50 },
      );
      const [rows] = await scratch.database.query(sql`SELECT min(block_number) AS lowest FROM nft_transfers`);
      expect(Number(rows?.lowest)).toBeLessThan(50);
    },
  );
});
