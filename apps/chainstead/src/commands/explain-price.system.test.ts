import { createChainRegistry } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { exchangesOf } from '@chainstead/markets/requests';
import {
  addressOf,
  coverBlocks,
  createPartitions,
  createScratchDatabase,
  storeBlocks,
  storeToken,
  timestampOf,
} from '@chainstead/testkit';
import { seedReadings } from '@chainstead/tokens/price-feeds/testing';
import { expect, it } from 'vitest';
import { runCaptured } from '../testing/captured-context.ts';

const eth = createChainRegistry().get('eth');
const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
const CATS = parseAddress(`0x${'11'.repeat(20)}`);
const BIRDS = parseAddress(`0x${'33'.repeat(20)}`);
const FACTORY = exchangesOf(eth).all.find(({ exchange }) => exchange.name === 'Uniswap v2')?.deployment.factory;
const HEAD = 1_000;

it('shows the pools, anchors and the rule of a price, as text and as JSON', async () => {
  const { database, url, drop } = await createScratchDatabase();
  try {
    await storeBlocks(database, eth.id, 0, HEAD, { start: timestampOf(0) });
    for (const dataset of ['pool-states', 'feed-answers']) await coverBlocks(database, eth.id, dataset, 0, HEAD);
    for (const [token, symbol] of [
      [CATS, 'CATS'],
      [BIRDS, 'BIRDS'],
      [USDC, 'USDC'],
    ] as const)
      await storeToken(database, eth.id, token, { name: symbol, symbol, decimals: 6, facts_status: 'known' });
    await createPartitions(database, 'pool_states', eth.id);
    const [pool, hopPool] = [addressOf(0x9a1), addressOf(0x9a2)];
    const seedPool = async (
      id: Address,
      tokens: readonly [Address, Address],
      reserves: readonly [bigint, bigint],
    ) => {
      const address = sql`${hexBytes(id)}::bytea`;
      const [token0, token1] = tokens;
      const [reserve0, reserve1] = reserves;
      await database.query(
        sql`INSERT INTO pools (pool_key, chain_id, pool, status, exchange, factory, token0, token1, is_counted, due_at)
         VALUES (address_key(${address}), ${eth.id}, ${address}, 'proven', 'Uniswap v2', ${hexBytes(FACTORY ?? id)}, ${hexBytes(token0)}, ${hexBytes(token1)}, true, NULL)`,
      );
      await database.query(
        sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
         VALUES (address_key(${address}), ${eth.id}, 5, 0, 0, ${address}, ${reserve0}, ${reserve1})`,
      );
    };
    await seedPool(pool, [CATS, USDC], [1_000_000_000n, 2_000_000_000n]);
    await seedPool(hopPool, [CATS, BIRDS], [900_000_000n, 600_000_000n]);
    const feed = eth.tokenFeeds.find(({ tokens }) => tokens.includes(USDC))?.proxy ?? USDC;
    await seedReadings(database, eth, [{ feed, block: 890, aggregator: addressOf(0xa66), round: '39' }]);
    const run = (...more: readonly string[]) =>
      runCaptured(['explain-price', '--chain', 'eth', ...more], {
        ...{ DATABASE_URL: url, CHAINS: 'eth' },
        ...{ PRICE_HOP_MIN_USD: '1500', PRICE_MIN_SIDE_USD: '400' },
      });
    const { stdout, exitCode } = await run('--token', CATS, '--block', '900');
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`CATS (${CATS}) on eth: 2 US dollars at the end of block 900\n`);
    expect(stdout).toContain('Rule spot: the newest state of the chosen pool.\n');
    expect(stdout).toContain('Raising it by 10 % takes 97.62 US dollars.\n');
    expect(stdout).toMatch(new RegExp(`${pool} +Uniswap v2 +chosen +2 +2000.00 +5`));
    expect(stdout).toMatch(new RegExp(`${USDC} +1 +feed +${addressOf(0xa66)} +39 +890:end`));
    expect(stdout).not.toContain('Hops:');
    expect(stdout).toMatch(/US dollars on each side of a pool, at least +400 +PRICE_MIN_SIDE_USD\n/);
    const { stdout: throughHop } = await run('--token', BIRDS, '--block', '900');
    expect(throughHop).toContain(`BIRDS (${BIRDS}) on eth: 3 US dollars at the end of block 900\n`);
    expect(throughHop).toContain('Priced through a hop: another token with a direct price.\n');
    expect(throughHop).toMatch(new RegExp(`Pools:\n.*\n${hopPool} +Uniswap v2 +chosen +3 +1800.00 +5\n`));
    expect(throughHop).toMatch(new RegExp(`Hops:\n.*\n${CATS} +2 +spot +2000.00\n`));
    expect(throughHop).toMatch(
      new RegExp(`Pools of ${CATS}:\n.*\n${pool} +Uniswap v2 +chosen +2 +2000.00 +5\n\nAnchors:\n`),
    );
    expect(throughHop).toMatch(/US dollars that the pools of a hop must hold +1500 +PRICE_HOP_MIN_USD\n/);
    expect(throughHop).toMatch(/The same for each of the two steps +1\.048808 *\n/);
    // A chain that is not in CHAINS has the same rules.
    for (const chain of ['eth', '1']) {
      const args = ['explain-price', '--chain', chain, '--token', BIRDS, '--block', '900'];
      const settings = { DATABASE_URL: url, PRICE_HOP_MIN_USD: '1500', PRICE_MIN_SIDE_USD: '400' };
      expect((await runCaptured(args, { ...settings, CHAINS: 'polygon' })).stdout).toBe(throughHop);
      expect((await runCaptured(args, settings)).stdout).toBe(throughHop);
      const { stderr, exitCode: code } = await runCaptured(args, { ...settings, PRICE_HOP_MIN_USD: '2500' });
      expect([code > 0, stderr]).toEqual([true, expect.stringContaining('No liquidity pools found')]);
    }
    const shallow = await runCaptured(['explain-price', '--chain', 'eth', '--token', CATS], {
      ...{ DATABASE_URL: url, CHAINS: 'eth', PRICE_MIN_SIDE_USD: '2500' },
    });
    expect(shallow.exitCode).toBeGreaterThan(0);
    expect(shallow.stderr).toContain('Insufficient liquidity in pools to calculate the price');
    expect(shallow.stdout).toMatch(/reason +too-shallow\n/);
    expect(shallow.stdout).toMatch(/anchor_side_usd +2000.00\n/);
    expect(shallow.stdout).toMatch(/min_side_usd +2500\n/);
    expect(shallow.stdout).toMatch(new RegExp(`${pool} +Uniswap v2 +too-shallow +2 +2000.00 +5\n`));
    const unread = await run('--token', CATS, '--block', '10', '--json');
    expect(JSON.parse(unread.stdout)).toMatchObject({
      message: 'No liquidity pools found for the specified token address',
      details: { reason: 'anchor-unread', retry_after_seconds: 5, indexed: { to_block: '1000' } },
    });
    const price = JSON.parse((await run('--token', CATS, '--json')).stdout);
    expect(price).toMatchObject({
      usdPrice: 2,
      explanation: { block: '1000', candidates: [{ pair_address: pool }] },
    });
    const refusals = [
      [['--token', addressOf(0x404)], 'No liquidity pools found for the specified token address'],
      [['--token', CATS, '--block', '2000'], 'to_block must be at most the newest indexed block (1000)'],
      [['--token', CATS, '--block', 'x'], '--block x is not a block number'],
      [['--token', 'cats'], '--token cats is not an address'],
      [['--token', CATS, '--chain', 'cats'], 'CHAINS="cats" is not a known chain.'],
    ] as const;
    for (const [given, message] of refusals) {
      const { stderr, exitCode: code } = await run(...given);
      expect([code > 0, stderr]).toEqual([true, expect.stringContaining(message)]);
    }
  } finally {
    await drop();
  }
});
