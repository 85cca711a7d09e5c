import type { Hash } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { EXAMPLE_KEY } from '@chainstead/http/testing';
import { addressOf, hashOf } from '@chainstead/testkit';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, test } from 'vitest';
import {
  ALICE,
  APES,
  APTOS_OWNER,
  BASE,
  BOB,
  CALLED,
  ETH,
  openExplorerStage,
  SENDER,
  TOKEN,
  TRANSFERS,
} from '../../testing/explorer-stage.ts';
import { type ShownTable, shownTables } from '../../testing/shown-tables.ts';

/** The seeded transfer's transaction in block 1,000. */
const TRANSACTION = hashOf(2, 1_000 * 1_000);
const [UNREPORTED, NOWHERE, BLOCK_HASH] = [hashOf(7, 1), hashOf(7, 2), hashOf(7, 3)];

const stage = stageOfFile(() =>
  openExplorerStage({
    placeOf: async (chain, hash: Hash) => {
      if (hash === UNREPORTED) return undefined;
      if (chain.id !== ETH.id) return null;
      if (hash === TRANSACTION) return { kind: 'transaction', blockNumber: 1_000 };
      return hash === BLOCK_HASH ? { kind: 'block', blockNumber: 1_001 } : null;
    },
  }),
);
const visitor = madeForFile(() => stage.signIn());

async function get(
  path: string,
): Promise<{ readonly status: number; readonly page: string; readonly to: string | null }> {
  const answer = await stage.get(`/console/look-up${path}`, visitor);
  return { status: answer.status, page: await answer.text(), to: answer.headers.get('location') };
}

/** Returns the API's response to the line shown with a table. */
async function run(
  target: string | null,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  if (target === null) throw new Error('The table has no line');
  const answer = await stage.app.request(target, { headers: { 'x-api-key': EXAMPLE_KEY } });
  const body = (await answer.json()) as Record<string, unknown>;
  return { status: answer.status, body: Array.isArray(body) ? { result: body } : body };
}

const NAMED = [
  'hash',
  'transaction_hash',
  'token_address',
  'owner_of',
  'owner_address',
  'coin_type',
  'trait_value',
];

/** Checks that each row contains the identifier of the response's row, in the same order. */
async function expectSame(table: ShownTable): Promise<number> {
  const { status, body } = await run(table.target);
  const result = (body.result ?? []) as Record<string, unknown>[];
  if (status !== 200) return 0;
  if (table.rows.length > 0) expect(table.rows, table.title).toHaveLength(result.length);
  for (const [at, row] of table.rows.entries()) {
    const named = NAMED.flatMap((name) =>
      typeof result[at]?.[name] === 'string' ? [String(result[at][name])] : [],
    );
    expect(
      named.some((text) => row.includes(text)),
      `${table.title}, row ${at}`,
    ).toBe(true);
  }
  return table.rows.length;
}

describe('a search', () => {
  test.each([
    [` ${ALICE} `, `/address/${ALICE}`],
    [`${APES}/0x10`, `/nft/${APES}/16`],
    [TRANSACTION, `/hash/${TRANSACTION}`],
    ['1000', '/block/1000'],
    ['0x5', `/aptos/0x${'5'.padStart(64, '0')}`],
    ['bücher.eth', `/name/${encodeURIComponent('bücher.eth')}`],
  ])('of %s leads to its page', async (text, path) => {
    const { status, to } = await get(`?q=${encodeURIComponent(text)}`);
    expect([status, to]).toEqual([303, `/console/look-up${path}`]);
  });

  test.each(['<script>alert(1)</script>', 'x'.repeat(10_000), '\u202e', '0xzz'])(
    'of %.20s is told to name nothing',
    async (text) => {
      const { status, page } = await get(`?q=${encodeURIComponent(text)}`);
      expect([status, page.includes('is not an address, a name'), page.includes('<script>alert')]).toEqual([
        200,
        true,
        false,
      ]);
      expect(page.length).toBeLessThan(20_000);
    },
  );

  test('of a name, without a node that names are read from, is answered with the setting', async () => {
    const { status, page } = await get('/name/vitalik.eth');
    expect(status).toBe(501);
    expect(page).toContain('RPC_URLS_ETH');
    expect(page).not.toContain('Reload the page');
  });

  test('stands on every page', async () => {
    for (const path of ['/console', '/console/keys', '/console/look-up'])
      expect(await (await stage.get(path, visitor)).text()).toContain('action="/console/look-up"');
  });
});

