import { type Address, silentLogger, systemClock, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes } from '@chainstead/db';
import { openPool } from '@chainstead/state/testing';
import { addressOf } from '@chainstead/testkit';
import { getAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readOwners } from './read-owners.ts';
import { type HolderStage, openHolderStage } from './testing/holder-stage.ts';

const [ALICE, BOB, CAROL] = [addressOf(0xa11ce), addressOf(0xb0b), addressOf(0xca201)];
const MINUTE_SECONDS = 60;

let stage: HolderStage;
/** Of the block in which the first gold was made, a full minute. Unix seconds. */
let begun: number;

/** A block of a later minute. */
async function atMinute(minutes: number): Promise<void> {
  await stage.devnet.client.setNextBlockTimestamp({ timestamp: BigInt(begun + minutes * MINUTE_SECONDS) });
}

beforeAll(async () => {
  stage = await openHolderStage();
  const { gold, spam, devnet } = stage;
  const { timestamp } = await devnet.client.getBlock();
  begun = (Math.floor(Number(timestamp) / MINUTE_SECONDS) + 10) * MINUTE_SECONDS;
  await atMinute(0);
  await gold.call('mint', devnet.accounts[0], 1_000_000_000n);
  await atMinute(1);
  await gold.call('transfer', ALICE, 500_000n);
  await gold.call('transfer', BOB, 700_000n);
  await atMinute(3);
  await gold.call(
    'transferMany',
    Array.from({ length: 25 }, (_, place) => addressOf(0x1000 + place)),
    1_000n,
  );
  await gold.call('transfer', gold.address, 5n);
  await spam.call('shout', 0x2000n, 150n);
  await stage.follow();
}, 120_000);
afterAll(() => stage.close());

interface OwnerRow {
  readonly owner_address: Address;
  readonly balance: string;
}

interface OwnersAnswer {
  readonly cursor: string | null;
  readonly indexed: { readonly complete: boolean };
  readonly total_supply: string | null;
  readonly result: readonly OwnerRow[];
}

async function ownersOf(token: Address, query = ''): Promise<OwnersAnswer> {
  const { status, body } = await stage.ask(`erc20/${token}/owners${query}`);
  expect(status).toBe(200);
  return body as OwnersAnswer;
}

/** All pages, and between two of them whatever else happens. */
async function readAll(
  token: Address,
  query: string,
  between: () => Promise<void> = async () => {},
): Promise<OwnerRow[]> {
  const rows: OwnerRow[] = [];
  for (let page = await ownersOf(token, query); ; ) {
    rows.push(...page.result);
    if (page.cursor === null) return rows;
    await between();
    page = await ownersOf(token, `?cursor=${page.cursor}`);
  }
}

