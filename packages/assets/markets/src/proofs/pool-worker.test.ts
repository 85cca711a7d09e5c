/** Proofs of the pools that a recorded block shows, and the trades that follow from them. */
import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { hexBytes, hexText, sql } from '@chainstead/db';
import { recordedData } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { poolCreations } from '../pool-creations/dataset.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { swaps } from '../swaps/dataset.ts';
import type { PoolCreationRow, SwapRow } from '../tables/schema.ts';
import { isProvenByAddress, proveStoredPools } from '../testing/proven-pools.ts';
import { recordedBlock } from '../testing/recorded-block.ts';
import { rollBackRows, storeRows } from '../testing/stored-rows.ts';

const BLOCK = 12_000_000;
const chain = { ...createChainRegistry().get('eth'), swaps: 'all' as const };
const { isMissing, title } = recordedData('data/evm');

describe.skipIf(isMissing)(title('pools of a recorded block'), () => {
  const scratch = scratchOfFile();
  let rows: readonly SwapRow[] = [];

  beforeEach(async () => {
    await scratch.database.query(sql`TRUNCATE swaps, pool_creations, pools, trades, tokens`);
    const all = swaps.wholeBlocks?.decode(await recordedBlock(BLOCK), { chain, timestampOf: () => 0 }) ?? [];
    // Those that their address proves: no node is asked.
    rows = all.filter((row) => isProvenByAddress(row, chain));
  });

  const store = (some: readonly SwapRow[] = rows, spread = false) =>
    storeRows(scratch.database, chain, swaps, some, spread);

  const prove = () => proveStoredPools(scratch.database, chain);

  const storedPools = () =>
    scratch.database.query<{ pool: string; status: string; proof: string | null; exchange: string | null }>(
      sql`SELECT ${hexText('pool')} AS pool, status, proof, exchange FROM pools ORDER BY pool`,
    );
  const storedTrades = () =>
    scratch.database.query(
      sql`SELECT trades::text AS row FROM trades ORDER BY pool_key, transaction_index, log_index`,
    );

  test('are due as soon as a swap is stored, and give trades once they are proven', async () => {
    await store();
    const due = await storedPools();
    expect(due.map(({ pool }) => pool)).toEqual([...new Set(rows.map(({ pool }) => pool))].toSorted());
    expect(due.every(({ status }) => status === 'unproven')).toBe(true);
    expect(await storedTrades()).toEqual([]);
    await prove();
    expect((await storedPools()).every(({ status, proof }) => status === 'proven' && proof === 'address')).toBe(
      true,
    );
    expect(await storedTrades()).toHaveLength(rows.filter(({ kind }) => kind === 0).length);
  });

  test.each([
    ['on one server', false],
    ['with distributed tables', true],
  ])('give the same trades if they are proven before their swaps arrive, %s', async (_where, spread) => {
    await store();
    await prove();
    const expected = await storedTrades();
    await rollBackRows(scratch.database, chain, swaps, BLOCK - 1);
    expect(await storedTrades()).toEqual([]);
    await store(rows, spread);
    expect(await storedTrades()).toEqual(expected);
  });

  test('are proven by their creation event if it is indexed, until a reorg removes it', async () => {
    const [swap] = rows.filter(({ token0, token1 }) => token0 !== null && token1 !== null);
    if (swap === undefined) throw new Error('The block has no swap');
    await storeRows(scratch.database, chain, poolCreations, [creationOf(swap)]);
    await store();
    await prove();
    const proofOf = async () => (await storedPools()).find(({ pool }) => pool === swap.pool);
    expect(await proofOf()).toMatchObject({ status: 'proven', proof: 'creation' });
    await rollBackRows(scratch.database, chain, poolCreations, BLOCK - 2);
    expect(await proofOf()).toMatchObject({ status: 'unproven', proof: null });
    await prove();
    expect(await proofOf()).toMatchObject({ status: 'proven', proof: 'address' });
  });

  test('make their tokens due that have no known decimals, also those without a transfer', async () => {
    const [swap] = rows.filter(({ token0, token1 }) => token0 !== null && token1 !== null);
    if (swap === undefined) throw new Error('The block has no swap');
    const tokens = [swap.token0, swap.token1].map((token) => hexBytes(token ?? ''));
    const { database } = scratch;
    await store([swap]);
    // One was read before its code existed, and the other is in no event.
    await database.query(sql`TRUNCATE tokens`);
    await database.query(
      sql`INSERT INTO tokens (address, chain_id, facts_status, facts_due_at, decimals) VALUES (${tokens[0] ?? null}, ${chain.id}, 'known', NULL, NULL), (${hexBytes(`0x${'01'.repeat(20)}`)}, ${chain.id}, 'known', NULL, 18)`,
    );
    await prove();
    const due = () =>
      database.query<{ address: Buffer }>(
        sql`SELECT address FROM tokens WHERE facts_due_at <= now() ORDER BY address`,
      );
    expect((await due()).map(({ address }) => address)).toEqual(tokens.toSorted(Buffer.compare));
    await database.query(sql`UPDATE tokens SET facts_due_at = NULL, decimals = 18`);
    await database.query(sql`UPDATE pools SET status = 'unproven', due_at = now()`);
    await prove();
    expect(await due()).toEqual([]);
  });

  test('stay due if blocks are replaced while a worker reads them', async () => {
    await store();
    await scratch.database.query(
      sql`UPDATE pools SET due_at = NULL, lease_until = now() + interval '1 hour', holder = 'another'`,
    );
    await rollBackRows(scratch.database, chain, swaps, BLOCK - 1);
    const claimed = await scratch.database.query(
      sql`SELECT FROM pools WHERE holder IS NOT NULL AND due_at IS NOT NULL`,
    );
    expect(claimed).toHaveLength((await storedPools()).length);
  });
});

/** A creation event of the pool by the factory of Uniswap v2, one block earlier. */
function creationOf({ pool, token0, token1 }: SwapRow): PoolCreationRow {
  return {
    poolKey: poolKey(pool),
    chainId: chain.id,
    blockNumber: BLOCK - 1,
    transactionIndex: 0,
    logIndex: 0,
    fee: null,
    tickSpacing: null,
    isStable: null,
    pool,
    factory: parseAddress('0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f'),
    token0,
    token1,
    hooks: null,
    transactionHash: `0x${'0'.repeat(64)}` as PoolCreationRow['transactionHash'],
  };
}