describe('an address', () => {
  test('of a token has its name as the title, its market, holders and swaps', async () => {
    const { page } = await get(`/address/${TOKEN}?chain=eth`);
    expect(page).toMatch(/<h1><bdi>[^<]+<\/bdi><\/h1><p><code>0x/);
    const titles = shownTables(page).map(({ title }) => title);
    expect(titles).toEqual(expect.arrayContaining(['Market', 'Token holders', 'Swaps']));
  });

  test('is shown with what is indexed of it, on the chains where that is something', async () => {
    const { status, page } = await get(`/address/${ALICE}`);
    expect(status).toBe(200);
    expect([...page.matchAll(/<h2 id="on-(\w+)"/g)].map(([, chain]) => chain)).toEqual([ETH.key, BASE.key]);
    const tables = shownTables(page);
    const of = (title: string) => tables.filter((table) => table.title === title).map(({ rows }) => rows.length);
    expect(of('ERC-20 transfers')).toEqual([5, 1]);
    expect(of('NFTs held')).toEqual([3, 0]);
    expect(of('NFT transfers')).toEqual([3, 0]);
    expect(of('NFT trades')).toEqual([3, 0]);
    expect(page).toContain('<img class="thumb"');
  });

  test('has its transactions, and what it did by them', async () => {
    const tables = shownTables((await get(`/address/${ALICE}?chain=base`)).page);
    const of = (title: string) => tables.find((table) => table.title === title);
    expect(of('Transactions')?.rows).toHaveLength(1);
    expect(of('Transactions')?.target).toBe(`/api/v2.2/${ALICE}?chain=base&limit=10`);
    expect(of('History')?.rows[0]).toMatch(/Received[\s\S]*token receive/);
    expect(of('History')?.target).toBe(`/api/v2.2/wallets/${ALICE}/history?chain=base&limit=10`);
  });

  test('that has transactions alone is found by them', async () => {
    const { page } = await get(`/address/${SENDER}`);
    expect([...page.matchAll(/<h2 id="on-(\w+)"/g)].map(([, chain]) => chain)).toEqual([BASE.key]);
    expect(shownTables(page).map(({ title }) => title)).toContain('Token balances');
  });

  test('is shown as the API has it, table by table', async () => {
    let rows = 0;
    for (const path of [
      `/address/${ALICE}`,
      `/address/${ALICE}?chain=eth`,
      `/address/${ALICE}?chain=base`,
      `/address/${TOKEN}`,
      `/address/${APES}`,
      `/nft/${APES}/1`,
      `/aptos/${APTOS_OWNER}`,
    ]) {
      const tables = shownTables((await get(path)).page).filter(({ target }) => target !== null);
      expect(tables.length, path).toBeGreaterThan(2);
      for (const table of tables) rows += await expectSame(table);
    }
    expect(rows).toBeGreaterThan(40);
  });

  test('of a token has its record, transfers and holders', async () => {
    const { page } = await get(`/address/${TOKEN}`);
    expect(page).toMatch(/<dt>Symbol<\/dt><dd><bdi>GLD<\/bdi>/);
    expect(shownTables(page).find(({ title }) => title === 'Token transfers')?.rows).toHaveLength(10);
    expect(page).toContain('>1.2</data> <bdi>GLD</bdi>');
    expect(page).toContain(`href="/console/pools?chain=eth&amp;address=${TOKEN}"`);
  });

  test('of a collection has its NFTs with pictures, owners, trades and prices', async () => {
    const { page } = await get(`/address/${APES}`);
    const tables = shownTables(page);
    for (const title of ['Collection NFTs', 'Collection trades', 'Collection transfers', 'Owners'])
      expect(tables.find((table) => table.title === title)?.rows, title).toHaveLength(3);
    expect(page).toContain(`src="/console/look-up/picture/eth/${APES}/1"`);
    expect(page).not.toContain(`src="/console/look-up/picture/eth/${APES}/3"`);
    expect(page).toContain(`data-plot="/console/look-up/prices.json?chain=eth&amp;address=${APES}"`);
    const answer = await stage.get(`/console/look-up/prices.json?chain=eth&address=${APES}`, visitor);
    expect(await answer.json()).toMatchObject({
      labels: ['lowest', 'average', 'highest'],
      unit: 'ETH',
      times: [expect.any(Number), expect.any(Number), expect.any(Number)],
      values: [
        [0.3, 0.2, 0.1],
        [0.3, 0.2, 0.1],
        [0.3, 0.2, 0.1],
      ],
    });
  });

  test('of a contract that was called is shown with that, and not as an account', async () => {
    const titles = shownTables((await get(`/address/${CALLED}`)).page).map(({ title }) => title);
    expect(titles).toEqual(expect.arrayContaining(['Collection', 'History', 'Transactions']));
    expect(titles).not.toContain('Token balances');
  });

  test('of which nothing is indexed says so, and has no history read on its behalf', async () => {
    const [stranger, path] = [addressOf(0x5717), '/console/look-up/address'];
    const { page } = await get(`/address/${stranger}`);
    expect(page).toContain('No data is indexed for this address on any of these chains');
    expect(page).toContain(`href="${path}/${stranger}?chain=polygon"`);
    expect(
      await stage.database.query(
        sql`SELECT FROM backfill_requests WHERE subject = decode(${stranger.slice(2)}, 'hex')`,
      ),
    ).toEqual([]);
  });

  test.each([
    ['/address/0x12', 400],
    [`/address/${ALICE}?chain=nowhere`, 400],
    [`/address/${ALICE}?chain=%3Cscript%3E`, 400],
    [`/nft/${APES}/minus`, 400],
    [`/nft/${APES}/1?chain=bsc`, 400],
    ['/aptos/0xzz', 400],
    [`/aptos/${APTOS_OWNER}?chain=aptos-testnet`, 400],
    ['/table/nothing?chain=eth', 404],
    [`/table/nft-owners?chain=eth&address=${APES}`, 400],
    [`/table/erc20-transfers?chain=eth&address=${ALICE}&cursor=${'x'.repeat(5_000)}`, 400],
    ['/block/-1', 400],
    ['/transaction/0x12?chain=eth', 400],
    [`/transaction/${TRANSACTION}`, 400],
    ['/rows/blocks?chain=eth&block=1', 404],
    ['/rows/nft_trades?chain=eth&block=1&after=1', 400],
    ['/hash/0x12', 400],
  ])('that can’t be used is refused in words: %s', async (path, status) => {
    const answer = await get(path);
    expect(answer.status).toBe(status);
    expect(answer.page).toMatch(/<p class="problem" role="alert">[^<]{10}/);
  });
});

