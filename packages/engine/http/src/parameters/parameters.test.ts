import { expect, test } from 'vitest';
import { createDemoApi, TOKEN, WALLET } from '../testing/demo-api.ts';

const OTHER = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const { app } = createDemoApi();

interface Answer {
  readonly page_size: number;
  readonly chain_id: number;
  readonly order: string;
  readonly filter: Readonly<Record<string, unknown>>;
}

async function read(query: string, address = WALLET): Promise<Answer> {
  const response = await app.request(`/demo/${address}/rows?${query}`);
  expect(response.status).toBe(200);
  return response.json() as Promise<Answer>;
}

test.each([
  ['names', `contract_addresses[]=${TOKEN}&contract_addresses[]=${OTHER}`],
  ['percent-encoded names', `contract_addresses%5B%5D=${TOKEN}&contract_addresses%5B%5D=${OTHER}`],
  ['indexes', `contract_addresses[0]=${TOKEN}&contract_addresses[1]=${OTHER}`],
  ['a repeated name', `contract_addresses=${TOKEN}&contract_addresses=${OTHER}`],
  ['a comma list', `contract_addresses=${TOKEN},${OTHER}`],
  ['an encoded comma list', `contract_addresses=${TOKEN}%2C${OTHER}`],
  [
    'several spellings at once',
    `contract_addresses=${TOKEN}&contract_addresses[]=${OTHER}&contract_addresses[7]=${OTHER}`,
  ],
  [
    'other order and letter case',
    `contract_addresses=${OTHER.toUpperCase().replace('0X', '0x')},${TOKEN},${TOKEN}`,
  ],
])('an array parameter is read from %s', async (_name, query) => {
  expect((await read(query)).filter.contract_addresses).toEqual([OTHER, TOKEN]);
});

test.each([
  ['eth', 1],
  ['ETH', 1],
  ['0x1', 1],
  ['0X1', 1],
  ['1', 1],
  ['base', 8453],
  ['0x2105', 8453],
  ['8453', 8453],
  ['polygon', 137],
  ['0x89', 137],
])('chain=%s is chain %i', async (text, id) => {
  expect((await read(`chain=${text}`)).chain_id).toBe(id);
});

test('chain is eth when it is left out', async () => {
  expect((await read('')).chain_id).toBe(1);
});

test('an address is read in any letter case', async () => {
  expect((await read('', WALLET.toUpperCase().replace('0X', '0x'))).filter.address).toBe(WALLET);
});

test.each([
  ['', 20],
  ['limit=1', 1],
  ['limit=50', 50],
  ['limit=51', 50],
  ['limit=1000000000', 50],
  ['limit=99999999999999999999999', 50],
])('with %j a page has %i rows at most', async (query, size) => {
  expect((await read(query)).page_size).toBe(size);
});

test.each([
  ['', 'DESC'],
  ['order=ASC', 'ASC'],
  ['order=asc', 'ASC'],
  ['order=Desc', 'DESC'],
])('with %j the order is %s', async (query, order) => {
  expect((await read(query)).order).toBe(order);
});

const MOMENT = Date.parse('2024-01-02T03:04:05Z');

test.each([
  String(MOMENT / 1_000),
  '2024-01-02T03:04:05.000Z',
  '2024-01-02T03:04:05',
  '2024-01-02 03:04:05',
  '2024-01-02T04:04:05%2B01:00',
  'Tue, 02 Jan 2024 03:04:05 GMT',
  String(MOMENT),
  '2024/01/02 03:04:05',
  'Jan 2, 2024 3:04:05 AM',
  'Tue Jan 02 2024 04:04:05 GMT%2B0100 (Central European Standard Time)',
])('a date may be written as %s', async (text) => {
  const { filter } = await read(`from_date=${text}&to_date=${text}`);
  expect(filter).toMatchObject({ from_date: MOMENT, to_date: MOMENT });
});

test('a block wins over a date on its side only', async () => {
  const { filter } = await read('from_block=7&from_date=2024-01-01&to_date=2024-01-02');
  expect(filter).toEqual({
    address: WALLET,
    chain: 'eth',
    contract_addresses: [],
    from_block: 7,
    from_date: null,
    to_block: null,
    to_date: Date.parse('2024-01-02'),
  });
});

test('equal and highest bounds are allowed', async () => {
  const { filter } = await read('from_block=0&to_block=9007199254740991');
  expect(filter).toMatchObject({ from_block: 0, to_block: Number.MAX_SAFE_INTEGER });
  expect((await read('from_block=5&to_block=5')).filter).toMatchObject({ from_block: 5, to_block: 5 });
});
