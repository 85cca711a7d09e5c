import { createChainRegistry } from '@chainstead/chains';
import { hexBytes, sql } from '@chainstead/db';
import { EXAMPLE_KEY } from '@chainstead/http/testing';
import { addressOf, hashOf } from '@chainstead/testkit';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { openPoolsStage } from './testing/open-pools-stage.ts';
import {
  CATS,
  DEEP,
  DOG_PAIR,
  DOGS,
  FAKE,
  GONE,
  LONELY,
  MANAGED,
  SHALLOW,
  seedPools,
  USDC,
  YOUNG,
} from './testing/seed-pools.ts';

const eth = createChainRegistry().get('eth');
const stage = stageOfFile(() => openPoolsStage(eth));
const visitor = madeForFile(() => stage.signIn());

beforeAll(() => seedPools(stage.database, eth));

async function get(
  query: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly page: string }> {
  const answer = await stage.get(`/console/pools?${new URLSearchParams(query)}`, visitor);
  return { status: answer.status, page: await answer.text() };
}

/** Texts of the cells of a table by rows. */
function rowsOf(page: string, label: string): readonly (readonly string[])[] {
  const [, table = ''] = new RegExp(`aria-label="${label}, eth">(.*?)</table>`, 's').exec(page) ?? [];
  const [, body = ''] = /<tbody>(.*)<\/tbody>/s.exec(table) ?? [];
  const textOf = (cell: string): string =>
    cell
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim();
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => textOf(cell)),
  );
}

/** Value of a fact. */
function factOf(page: string, title: string): string | undefined {
  return new RegExp(`<dt>${title}</dt><dd>(.*?)</dd>`, 's')
    .exec(page)?.[1]
    ?.replaceAll(/<[^>]*>/g, '')
    .trim();
}

const shortOf = (id: string): string => `${id.slice(0, 10)}…${id.slice(-8)}`;

test('a proven pool has its market, reserves and swaps, from the API', async () => {
  const { page } = await get({ chain: 'eth', address: DEEP });
  for (const [name, path] of [
    ['pool-market', `pairs/${DEEP}/stats`],
    ['pool-reserves', `pairs/${DEEP}/swaps`],
    ['pool-swaps', `pairs/${DEEP}/swaps`],
  ])
    expect(page).toMatch(new RegExp(`id="eth-${name}"[\\s\\S]*?/api/v2\\.2/${path}\\?chain=eth`));
  expect(factOf(page, 'Liquidity')).toMatch(/USD$/);
  expect((await get({ chain: 'eth', address: FAKE })).page).not.toContain('eth-pool-market');
});

