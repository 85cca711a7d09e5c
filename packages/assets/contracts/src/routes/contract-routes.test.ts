import { parseAddress } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { hashOf, timestampOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { contractRoutes } from './contract-routes.ts';
import {
  depositRow,
  type ExampleEvent,
  LABEL,
  OWNER,
  SENDER,
  seedContract,
  seedRows,
  VAULT,
} from './testing/seeded-contract.ts';

const OTHER = parseAddress(`0x${'0d'.repeat(20)}`);
const HUGE = String(2n ** 256n - 1n);

/** Several rows have the same amounts: pages continue within them. */
const ROWS: readonly ExampleEvent[] = [
  { block: 7, log: 1, assets: '5', delta: '-9', isFirst: true },
  { block: 7, log: 2, owner: OTHER, assets: '1000' },
  { block: 8, assets: '1000', note: 'from=x' },
  { block: 9, log: 4, isUndecoded: true },
  { block: 9, log: 5, assets: HUGE, payload: '0xbeef' },
  { block: 10, assets: '1000', delta: '12' },
  { block: 11, owner: OTHER, assets: '20', note: '' },
  { block: 11, log: 1, assets: '10', chainId: 137 },
];

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, contractRoutes));
beforeAll(async () => {
  const table = await seedContract(scratch.database);
  await seedRows(scratch.database, table, ROWS.map(depositRow));
});

interface Page {
  readonly cursor: string | null;
  readonly message?: string;
  readonly result: readonly {
    readonly block_number: string;
    readonly log_index: number;
    readonly params: { assets: string };
  }[];
}

async function get(
  query: string,
  path = 'vault/deposit',
): Promise<{ readonly status: number; readonly body: Page }> {
  const response = await api.request(`/api/v2.2/contracts/${path}${query}`, {
    headers: { 'X-API-Key': EXAMPLE_KEY },
  });
  return { status: response.status, body: (await response.json()) as Page };
}

const placesOf = ({ result = [] }: Page): string[] =>
  result.map(({ block_number, log_index }) => `${block_number}.${log_index}`);

/** Reads all pages. */
async function walk(query: string, limit: number): Promise<string[]> {
  const places: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body }: { body: Page } = await get(`?${query}&limit=${limit}&cursor=${cursor}`);
    expect(body.message).toBeUndefined();
    places.push(...placesOf(body));
    ({ cursor } = body);
  }
  return places;
}

describe('the list of contracts', () => {
  test('shows each field', async () => {
    const response = await api.request('/api/v2.2/contracts', { headers: { 'X-API-Key': EXAMPLE_KEY } });
    const column = (name: string, type: string, abi_type: string, is_indexed: boolean, is_hash = false) => ({
      ...{ name, type, abi_type, is_hash, is_indexed },
    });
    expect(await response.json()).toEqual({
      result: [
        {
          name: 'vault',
          chain: '0x1',
          addresses: [VAULT],
          first_block: '5',
          factory: null,
          suspended_reason: null,
          events: [
            {
              name: 'deposit',
              signature:
                'Deposit(address,address,string,uint256,int128,bool,bytes4,bytes,string,uint8,uint256[],(uint256,address))',
              table: 'contracts.vault_deposit',
              view: 'analytics.contract_vault_deposit',
              columns: [
                column('owner', 'bytea', 'address', true),
                column('from_', 'bytea', 'address', true),
                column('label', 'bytea', 'string', true, true),
                column('assets', 'numeric', 'uint256', true),
                column('delta', 'numeric', 'int128', true),
                column('is_first', 'boolean', 'bool', true),
                column('id', 'bytea', 'bytes4', true),
                column('payload', 'bytea', 'bytes', true),
                column('note', 'text', 'string', true),
                column('kind', 'numeric', 'uint8', false),
                column('parts', 'jsonb', 'uint256[]', false),
                column('position', 'jsonb', 'tuple', false),
              ],
            },
            {
              name: 'price',
              signature: 'Price(uint256)',
              table: 'contracts.vault_price',
              view: 'analytics.contract_vault_price',
              columns: [column('limit_', 'numeric', 'uint256', false)],
            },
          ],
        },
      ],
    });
  });
});