describe('a table’s own page', () => {
  test('goes on by the API’s cursors, each row once, as the API’s own pages', async () => {
    const seen: string[] = [];
    const served: string[] = [];
    let path: string | null = `/table/erc20-transfers?chain=eth&address=${ALICE}`;
    while (path !== null) {
      const { page } = await get(path);
      const [table] = shownTables(page);
      seen.push(...(table?.rows ?? []).map((row) => /\/transaction\/(0x\w+)/.exec(row)?.[1] ?? ''));
      const { body } = await run(table?.target ?? null);
      served.push(...(body.result as { transaction_hash: string }[]).map((row) => row.transaction_hash));
      path =
        /href="\/console\/look-up(\/table\/[^"]+)" rel="next"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? null;
    }
    expect(new Set(seen).size).toBe(TRANSFERS);
    expect(seen).toEqual(served);
  });

  test('says what the API says to a cursor of another table', async () => {
    const { page } = await get(`/table/erc20-transfers?chain=eth&address=${ALICE}&cursor=abc`);
    expect(page).toContain('cursor must be the cursor of an earlier page');
  });
});

describe('a block', () => {
  test('has its header, how it is proven, and its rows with the line and the SQL that give them', async () => {
    const { page } = await get('/block/2000');
    expect(page).toContain(hashOf(1, 2_000));
    expect(page).toMatch(/>nft-trades<\/bdi><\/td><td>[^<]{5}/);
    const count = (title: string) => shownTables(page).find((table) => table.title === title)?.rows.length;
    expect([count('ERC-20 transfers'), count('NFT transfers'), count('NFT trades')]).toEqual([0, 1, 1]);
    const targets = shownTables(page).map(({ target }) => target);
    expect(targets).toEqual(Array(3).fill('/api/v2.2/block/2000?chain=eth'));
    const [, sql = ''] = /<code>(SELECT [^<]*analytics\.nft_trades[^<]*)<\/code>/.exec(page) ?? [];
    expect(await stage.database.query(rawSql(sql.replaceAll('&#39;', "'")))).toHaveLength(1);
  });

  test('that no chain has says so', async () => {
    expect((await get('/block/999999999999')).page).toContain('No block with this number is indexed');
  });

  test('is found by its hash', async () => {
    expect((await get(`/hash/${BLOCK_HASH}`)).to).toBe('/console/look-up/block/1001?chain=eth');
  });
});

describe('a transaction', () => {
  test('is found by asking nodes, and has its own rows', async () => {
    const { to } = await get(`/hash/${TRANSACTION}`);
    expect(to).toBe(`/console/look-up/transaction/${TRANSACTION}?chain=eth&block=1000`);
    for (const path of [to?.replace('/console/look-up', '') ?? '', `/transaction/${TRANSACTION}?chain=eth`]) {
      const { page } = await get(path);
      const [transfers] = shownTables(page);
      expect(transfers?.rows).toHaveLength(1);
      expect(transfers?.rows[0]).toContain(ALICE);
      expect(transfers?.rows[0]).toContain(BOB);
      expect(transfers?.target).toBe(`/api/v2.2/transaction/${TRANSACTION}/verbose?chain=eth`);
      expect(page).toContain('eth_getTransactionReceipt');
      expect(page).toContain(`/api/v2.2/transaction/${TRANSACTION}/verbose?chain=eth&amp;include=`);
    }
  });

  test('that no node has, or of which none tells, is told apart', async () => {
    expect((await get(`/hash/${NOWHERE}`)).page).toContain('No upstream that responded has');
    expect((await get(`/hash/${UNREPORTED}`)).page).toContain('No response in time: eth, base, polygon');
    expect((await get(`/transaction/${NOWHERE}?chain=eth`)).page).toContain('No upstream of eth has it');
    expect((await get(`/transaction/${UNREPORTED}?chain=eth`)).page).toContain(
      'No upstream returned its block in time',
    );
  });

  test('may be an account of Aptos', async () => {
    const path = `/console/look-up/aptos/${APTOS_OWNER}`;
    expect((await get(`/hash/${APTOS_OWNER}`)).to).toBe(`${path}?chain=aptos`);
    expect((await get(`/aptos/${APTOS_OWNER}`)).page).toContain('0xa::m::C');
  });
});