describe('a token', () => {
  test('has its pools with exchange, proof, fee, and the newest state', async () => {
    const { status, page } = await get({ chain: 'eth', address: CATS });
    expect(status).toBe(200);
    expect(rowsOf(page, 'Pools of this token')).toEqual([
      [shortOf(SHALLOW), 'Sushiswap v2', 'CATS / USDC', 'proven', 'address', '0.3 %', 'yes', '20'],
      [shortOf(DEEP), 'Uniswap v2', 'CATS / WETH', 'proven', 'creation event, block 3', '–', 'yes', '300'],
      [
        shortOf(YOUNG),
        'Uniswap v2',
        'CATS / USDC',
        'proven',
        'reply of the factory, block 399',
        '0.05 %',
        'yes',
        '399',
      ],
      [
        ...[
          shortOf(MANAGED),
          'Uniswap v4',
          'CATS / USDC',
          'proven',
          'creation event, block 70',
          'set by the hook',
        ],
        ...['no: its hook may change amounts', '–'],
      ],
      [shortOf(FAKE), '–', 'CATS / WETH guessed', 'unproven', 'due. Last error: timeout', '–', 'no', '50'],
    ]);
    expect(page).not.toContain(GONE);
  });

  test('has only pools of the chosen status', async () => {
    const { page } = await get({ chain: 'eth', address: CATS, status: 'unproven' });
    expect(rowsOf(page, 'Pools of this token').map(([pool]) => pool)).toEqual([shortOf(FAKE)]);
  });

  test('has its price with candidates, anchors and the rule', async () => {
    const { page } = await get({ chain: 'eth', address: CATS });
    // 525 ether of 2,000 dollars for a million cats. √1.1 − 1 of 1,050,000 dollars moves it by 10 %.
    expect(factOf(page, 'Price')).toBe('1.05 USD per CATS');
    expect(factOf(page, 'Rule')).toBe('spot: newest state of the chosen pool');
    expect(factOf(page, 'Cost of raising it by 10 %')).toBe('51249.29 USD');
    expect(factOf(page, 'Ether')).toBe('2000 USD');
    // The unproven pool may turn out to be deeper.
    expect(page).toContain('Not complete:');
    const [cats, weth, usdc] = [CATS, '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2', USDC].map(shortOf);
    expect(rowsOf(page, 'Candidates').map((row) => row.slice(0, 7))).toEqual([
      [shortOf(DEEP), 'Uniswap v2', 'chosen', '1.05', '1050000.00', `1000000 ${cats} 525 ${weth}`, '300'],
      [shortOf(YOUNG), 'Uniswap v2', 'too young', '5', '5000000.00', `1000000 ${cats} 5000000 ${usdc}`, '399'],
      [shortOf(SHALLOW), 'Sushiswap v2', 'too shallow', '0.4', '400.00', `1000 ${cats} 400 ${usdc}`, '20'],
    ]);
    const anchors = rowsOf(page, 'Anchors');
    expect(anchors.find(([token]) => token === weth)).toEqual([
      ...[weth, '2000', 'feed', expect.any(String), expect.any(String), '200 , log 0'],
    ]);
    expect(page).toContain(`npx chainstead explain-price --chain eth --token ${CATS} --block 400`);
    expect(page).toContain(`/api/v2.2/erc20/${CATS}/price?chain=eth&amp;to_block=400&amp;explain=true`);
  });

  test('has its price at a block', async () => {
    const { page } = await get({ chain: 'eth', address: CATS, block: '299' });
    expect(factOf(page, 'Price')).toBe('1 USD per CATS');
    expect(factOf(page, 'End of block')).toContain('299, ');
  });

  test.each(['', '299'])('has the price of the API at block "%s", and names the block', async (block) => {
    const { page } = await get({ chain: 'eth', address: CATS, block });
    const shownBlock = /<h2 id="price">Price at block (\d+)</.exec(page)?.[1] ?? '';
    expect(shownBlock).toBe(block || '400');
    const answer = await stage.app.request(`/api/v2.2/erc20/${CATS}/price?chain=eth&to_block=${shownBlock}`, {
      headers: { 'x-api-key': EXAMPLE_KEY },
    });
    const { usdPriceFormatted } = (await answer.json()) as { readonly usdPriceFormatted: string };
    expect(factOf(page, 'Price')).toBe(`${usdPriceFormatted} USD per CATS`);
  });

  test.each([
    [{ address: addressOf(0x404) }, 'No proven pool of the token is known'],
    [{ address: LONELY }, 'No pool of the token has a token with a price on its other side'],
    [{ address: CATS, block: '999999' }, 'to_block must be at most the newest indexed block (400)'],
  ])('without a price names what is missing: %j', async (query, missing) => {
    const { page } = await get({ chain: 'eth', ...query });
    expect(page).toContain('>No price at ');
    expect(page).toContain(missing);
  });

  test('without a deep pool is shown without a price', async () => {
    const { page } = await get({ chain: 'eth', address: DOGS });
    expect(page).toContain('Insufficient liquidity in pools to calculate the price');
    expect(page).toContain('No pool holds min_side_usd on both sides');
    expect(rowsOf(page, 'Pools of this token').map(([pool]) => pool)).toEqual([shortOf(DOG_PAIR)]);
  });

  test('that is an anchor has the price of its feed', async () => {
    const { page } = await get({ chain: 'eth', address: USDC });
    expect(factOf(page, 'Rule')).toBe('anchor: the price does not come from pools');
    expect(page).toContain('An anchor needs no pool.');
  });

  test('that is unknown has neither', async () => {
    const { page } = await get({ chain: 'eth', address: addressOf(0x404) });
    expect(page).toContain('No pool of this token is known.');
    expect(page).toContain('No liquidity pools found for the specified token address');
  });

  test('with many pools has pages', async () => {
    const token = addressOf(0x70c);
    await stage.database.query(
      sql`INSERT INTO pools (pool_key, chain_id, pool, status, token0, token1, due_at)
       SELECT address_key(pool), ${eth.id}, pool, 'unproven', ${hexBytes(token)}, ${hexBytes(USDC)}, NULL
       FROM (SELECT substring(sha256(number::text::bytea) FROM 1 FOR 20) AS pool FROM generate_series(1, 60) AS number) AS many`,
    );
    const pages = [await get({ address: token }), await get({ address: token, page: '2' })];
    const shown = pages.map(({ page }) => rowsOf(page, 'Pools of this token'));
    expect(shown.map((rows) => rows.length)).toEqual([50, 10]);
    expect(new Set(shown.flat().map(([pool]) => pool)).size).toBe(60);
    expect(shown[1]?.[0]?.slice(3, 5)).toEqual(['unproven', 'only a creation event can prove it']);
    expect(pages.map(({ page }) => page.includes('rel="next"'))).toEqual([true, false]);
  });
});

