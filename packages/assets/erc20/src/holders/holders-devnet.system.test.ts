/** A token's owners, holder history and holder statistics, over a real node. */

import { ZERO_ADDRESS } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { addressOf } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, test } from 'vitest';
import { ALICE, BOB, openGoldStage } from './testing/gold-stage.ts';

const stage = stageOfFile(openGoldStage);

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
        {
          owner_address: BOB,
          balance: '700000',
          balance_formatted: '0.7',
          percentage_relative_to_total_supply: 0.07,
        },
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

  test.each(['DESC', 'ASC'])('come once each, page by page, %s', async (order) => {
    const { gold } = stage;
    const all = await stage.allOwnersOf(gold.address, `?limit=100&order=${order}`);
    expect(await stage.allOwnersOf(gold.address, `?limit=2&order=${order}`)).toEqual(all);
    expect(all).toHaveLength(29);
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

interface HistoryAnswer {
  readonly cursor: string | null;
  readonly indexed: { readonly complete: boolean };
  readonly result: readonly {
    readonly timestamp: string;
    readonly totalHolders: number;
    readonly netHolderChange: number;
  }[];
}

async function historyOf(query: string): Promise<HistoryAnswer> {
  const { status, body } = await stage.ask(`erc20/${stage.gold.address}/holders/historical?${query}`);
  expect(status).toBe(200);
  return body as HistoryAnswer;
}

describe('the history of holders', () => {
  const shown = ({ result }: HistoryAnswer) =>
    result.map(({ timestamp, totalHolders, netHolderChange }) => [
      Date.parse(timestamp) / 1_000 - stage.begun,
      totalHolders,
      netHolderChange,
    ]);

  test('has every interval, newest first', async () => {
    const answer = await historyOf(`fromDate=${stage.begun - 60}&toDate=${stage.begun + 239}&timeFrame=1min`);
    expect(shown(answer)).toEqual([
      [180, 29, 26],
      [120, 3, 0],
      [60, 3, 2],
      [0, 1, 1],
      [-60, 0, 0],
    ]);
    expect(answer).toMatchObject({ page: 1, pageSize: 100, cursor: null, indexed: { complete: true } });
    expect(answer.result[0]).toMatchObject({
      holderPercentChange: (100 * 26) / 3,
      newHoldersByAcquisition: { swap: 0, transfer: 1, airdrop: 25 },
      holdersOut: { whales: 0, shrimps: 0 },
    });
  });

  test('adds up over longer intervals, and ends with the newest block', async () => {
    const answer = await historyOf(
      `fromDate=${stage.begun - 86_400}&toDate=${stage.begun + 10 * 86_400}&timeFrame=1d`,
    );
    expect(answer.result.reduce((sum, { netHolderChange }) => sum + netHolderChange, 0)).toBe(29);
    expect(answer.result[0]?.totalHolders).toBe(29);
    expect(answer.result.length).toBeLessThanOrEqual(3);
  });
});

describe('how a token is held', () => {
  test('is counted by size, by how it came, and over time', async () => {
    const { status, body } = await stage.ask(`erc20/${stage.gold.address}/holders`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      totalHolders: 29,
      holderSupply: {
        top10: { supply: '999.981995', supplyPercent: 99.9981995 },
        top500: { supply: '1000', supplyPercent: 100 },
      },
      holdersByAcquisition: { swap: 0, transfer: 4, airdrop: 25 },
      holderDistribution: { whales: 1, sharks: 2, dolphins: 0, fish: 0, octopus: 0, crabs: 0, shrimps: 26 },
      holderChange: { '30d': { change: 29, changePercent: 100 } },
      indexed: { complete: true },
    });
  });

  test('of a token that only tells of transfers is by nobody', async () => {
    const { body } = await stage.ask(`erc20/${stage.spam.address}/holders`);
    expect(body).toMatchObject({
      totalHolders: 0,
      holderSupply: { top500: { supply: '0', supplyPercent: 0 } },
      holderChange: { '1h': { change: 0, changePercent: 0 } },
      indexed: { complete: false },
    });
  });

  test('of such a token is still by nobody when it tells of the same accounts again', async () => {
    await stage.spam.call('shout', 0x2000n, 150n);
    await stage.follow();
    await stage.scratch.database.query(sql`TRUNCATE state_questions`);
    const { body } = await stage.ask(`erc20/${stage.spam.address}/holders`);
    expect(body).toMatchObject({ totalHolders: 0, holderSupply: { top10: { supply: '0' } } });
  });

  test('of such a token is by nobody while nobody can read it', async () => {
    await stage.spam.call('shout', 0x2000n, 150n);
    await stage.follow();
    await stage.scratch.database.query(sql`TRUNCATE state_questions`);
    stage.node.alter = ({ method }) =>
      method === 'eth_call' ? { error: { code: -32603, message: 'Busy' } } : undefined;
    try {
      const { body } = await stage.ask(`erc20/${stage.spam.address}/holders`);
      expect(body).toMatchObject({ totalHolders: 0, indexed: { complete: false } });
    } finally {
      stage.node.alter = () => undefined;
    }
  });
});

test('before they are counted, the answer is 202', async () => {
  const { scratch, gold, node } = stage;
  await scratch.database.query(sql`TRUNCATE state_questions`);
  await scratch.database.query(sql`DELETE FROM projections`);
  const { status, body } = await stage.ask(`erc20/${gold.address}/holders`);
  expect([status, body]).toEqual([
    202,
    { message: 'Holders of this token are being counted. Please try again later.' },
  ]);
  expect(node.received.length).toBeGreaterThan(0);
});
