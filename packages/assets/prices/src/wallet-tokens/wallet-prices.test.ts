/** Prices and values in the list of a wallet's tokens, over stored pools. */
import { sql } from '@chainstead/db';
import { ALICE } from '@chainstead/erc20/testing';
import { stageOfTest } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { BIRDS, CATS, DAYS_LATER, DOGS, FISH, openPricedWallet, USDC } from './testing/priced-wallet.ts';

const PATH = `/api/v2.2/wallets/${ALICE}/tokens`;
const NATIVE = `0x${'ee'.repeat(20)}`;
const UNPRICED = {
  usd_price: null,
  usd_price_24hr_percent_change: null,
  usd_price_24hr_usd_change: null,
  usd_value: null,
  usd_value_24hr_usd_change: null,
  portfolio_percentage: 0,
};

const served = stageOfTest(openPricedWallet);

interface Body {
  readonly cursor: string | null;
  readonly block_number: number;
  readonly result: readonly (Record<string, unknown> & { readonly token_address: string })[];
}

async function rowsOf(query = ''): Promise<Record<string, Record<string, unknown>>> {
  const { result } = await served.body<Body>(`${PATH}${query}`);
  return Object.fromEntries(
    result.map((row) => [
      row.token_address,
      Object.fromEntries(Object.entries(row).filter(([name]) => /^usd_|^portfolio/.test(name))),
    ]),
  );
}

async function holdAll(): Promise<void> {
  await served.pool(CATS, [
    [0, 1_000_000, 1_000_000],
    [DAYS_LATER, 1_000_000, 1_050_000],
  ]);
  await served.pool(DOGS, [[0, 100, 100]]);
  await served.pool(BIRDS, [[0, 1_000, 2_000]]);
  await served.hold([
    [CATS, 200],
    [DOGS, 30],
    [BIRDS, 45],
    [FISH, 5],
    [USDC, 100],
  ]);
  for (const node of served.stage.nodes) node.coins = 10n ** 17n;
}

test('priced, unpriced and shallow tokens have their values, with shares of the whole', async () => {
  await holdAll();
  const rows = await rowsOf();
  expect(rows).toEqual({
    // Ether rose from 1,600 to 2,000 dollars.
    [NATIVE]: {
      usd_price: 2_000,
      usd_price_24hr_percent_change: 25,
      usd_price_24hr_usd_change: 400,
      usd_value: 200,
      usd_value_24hr_usd_change: 40,
      portfolio_percentage: 33.3333,
    },
    [CATS]: {
      usd_price: 1.05,
      usd_price_24hr_percent_change: 5,
      usd_price_24hr_usd_change: 0.05,
      usd_value: 210,
      usd_value_24hr_usd_change: 10,
      portfolio_percentage: 35,
    },
    [BIRDS]: {
      ...{ usd_price: 2, usd_price_24hr_percent_change: 0, usd_price_24hr_usd_change: 0 },
      ...{ usd_value: 90, usd_value_24hr_usd_change: 0, portfolio_percentage: 15 },
    },
    [USDC]: {
      ...{ usd_price: 1, usd_price_24hr_percent_change: 0, usd_price_24hr_usd_change: 0 },
      ...{ usd_value: 100, usd_value_24hr_usd_change: 0, portfolio_percentage: 16.6667 },
    },
    [DOGS]: UNPRICED,
    [FISH]: UNPRICED,
  });
});

test('the limits change prices, not rows', async () => {
  await holdAll();
  expect(await rowsOf('?min_pair_side_liquidity_usd=50')).toMatchObject({
    [DOGS]: { usd_price: 1, usd_value: 30 },
  });
  const strict = await rowsOf('?min_pair_side_liquidity_usd=1500');
  expect(strict).toMatchObject({ [BIRDS]: { usd_price: 2 }, [CATS]: { usd_price: 1.05 } });
  expect(await rowsOf('?min_pair_side_liquidity_usd=2000.5')).toMatchObject({ [BIRDS]: UNPRICED });
  const active = await rowsOf('?max_token_inactivity=1');
  expect(active).toMatchObject({
    [BIRDS]: UNPRICED,
    [CATS]: { usd_price: 1.05 },
    [NATIVE]: { usd_price: 2_000 },
  });
  expect(Object.keys(active)).toHaveLength(6);
});

test('shares add up over pages of any size, and limits stay with the cursor', async () => {
  await holdAll();
  const whole = await rowsOf('?max_token_inactivity=1');
  const found = new Map<string, unknown>();
  let body = await served.body<Body>(`${PATH}?limit=2&max_token_inactivity=1`);
  for (;;) {
    for (const row of body.result) found.set(row.token_address, row.portfolio_percentage);
    if (body.cursor === null) break;
    body = await served.body<Body>(`${PATH}?cursor=${encodeURIComponent(body.cursor)}`);
  }
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(Object.entries(whole).map(([token, row]) => [token, row.portfolio_percentage])),
  );
  const sum = [...found.values()].reduce((total: number, share) => total + Number(share), 0);
  expect(sum).toBeCloseTo(100, 3);
  // Without the native token, the others are the whole.
  expect(await rowsOf('?exclude_native=true')).toMatchObject({ [CATS]: { portfolio_percentage: 52.5 } });
});

test('an earlier block has its own prices', async () => {
  await holdAll();
  const rows = await rowsOf(`?to_block=${DAYS_LATER - 1}`);
  expect(rows).toMatchObject({
    [CATS]: { usd_price: 1, usd_value: 200, usd_price_24hr_usd_change: null },
    [USDC]: { usd_price: 1 },
  });
});

test('without states of pools, only anchors have a price; without their feeds, no token has one', async () => {
  await holdAll();
  await served.scratch.database.query(sql`DELETE FROM sync_ranges WHERE dataset = 'pool-states'`);
  const anchors = await rowsOf();
  expect(anchors).toMatchObject({
    [NATIVE]: { usd_value: 200, usd_value_24hr_usd_change: 40 },
    [CATS]: UNPRICED,
  });
  await served.cover('feed-answers', DAYS_LATER + 1);
  expect(await rowsOf()).toMatchObject({ [NATIVE]: UNPRICED, [USDC]: UNPRICED });
});
