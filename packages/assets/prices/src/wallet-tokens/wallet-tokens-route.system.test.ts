import { createChainRegistry } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { ALICE, BOB, type Move, nameInList, openBalancesApi } from '@chainstead/erc20/testing';
import { addressOf, rpcError } from '@chainstead/testkit';
import { stageOfTest } from '@chainstead/testkit/hooks';
import type { z } from '@hono/zod-openapi';
import { describe, expect, test } from 'vitest';
import { walletTokensSchema } from './wallet-tokens-response.ts';
import { createWalletTokensRoute } from './wallet-tokens-route.ts';

const MINTER = addressOf(0x111);
const ETH_DEPTH = createChainRegistry().get('eth').reorgDepthMax;
const COIN = `0x${'ee'.repeat(20)}`;
const tokenOf = (number: number): Address => addressOf(0x1_000 + number);
const gives = (number: number, value = 10n): Move => ({ token: tokenOf(number), from: MINTER, to: ALICE, value });

const TOKENS_PATH = `/api/v2.2/wallets/${ALICE}/tokens`;
const served = stageOfTest(() => openBalancesApi([], (options) => [createWalletTokensRoute(options)]));

type Answer = z.infer<typeof walletTokensSchema>;

async function get(query = ''): Promise<Answer> {
  const answer = await served.request(`${TOKENS_PATH}${query}`);
  const body: unknown = await answer.json();
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(body)}`);
  return walletTokensSchema.parse(body);
}

const addresses = ({ result }: Answer): string[] => result.map(({ token_address: address }) => address);

describe('a page', () => {
  test('has the coin first, then tokens of lists, then others, those that moved last first', async () => {
    const { stage, scratch } = served;
    await nameInList(scratch.database, 1, tokenOf(1));
    for (const number of [1, 2, 3]) await stage.mine([gives(number)]);
    for (let block = 0; block < ETH_DEPTH; block++) await stage.mine();
    for (const node of stage.nodes) node.coins = 7n;
    const answer = await get();
    expect(answer).toMatchObject({
      page: 0,
      page_size: 100,
      block_number: 3 + ETH_DEPTH,
      cursor: null,
      indexed: { from_block: '0', to_block: `${3 + ETH_DEPTH}`, complete: true },
    });
    expect(addresses(answer)).toEqual([COIN, tokenOf(1), tokenOf(3), tokenOf(2)]);
    expect(answer.result[0]).toEqual({
      token_address: COIN,
      name: 'Ether',
      symbol: 'ETH',
      logo: null,
      thumbnail: null,
      decimals: 18,
      balance: '7',
      balance_formatted: '0.000000000000000007',
      possible_spam: false,
      verified_contract: true,
      native_token: true,
      usd_price: null,
      usd_price_24hr_percent_change: null,
      usd_price_24hr_usd_change: null,
      usd_value: null,
      usd_value_24hr_usd_change: null,
      portfolio_percentage: 0,
      total_supply: null,
      total_supply_formatted: null,
      percentage_relative_to_total_supply: null,
      security_score: null,
    });
  });

  test('leaves out what is asked to be left out', async () => {
    const { stage, scratch } = served;
    await nameInList(scratch.database, 1, tokenOf(1));
    await served.know(tokenOf(2), { possible_spam: true });
    await stage.mine([gives(1), gives(2), gives(3)]);
    for (const node of stage.nodes) node.coins = 7n;
    expect(addresses(await get('?exclude_native=true'))).toEqual([tokenOf(1), tokenOf(2), tokenOf(3)]);
    expect(addresses(await get('?exclude_spam=true'))).toEqual([COIN, tokenOf(1), tokenOf(3)]);
    expect(addresses(await get('?exclude_unverified_contracts=true'))).toEqual([COIN, tokenOf(1)]);
    expect(addresses(await get(`?token_addresses=${tokenOf(3)}`))).toEqual([tokenOf(3)]);
    expect(addresses(await get(`?token_addresses=${COIN},${tokenOf(3)}`))).toEqual([COIN, tokenOf(3)]);
    expect(addresses(await get('?max_token_inactivity=1&min_pair_side_liquidity_usd=2.5'))).toHaveLength(4);
    expect(addresses(await get('?to_block=0'))).toEqual([COIN]);
  });
});

describe('pages', () => {
  /** Reads all pages and runs `between` after each one. */
  async function readAll(limit: number, between: () => Promise<void> = async () => {}): Promise<string[]> {
    const seen: string[] = [];
    let answer = await get(`?limit=${limit}`);
    for (let page = 0; ; page++) {
      expect(answer).toMatchObject({ page, page_size: limit });
      seen.push(...addresses(answer));
      if (answer.cursor === null) return seen;
      await between();
      answer = await get(`?cursor=${encodeURIComponent(answer.cursor)}`);
    }
  }

  test.each([1, 2, 5, 100])('of %d rows have each token once', async (limit) => {
    const { stage } = served;
    for (let number = 0; number < 9; number++) await stage.mine([gives(number)]);
    for (const node of stage.nodes) node.coins = 7n;
    const whole = addresses(await get());
    expect(whole).toHaveLength(10);
    expect(await readAll(limit)).toEqual(whole);
  });

  test('neither repeat nor lose a token while blocks arrive and are reorganised', async () => {
    const { stage } = served;
    for (let number = 0; number < 12; number++) await stage.mine([gives(number)]);
    let round = 0;
    const seen = await readAll(1, async () => {
      round++;
      const head = stage.tokens.head.number;
      if (round % 4 === 0) await stage.reorg(head - 2, [[gives(round % 12)], [gives((round * 5) % 12)], []]);
      else
        await stage.mine([
          gives((round * 7) % 12),
          { token: tokenOf(round % 12), from: ALICE, to: BOB, value: 1n },
        ]);
    });
    // The movements of the last blocks may be reorganized away.
    const settled = Array.from({ length: 9 }, (_, number) => tokenOf(number));
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(settled));
  });

  test('are all of the block of the first', async () => {
    const { stage } = served;
    await stage.mine([gives(1), gives(2)]);
    const first = await get('?limit=1');
    await stage.mine([gives(1, 5n), gives(2, 5n)]);
    const second = await get(`?cursor=${encodeURIComponent(first.cursor ?? '')}`);
    expect([first.block_number, second.block_number]).toEqual([1, 1]);
    expect([...first.result, ...second.result].map(({ balance }) => balance)).toEqual(['10', '10']);
  });
});

test('without a reading of the coin the answer is not complete', async () => {
  const { stage } = served;
  await stage.mine([gives(1)]);
  for (const node of stage.nodes) node.coins = 1n;
  expect((await get()).indexed.complete).toBe(true);
  for (const node of stage.nodes) node.isDown = true;
  const answer = await get();
  expect(addresses(answer)).toEqual([tokenOf(1)]);
  expect(answer.indexed.complete).toBe(false);
});

test('a token whose balance no node returns is named', async () => {
  const { stage } = served;
  await stage.mine([gives(1), gives(2)]);
  for (const node of stage.nodes) node.odd.set(tokenOf(2), async () => rpcError(-32_603, 'oops'));
  const answer = await get();
  expect(answer).toMatchObject({ unread_tokens: [tokenOf(2)], indexed: { complete: false } });
});
