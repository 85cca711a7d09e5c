import { addressOf, rpcError } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { ALICE, GOLD, SILVER, TIN } from './testing/balance-stage.ts';
import { ERC20_PATH, openBalancesApi } from './testing/balances-api.ts';

const MINTER = addressOf(0x111);
const UNREAD = addressOf(0x222);
const served = stageOfFile(() =>
  openBalancesApi([[], [{ token: GOLD, from: MINTER, to: ALICE, value: 100_000n }]]),
);

beforeAll(async () => {
  const { stage, know } = served;
  await know(GOLD, {
    name: 'Tether USD',
    symbol: 'USDT',
    decimals: 6,
    facts_status: 'known',
    logo: 'https://logos.example/usdt.png',
    verified: true,
    total_supply: '77976217893478',
    supply_read_at: new Date(),
  });
  await know(SILVER, {
    facts_status: 'known',
    total_supply: '0',
    supply_read_at: new Date(),
    possible_spam: true,
  });
  await stage.mine([{ token: GOLD, from: MINTER, to: ALICE, value: 2_847n }]);
  await stage.mine([
    { token: SILVER, from: MINTER, to: ALICE, value: 5n },
    { token: TIN, from: MINTER, to: ALICE, value: 7n },
  ]);
});

const GOLD_ROW = {
  token_address: GOLD,
  name: 'Tether USD',
  symbol: 'USDT',
  logo: 'https://logos.example/usdt.png',
  thumbnail: 'https://logos.example/usdt.png',
  decimals: 6,
  balance: '102847',
  possible_spam: false,
  verified_contract: true,
  total_supply: '77976217893478',
  total_supply_formatted: '77976217.893478',
  percentage_relative_to_total_supply: 1.3189534293712163e-7,
  security_score: null,
  balance_block: '4',
};
const UNKNOWN = {
  name: null,
  symbol: null,
  logo: null,
  thumbnail: null,
  percentage_relative_to_total_supply: null,
  security_score: null,
  verified_contract: false,
  balance_block: '4',
};
const SILVER_ROW = {
  ...UNKNOWN,
  token_address: SILVER,
  decimals: 0,
  balance: '5',
  possible_spam: true,
  total_supply: '0',
  total_supply_formatted: '0',
};
const TIN_ROW = {
  ...UNKNOWN,
  token_address: TIN,
  decimals: null,
  balance: '7',
  possible_spam: false,
  total_supply: null,
  total_supply_formatted: null,
};

describe('a wallet', () => {
  test('has what it holds in a bare array, newest movement first, and headers say what is indexed', async () => {
    const answer = await served.request(`${ERC20_PATH}?chain=eth&exclude_spam=false`, {
      origin: 'https://page.example',
    });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual([TIN_ROW, SILVER_ROW, GOLD_ROW]);
    const headers = Object.fromEntries(answer.headers);
    expect(headers).toMatchObject({
      'x-indexed-from-block': '3',
      'x-indexed-to-block': '4',
      'x-indexed-complete': 'false',
    });
    for (const name of ['X-Indexed-From-Block', 'X-Indexed-To-Block', 'X-Indexed-Complete'])
      expect(headers['access-control-expose-headers']).toContain(name);
    expect(served.histories).toContain(ALICE);
  });

  test('is shown without possible spam unless that is asked for', async () => {
    expect(await (await served.request(ERC20_PATH)).json()).toEqual([TIN_ROW, GOLD_ROW]);
    expect(await (await served.request(`${ERC20_PATH}?exclude_spam=TRUE`)).json()).toEqual([TIN_ROW, GOLD_ROW]);
  });

  test.each([
    `token_addresses%5B%5D=${GOLD}`,
    `token_addresses[0]=${GOLD}&token_addresses[1]=${GOLD.toUpperCase().replace('0X', '0x')}`,
    `token_addresses=${GOLD},${addressOf(0xdead)}`,
  ])('of named tokens has those: %s', async (query) => {
    const answer = await served.request(`${ERC20_PATH}?${query}`);
    expect(await answer.json()).toEqual([GOLD_ROW]);
    expect(answer.headers.get('x-indexed-complete')).toBe('true');
  });

  test('has what it held after an earlier block', async () => {
    const answer = await served.request(`${ERC20_PATH}?to_block=3`);
    expect(await answer.json()).toEqual([{ ...GOLD_ROW, balance_block: '3' }]);
    const before = await served.request(`${ERC20_PATH}?to_block=2&token_addresses=${GOLD}`);
    expect(await before.json()).toMatchObject([{ balance: '100000', balance_block: '2' }]);
  });

  test('that nobody knows has nothing, and that is not complete', async () => {
    const answer = await served.request(`/api/v2.2/${addressOf(0x77)}/erc20?chain=0x1`);
    expect([answer.status, await answer.json()]).toEqual([200, []]);
    expect(answer.headers.get('x-indexed-complete')).toBe('false');
  });

  test('on a chain of which nothing is indexed has no range', async () => {
    const answer = await served.request(`${ERC20_PATH}?chain=base`);
    expect([answer.status, await answer.json()]).toEqual([200, []]);
    expect(answer.headers.get('x-indexed-complete')).toBe('false');
    expect(answer.headers.has('x-indexed-from-block')).toBe(false);
    expect(answer.headers.has('x-indexed-to-block')).toBe(false);
  });
});

test('without an archive node there is no balance below what is indexed', async () => {
  for (const node of served.stage.nodes) node.isPruned = true;
  const answer = await served.request(`${ERC20_PATH}?to_block=1`);
  for (const node of served.stage.nodes) node.isPruned = false;
  expect([answer.status, await answer.json()]).toEqual([
    404,
    { message: 'Balances at block 1 need an archive node', details: { status: 'not-archived' } },
  ]);
});

test('a token whose balance no node tells is named, and the others are shown', async () => {
  const { stage } = served;
  await stage.mine([{ token: UNREAD, from: MINTER, to: ALICE, value: 1n }]);
  for (const node of stage.nodes) node.odd.set(UNREAD, async () => rpcError(-32_603, 'oops'));
  const answer = await served.request(ERC20_PATH, { origin: 'https://page.example' });
  expect(await answer.json()).toMatchObject([{ token_address: TIN }, { token_address: GOLD }]);
  expect(answer.headers.get('x-indexed-unread')).toBe(UNREAD);
  expect(answer.headers.get('access-control-expose-headers')).toContain('X-Indexed-Unread');
});