describe('rows', () => {
  test('show each field', async () => {
    const { status, body } = await get('?to_block=7&limit=1&order=asc');
    expect(status).toBe(200);
    expect(JSON.stringify(body)).toContain('"__proto__":"7"');
    expect(body).toEqual({
      page: 0,
      page_size: 1,
      cursor: expect.stringMatching(/./),
      indexed: { from_block: '5', to_block: '11', complete: true },
      result: [
        {
          block_number: '7',
          block_hash: hashOf(1, 7),
          block_timestamp: new Date(timestampOf(7) * 1_000).toISOString(),
          transaction_hash: hashOf(2, 7),
          transaction_index: 2,
          log_index: 1,
          contract_address: VAULT,
          params: {
            owner: OWNER,
            from_: SENDER,
            label: LABEL,
            assets: '5',
            delta: '-9',
            is_first: true,
            id: '0xabcdef01',
            payload: '0x',
            note: 'hello',
            kind: '3',
            parts: ['1', '2'],
            position: JSON.parse(`{"holder":"${OWNER}","__proto__":"7"}`),
          },
        },
      ],
    });
  });

  const ALL = ['7.1', '7.2', '8.0', '9.5', '10.0', '11.0'];
  const OF_OWNER = ['7.1', '8.0', '9.5', '10.0'];
  const BY_ASSETS = ['7.1', '11.0', '7.2', '8.0', '10.0', '9.5'];

  test.each<[string, string, readonly string[]]>([
    ['all', '', ALL],
    ['blocks', 'from_block=8&to_block=10', ['8.0', '9.5', '10.0']],
    ['dates', `from_date=${timestampOf(10)}`, ['10.0', '11.0']],
    ['an address', `owner=${OWNER.toUpperCase().replace('X', 'x')}`, OF_OWNER],
    ['an address within blocks', `owner=${OWNER}&from_block=8&to_block=9`, ['8.0', '9.5']],
    ['a reserved word', `from_=${SENDER}`, ALL],
    ['a hash', `label=${LABEL}`, ALL],
    ['another hash', `label=0x${'00'.repeat(32)}`, []],
    ['an integer', 'assets=1000', ['7.2', '8.0', '10.0']],
    ['an integer with zeros', 'assets=001000', ['7.2', '8.0', '10.0']],
    ['the largest integer', `assets=${HUGE}`, ['9.5']],
    ['a negative integer', 'delta=-9', ['7.1']],
    ['a boolean', 'is_first=TRUE', ['7.1']],
    ['the other boolean', 'is_first=false', ALL.slice(1)],
    ['fixed bytes', 'id=0xABCDEF01', ALL],
    ['bytes', 'payload=0xbeef', ['9.5']],
    ['no bytes', 'payload=0x', ALL.filter((place) => place !== '9.5')],
    ['a text', 'note=from%3Dx', ['8.0']],
    ['an empty text', 'note=', ['11.0']],
    ['several values', `owner=${OWNER}&assets=1000&is_first=false`, ['8.0', '10.0']],
    ['a value and a range', `owner=${OWNER}&assets.gte=1000`, ['8.0', '9.5', '10.0']],
    ['a value and ranges of two columns', `owner=${OWNER}&assets.gte=1000&delta.gt=0`, ['10.0']],
    ['a value within its range', 'assets=20&assets.lt=21', ['11.0']],
    ['a value outside its range', 'assets=20&assets.lt=20', []],
    ['a lower bound', 'assets.gte=1000', BY_ASSETS.slice(2)],
    ['an open lower bound', 'assets.gt=1000', ['9.5']],
    ['an upper bound', 'assets.lte=1000', BY_ASSETS.slice(0, 5)],
    ['an open upper bound', 'assets.lt=1000', BY_ASSETS.slice(0, 2)],
    ['both bounds', 'assets.gt=5&assets.lte=1000', BY_ASSETS.slice(1, 5)],
    ['two lower bounds', 'assets.gt=5&assets.gte=20', BY_ASSETS.slice(1)],
    ['two lower bounds, the second one open', 'assets.gte=20&assets.gt=20', BY_ASSETS.slice(2)],
    ['two upper bounds', 'assets.lt=1000&assets.lte=20', BY_ASSETS.slice(0, 2)],
    ['bounds without a value between', 'assets.gt=20&assets.lt=1000', []],
    ['a range within blocks', 'assets.gte=0&from_block=8&to_block=10', ['8.0', '10.0', '9.5']],
    ['negative bounds', 'delta.gte=-9&delta.lt=0', ['7.1', '7.2', '8.0', '9.5', '11.0']],
  ])('of %s are walked in both orders and page sizes', async (_name, query, expected) => {
    for (const limit of [1, 2, 100]) {
      expect(await walk(`${query}&order=ASC`, limit)).toEqual(expected);
      expect(await walk(query, limit)).toEqual(expected.toReversed());
    }
  });

  test('other chains have no contract of this name', async () => {
    expect(await get('?chain=polygon')).toEqual({
      status: 404,
      body: {
        message:
          'No such contract or event on chain polygon: GET /api/v2.2/contracts lists contracts, chains and events',
      },
    });
  });

  test('without all wanted blocks are not complete', async () => {
    const { body } = await get('?to_block=12');
    expect(body).toMatchObject({ indexed: { from_block: '5', to_block: '11', complete: false } });
  });

  test('a table without rows and coverage has an empty page', async () => {
    expect(await get('', 'vault/price')).toEqual({
      status: 200,
      body: {
        page: 0,
        page_size: 100,
        cursor: null,
        indexed: { from_block: null, to_block: null, complete: false },
        result: [],
      },
    });
  });

  test('a cursor continues without the other parameters, and refuses other ones', async () => {
    const { cursor } = (await get(`?owner=${OWNER}&limit=3`)).body;
    expect(placesOf((await get(`?cursor=${cursor}`)).body)).toEqual(['7.1']);
    expect((await get(`?owner=${OTHER}&cursor=${cursor}`)).body.message).toBe(
      `filters must be ["owner=${OWNER}"] as in the cursor, or left out, ["owner=${OTHER}"] was given`,
    );
    expect((await get(`?cursor=${cursor}`, 'vault/price')).body.message).toBe(
      'event must be "deposit" as in the cursor, or left out, "price" was given',
    );
  });

  test('rows after the first page stay out of a run', async () => {
    const { cursor } = (await get('?assets.gte=0&limit=1&order=ASC')).body;
    expect(cursor).not.toBeNull();
    await scratch.database.query(
      sql`INSERT INTO contracts.vault_deposit SELECT (jsonb_populate_record(row, '{"block_number": 12, "assets": 6}')).* FROM contracts.vault_deposit AS row WHERE block_number = 11 AND chain_id = 1`,
    );
    await scratch.database.query(
      sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (1, 12, decode(repeat('12', 32), 'hex'), now())`,
    );
    expect(placesOf((await get(`?cursor=${cursor}&limit=1`)).body)).toEqual(['11.0']);
    expect(placesOf((await get('?assets.gte=0&limit=2&order=ASC')).body)).toEqual(['7.1', '12.0']);
    await scratch.database.query(sql`DELETE FROM contracts.vault_deposit WHERE block_number = 12`);
  });
});
