import { createChainRegistry } from '@chainstead/chains';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { seedAnalytics, WALLET } from './analytics/testing/seeded-analytics.ts';
import { APES } from './analytics/testing/seeded-nfts.ts';
import { readExamples } from './read-examples.ts';

const scratch = scratchOfFile();
const [eth, polygon] = ['eth', 'polygon'].map((key) => createChainRegistry().get(key));

test('examples are values of stored rows, of chains that are indexed; without rows, the first chain alone', async () => {
  if (eth === undefined || polygon === undefined) throw new Error('The registry has both chains');
  expect(await readExamples(scratch.database, [])).toEqual({});
  const empty = await readExamples(scratch.database, [eth, polygon]);
  expect(empty['*']).toEqual({ chain: 'eth', chainId: '0x1', limit: 10 });
  expect(empty).not.toHaveProperty('getWalletNFTs');
  await seedAnalytics(scratch.database, eth);
  await scratch.database.query(sql`TRUNCATE pools, swaps`);
  await scratch.database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, status, is_counted, exchange, factory, token0, token1)
     SELECT n, ${eth.id}, int4send(n) || decode(repeat('aa', 16), 'hex'), CASE n WHEN 1 THEN 'disproved' ELSE 'proven' END, n = 2, 'Example', decode(repeat('0f', 20), 'hex'),
       decode(repeat('0a', 20), 'hex'), decode(repeat('0b', 20), 'hex') FROM generate_series(1, 3) AS n`,
  );
  expect(await readExamples(scratch.database, [polygon])).not.toHaveProperty('getWalletNFTs');
  const examples = await readExamples(scratch.database, [polygon, eth]);
  const address = expect.stringMatching(/^0x[0-9a-f]{40}$/);
  expect(examples).toMatchObject({
    '*': { chain: 'polygon' },
    getWalletTransactions: { address: WALLET, chain: 'eth' },
    getWalletApprovals: { address, chain: 'eth' },
    getWalletVaults: { address, chain: 'eth' },
    getTokenMetadataBySymbol: { symbols: expect.stringMatching(/^\w+$/), chain: 'eth' },
    getNFTTransfers: { address: APES, token_id: expect.stringMatching(/^\d+$/), chain: 'eth' },
    getNFTTradesByToken: { address: APES, chain: 'eth' },
    getSwapsByPairAddress: { address: `0x00000002${'aa'.repeat(16)}`, chain: 'eth' },
    getPairAddress: { token0_address: `0x${'0a'.repeat(20)}`, exchange: `0x${'0f'.repeat(20)}`, chain: 'eth' },
  });
});
