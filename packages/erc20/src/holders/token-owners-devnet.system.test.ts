/** The list of a token's owners over a real node, and what it refuses. */
import { ZERO_ADDRESS } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import { getAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALICE, BOB, type GoldStage, type OwnersAnswer, openGoldStage } from './testing/gold-stage.ts';

let stage: GoldStage;

beforeAll(async () => {
  stage = await openGoldStage();
});
afterAll(() => stage?.close());

describe('owners of a token', () => {
  test('are those to whom its contract gives a balance, largest first, with their share', async () => {
    const { gold, devnet } = stage;
    const answer = await stage.ownersOf(gold.address, '?limit=4');
    expect(answer).toMatchObject({
      page: 1,
      page_size: 4,
      total_supply: '1000000000',
      indexed: { complete: true },
      result: [
        {
          owner_address: devnet.accounts[0],
          is_contract: false,
          balance: '998774995',
          balance_formatted: '998.774995',
        },
        { owner_address: BOB, balance: '700000', balance_formatted: '0.7', percentage_relative_to_total_supply: 0.07 },
        { owner_address: ALICE, balance: '500000', percentage_relative_to_total_supply: 0.05 },
        { balance: '1000' },
      ],
    });
    expect(answer.result[1]).toEqual({
      owner_address: BOB,
      owner_address_label: null,
      entity: null,
      entity_logo: null,
      balance: '700000',
      balance_formatted: '0.7',
      usd_value: null,
      is_contract: false,
      percentage_relative_to_total_supply: 0.07,
    });
    const smallest = await stage.ownersOf(gold.address, '?limit=1&order=ASC');
    expect(smallest.result).toMatchObject([{ owner_address: gold.address, is_contract: true, balance: '5' }]);
    for (const { owner_address, balance } of await stage.allOwnersOf(gold.address, ''))
      expect(await stage.balanceOf(gold, owner_address)).toBe(BigInt(balance));
  });

  test.each(['DESC', 'ASC'])(
    'come once each, page by page, with blocks arriving and a reorganisation between pages, %s',
    async (order) => {
      const { gold, spam, devnet } = stage;
      const all = await stage.allOwnersOf(gold.address, `?limit=100&order=${order}`);
      let page = 0;
      const one = await stage.allOwnersOf(gold.address, `?limit=2&order=${order}`, async () => {
        page++;
        if (page % 7 === 1) await spam.call('shout', 0x9000n, 1n);
        if (page % 7 === 3) await devnet.reorg(1);
        if (page % 7 === 5) await devnet.mine();
        await stage.follow();
      });
      expect(one).toEqual(all);
      expect(new Set(one.map(({ owner_address }) => owner_address)).size).toBe(29);
    },
    60_000,
  );

  test('of what the official SDK reads: the body itself', async () => {
    const { gold, EvmApi } = stage;
    const page = await EvmApi.token.getTokenOwners({ chain: '0x1', tokenAddress: getAddress(gold.address), limit: 2 });
    const { body } = await stage.ask(`erc20/${gold.address}/owners?limit=2`);
    expect(page.result).toHaveLength(2);
    const [first, second] = (body as OwnersAnswer).result;
    expect(page.result.map(({ ownerAddress, balance }) => [String(ownerAddress), balance])).toEqual([
      [first?.owner_address, '998774995'],
      [second?.owner_address, '700000'],
    ]);
    expect(page.toJSON()).toEqual({ ...(body as OwnersAnswer), cursor: expect.any(String) });
    expect(page.hasNext()).toBe(true);
    const next = await page.next();
    expect(next.result).toHaveLength(2);
  });

  test('of a token that only tells of transfers are nobody', async () => {
    const rows = await stage.allOwnersOf(stage.spam.address, '?limit=100');
    expect(rows).toEqual([]);
    expect(await stage.ownersOf(stage.spam.address)).toMatchObject({ indexed: { complete: false }, result: [] });
  });

  test('of what never was a token are nobody', async () => {
    expect(await stage.ownersOf(addressOf(0xdead))).toMatchObject({
      cursor: null,
      indexed: { complete: true },
      result: [],
    });
  });
});

test('the zero address, as a token, is held by nobody', async () => {
  expect((await stage.ownersOf(ZERO_ADDRESS)).result).toEqual([]);
});

describe('what cannot be used', () => {
  const invalidAddress = '[C0005] Invalid address provided';
  const frames = 'one of 1min, 5min, 10min, 30min, 1h, 4h, 12h, 1d, 1w, 1m';
  const TOKEN = addressOf(0x601d);
  test.each([
    ['erc20/0x12/owners', invalidAddress],
    ['erc20/0x12/holders', invalidAddress],
    ['erc20/0x12/holders/historical?fromDate=1&toDate=2', invalidAddress],
    [`erc20/${TOKEN}/owners?limit=0`, 'limit must be a whole number from 1 (above 100 means 100), "0" was given'],
    [`erc20/${TOKEN}/owners?limit=-1`, 'limit must be a whole number from 1 (above 100 means 100), "-1" was given'],
    [`erc20/${TOKEN}/owners?order=UP`, 'order must be ASC or DESC, "UP" was given'],
    [
      `erc20/${TOKEN}/owners?cursor=abc`,
      'cursor must be the cursor of an earlier page of this query, unchanged, "abc" was given',
    ],
    [
      `erc20/${TOKEN}/owners?chain=nowhere`,
      'chain must be a known chain by name (eth, base, bsc testnet, …), hexadecimal or decimal id, "nowhere" was given',
    ],
    [`erc20/${TOKEN}/holders/historical`, 'fromDate is required, toDate is required'],
    [`erc20/${TOKEN}/holders/historical?fromDate=1`, 'toDate is required'],
    [
      `erc20/${TOKEN}/holders/historical?fromDate=1700000000&toDate=1600000000`,
      'fromDate must be at most toDate (2020-09-13T12:26:40.000Z), "2023-11-14T22:13:20.000Z" was given',
    ],
    [
      `erc20/${TOKEN}/holders/historical?fromDate=1&toDate=2&timeFrame=2h`,
      `timeFrame must be ${frames}, "2h" was given`,
    ],
  ])('%s is refused', async (path, message) => {
    const { status, body } = await stage.ask(path);
    expect([status, (body as { message: string }).message]).toEqual([400, message]);
  });

  test('a cursor of another token, or of another list', async () => {
    const { cursor } = await stage.ownersOf(stage.gold.address, '?limit=1');
    const ofOther = await stage.ask(`erc20/${TOKEN}/owners?cursor=${cursor}`);
    expect([ofOther.status, (ofOther.body as { message: string }).message]).toEqual([
      400,
      `token_address must be "${stage.gold.address}" as in the cursor, or left out, "${TOKEN}" was given`,
    ]);
    const elsewhere = await stage.ask(`erc20/${stage.gold.address}/holders/historical?cursor=${cursor}`);
    expect(elsewhere.status).toBe(400);
  });
});