describe('owners of a token', () => {
  test('are those to whom its contract gives a balance, largest first, with their share', async () => {
    const { gold, devnet } = stage;
    const answer = await ownersOf(gold.address, '?limit=4');
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
    const smallest = await ownersOf(gold.address, '?limit=1&order=ASC');
    expect(smallest.result).toMatchObject([{ owner_address: gold.address, is_contract: true, balance: '5' }]);
    for (const { owner_address, balance } of await readAll(gold.address, ''))
      expect(await stage.balanceOf(gold, owner_address)).toBe(BigInt(balance));
  });

  test.each(['DESC', 'ASC'])(
    'come once each, page by page, with blocks arriving and a reorganisation between pages, %s',
    async (order) => {
      const { gold, spam, devnet } = stage;
      const all = await readAll(gold.address, `?limit=100&order=${order}`);
      let page = 0;
      const one = await readAll(gold.address, `?limit=2&order=${order}`, async () => {
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
    const rows = await readAll(stage.spam.address, '?limit=100');
    expect(rows).toEqual([]);
    expect(await ownersOf(stage.spam.address)).toMatchObject({ indexed: { complete: false }, result: [] });
  });

  test('of what never was a token are nobody', async () => {
    expect(await ownersOf(addressOf(0xdead))).toMatchObject({ cursor: null, indexed: { complete: true }, result: [] });
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
    await stage.scratch.database.query('TRUNCATE state_questions');
    const { body } = await stage.ask(`erc20/${stage.spam.address}/holders`);
    expect(body).toMatchObject({ totalHolders: 0, holderSupply: { top10: { supply: '0' } } });
  });
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
      Date.parse(timestamp) / 1_000 - begun,
      totalHolders,
      netHolderChange,
    ]);

  test('has every interval, newest first', async () => {
    const answer = await historyOf(`fromDate=${begun - 60}&toDate=${begun + 239}&timeFrame=1min`);
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

  test('is the same page by page', async () => {
    const query = `fromDate=${begun - 60}&toDate=${begun + 239}&timeFrame=1min`;
    const rows: unknown[] = [];
    for (let page = await historyOf(`${query}&limit=1`); ; ) {
      rows.push(...shown(page));
      if (page.cursor === null) break;
      page = await historyOf(`cursor=${page.cursor}`);
    }
    expect(rows).toEqual(shown(await historyOf(query)));
  });

  test('adds up over longer intervals, and ends with the newest block', async () => {
    const answer = await historyOf(`fromDate=${begun - 86_400}&toDate=${begun + 10 * 86_400}&timeFrame=1d`);
    expect(answer.result.reduce((sum, { netHolderChange }) => sum + netHolderChange, 0)).toBe(29);
    expect(answer.result[0]?.totalHolders).toBe(29);
    expect(answer.result.length).toBeLessThanOrEqual(3);
  });
});

test('the zero address, as a token, is held by nobody', async () => {
  expect((await ownersOf(ZERO_ADDRESS)).result).toEqual([]);
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
    const { cursor } = await ownersOf(stage.gold.address, '?limit=1');
    const ofOther = await stage.ask(`erc20/${TOKEN}/owners?cursor=${cursor}`);
    expect([ofOther.status, (ofOther.body as { message: string }).message]).toEqual([
      400,
      `token_address must be "${stage.gold.address}" as in the cursor, or left out, "${TOKEN}" was given`,
    ]);
    const elsewhere = await stage.ask(`erc20/${stage.gold.address}/holders/historical?cursor=${cursor}`);
    expect(elsewhere.status).toBe(400);
  });
});

test('what one of two nodes lies about is not believed', async () => {
  const { gold, node, devnet, chain, scratch } = stage;
  const { database } = scratch;
  await ownersOf(gold.address);
  await database.query(
    'UPDATE erc20_holders SET anchor_block = NULL, anchor_value = NULL, since = 0, anchored_at = NULL',
  );
  node.alter = ({ method }) => (method === 'eth_call' ? { result: `0x${'1'.padStart(64, '0')}` } : undefined);
  const pool = await openPool(chain, node.url, devnet.url);
  try {
    const context = { chain, pool, database, clock: systemClock, logger: silentLogger() };
    for (let turn = 0; turn < 4; turn++)
      await readOwners(context, gold.address, [ALICE, BOB], AbortSignal.timeout(10_000));
  } finally {
    node.alter = () => undefined;
    await pool.close();
  }
  const rows = await database.query(
    'SELECT anchor_value::int AS value FROM erc20_holders WHERE anchor_value IS NOT NULL ORDER BY 1',
  );
  expect(rows).toEqual([{ value: 500_000 }, { value: 700_000 }]);
  expect((await ownersOf(gold.address)).indexed.complete).toBe(true);
});