describe('a pool', () => {
  test('has its proof and newest state, and no price', async () => {
    const { page } = await get({ chain: 'eth', address: DEEP });
    expect(factOf(page, 'Status')).toBe('proven');
    expect(factOf(page, 'Proof')).toBe('creation event, block 3');
    expect(factOf(page, 'Newest state')).toBe('300');
    expect(page).not.toContain('id="price"');
  });

  test('that is disproved is found by its address', async () => {
    const { page } = await get({ chain: 'eth', address: GONE });
    expect(page).toContain('<strong class="v-bad">disproved</strong>');
    expect(factOf(page, 'Proof')).toBe('no factory of a known exchange acknowledges it, block 60');
  });

  test('at a pool manager is found by its id', async () => {
    const { page } = await get({ chain: 'eth', address: MANAGED });
    expect(factOf(page, 'Held by')).toBe(addressOf(0x4));
    expect(factOf(page, 'Counted')).toBe('no: its hook may change amounts');
    expect((await get({ chain: 'eth', address: hashOf(9, 9) })).page).toContain(
      'No pool with this id is known on eth',
    );
  });
});

test('without an address only the form is shown', async () => {
  const { status, page } = await get({});
  expect(status).toBe(200);
  expect(page).toContain('aria-label="Find pools"');
  expect(page).not.toContain('<section');
});

test.each(['<script>alert(1)</script>', '0x12', 'x'.repeat(10_000)])('%.20s is no address', async (address) => {
  const { status, page } = await get({ address });
  expect([status, page.includes('is not an address or a pool id'), page.includes('<script>alert')]).toEqual([
    200,
    true,
    false,
  ]);
  expect(page.length).toBeLessThan(20_000);
});

test.each([
  { chain: 'nowhere', address: CATS },
  { chain: 'base', address: CATS },
  { address: CATS, block: '-1' },
  { address: CATS, status: 'disproved' },
  { address: CATS, page: '0' },
])('%j is refused', async (query) => {
  const { status, page } = await get(query);
  expect(status).toBe(400);
  expect(page).toMatch(/<p class="problem" role="alert">[^<]{10}/);
});

test('a pool and its token show the candles of the pool that decides the price', async () => {
  for (const address of [DEEP, CATS]) {
    const { page } = await get({ chain: 'eth', address });
    expect(page).toContain(`data-plot="/console/look-up/candles.json?chain=eth&amp;pool=${DEEP}"`);
  }
  expect((await get({ chain: 'eth', address: GONE })).page).not.toContain('candles.json');
});