test('a contract that refuses to tell one balance is still believed about others', async () => {
  const { gold, node, chain, pool, scratch } = stage;
  const { database } = scratch;
  await database.query(
    'UPDATE erc20_holders SET anchor_block = NULL, anchor_value = NULL, since = 0, anchored_at = NULL',
  );
  node.alter = ({ method, params }) =>
    method === 'eth_call' && JSON.stringify(params).includes(ALICE.slice(2))
      ? { error: { code: 3, message: 'execution reverted' } }
      : undefined;
  const context = { chain, pool, database, clock: systemClock, logger: silentLogger() };
  try {
    await readOwners(context, gold.address, [ALICE], AbortSignal.timeout(10_000));
  } finally {
    node.alter = () => undefined;
  }
  const classes = await database.query<{ class: string }>('SELECT class FROM erc20_token_classes WHERE token = $1', [
    addressBytes(gold.address),
  ]);
  expect(classes.map((row) => row.class)).not.toContain('none');
  expect((await ownersOf(gold.address)).result).toContainEqual(
    expect.objectContaining({ owner_address: ALICE, balance: '500000' }),
  );
});

describe('a supply that is to be read again, and that no node tells', () => {
  const TOTAL_SUPPLY = '18160ddd';
  const asked = () => stage.node.received.filter(({ params }) => JSON.stringify(params).includes(TOTAL_SUPPLY)).length;

  test('is waited for once, and what was known of it stays; after a minute it is asked for again', async () => {
    const { gold, node, scratch } = stage;
    const { database } = scratch;
    expect((await ownersOf(gold.address)).total_supply).toBe('1000000000');
    await database.query(`UPDATE tokens SET supply_read_at = now() - interval '61 minutes', total_supply = 999999999`);
    node.alter = ({ method, params }) =>
      method === 'eth_call' && JSON.stringify(params).includes(TOTAL_SUPPLY)
        ? { error: { code: -32603, message: 'oops' } }
        : undefined;
    try {
      const failed = await ownersOf(gold.address);
      const before = asked();
      expect(before).toBeGreaterThan(0);
      const again = await ownersOf(gold.address);
      const behind = await ownersOf(gold.address, '?limit=1');
      expect([failed.total_supply, again.total_supply, behind.total_supply]).toEqual(Array(3).fill('999999999'));
      expect(again).toEqual(failed);
      expect(asked()).toBe(before);
    } finally {
      node.alter = () => undefined;
    }
    await database.query(
      `UPDATE state_questions SET asked_at = asked_at - interval '61 seconds', settled_at = settled_at - interval '61 seconds'
       WHERE kind = 'token-facts'`,
    );
    expect((await ownersOf(gold.address)).total_supply).toBe('1000000000');
  });
});

describe('a token whose beginning is not indexed', () => {
  test('is held by those that moved some since, as its contract says, and that is not complete', async () => {
    const { gold, devnet } = stage;
    const [gift] = await stage.scratch.database.query<{ block: number }>(
      'SELECT min(block_number) AS block FROM erc20_transfers WHERE value = 1000 AND token = $1',
      [addressBytes(gold.address)],
    );
    await stage.forgetBelow(gift?.block ?? 0);
    const answer = await ownersOf(gold.address);
    expect(answer.indexed.complete).toBe(false);
    // Who gave is known by what the contract says alone; Alice and Bob did not move anything since.
    expect(answer.result[0]).toMatchObject({ owner_address: devnet.accounts[0], balance: '998774995' });
    expect(answer.result).toHaveLength(27);
    await gold.call('transfer', CAROL, 7n);
    await stage.follow();
    const later = await ownersOf(gold.address);
    expect(later.result[0]).toMatchObject({ owner_address: devnet.accounts[0], balance: '998774988' });
    expect(later.result).toHaveLength(28);
    const { body } = await stage.ask(`erc20/${gold.address}/holders`);
    expect(body).toMatchObject({ totalHolders: 28, indexed: { complete: false } });
  });
});

test('before they are counted, the answer is 202', async () => {
  const { scratch, gold, node } = stage;
  await scratch.database.query('TRUNCATE state_questions');
  await scratch.database.query('DELETE FROM derived_states');
  const { status, body } = await stage.ask(`erc20/${gold.address}/holders`);
  expect([status, body]).toEqual([
    202,
    { message: 'Holders of this token are being counted. Please try again later.' },
  ]);
  expect(node.received.length).toBeGreaterThan(0);
});
