import type { ApiApp } from '@chainstead/http';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { ask, exampleApi } from '../testing/example-api.ts';
import { addressOf } from '../testing/seeded-rows.ts';

const scratch = scratchOfFile();
let app: ApiApp;
beforeAll(async () => {
  app = await exampleApi(scratch.database);
});

const NO_LIMIT = [
  'limit must not be greater than 100',
  'limit must not be less than 1',
  'limit must be a number conforming to the specified constraints',
];
const noList = (name: string): string[] => [
  `${name} must contain no more than 25 elements`,
  `${name} must contain at least 1 elements`,
  `${name} must be an array`,
];
const A = addressOf(1);
const HASH = 'a'.repeat(64);
const CURSOR = 'cursor must be the cursor of an earlier page of this query, unchanged, "abc" was given';

const CASES: readonly (readonly [string, readonly string[]])[] = [
  ['/coins/latest', NO_LIMIT],
  ['/coins/latest?limit=', NO_LIMIT],
  ['/coins/latest?limit=abc', NO_LIMIT],
  ['/coins/latest?limit=NaN', NO_LIMIT],
  ['/coins/latest?limit=0x10', NO_LIMIT],
  ['/coins/latest?limit=1&limit=2', NO_LIMIT],
  ['/coins/latest?limit[]=1', ['property limit[] should not exist', ...NO_LIMIT]],
  ['/coins/latest?limit=0', ['limit must not be less than 1']],
  ['/coins/latest?limit=-1', ['limit must not be less than 1']],
  ['/coins/latest?limit=101', ['limit must not be greater than 100']],
  ['/coins/latest?limit=1.5', ['limit must be an integer number']],
  ['/coins/latest?limit=1&offset=101', ['offset must not be greater than 100']],
  ['/coins/latest?limit=1&offset=-1', ['offset must not be less than 0']],
  [
    '/coins/latest?limit=1&offset=x',
    [
      'offset must not be greater than 100',
      'offset must not be less than 0',
      'offset must be a number conforming to the specified constraints',
    ],
  ],
  ['/coins/latest?limit=1&cursor=abc', [CURSOR]],
  ['/coins/latest?limit=1&cursor=a&cursor=b', ['cursor must be a string']],
  [
    `/coins/latest?limit=1&cursor=${'a'.repeat(12_289)}`,
    ['cursor must be shorter than or equal to 12288 characters'],
  ],
  ['/coins/latest?limit=1&chain=eth', ['property chain should not exist']],
  ['/coins/latest?limit=1&__proto__=1', ['property __proto__ should not exist']],
  ['/coins/latest?limit=1&from_symbol=A', ['property from_symbol should not exist']],
  ['/coins/latest?limit=1&network=devnet', ['network must be one of the following values: mainnet, testnet']],
  [
    '/coins/latest?limit=0&offset=101&network=&x=1',
    [
      'property x should not exist',
      'limit must not be less than 1',
      'offset must not be greater than 100',
      'network must be one of the following values: mainnet, testnet',
    ],
  ],
  [
    `/coins/symbols?limit=1&from_symbol=${'A'.repeat(11)}`,
    ['from_symbol must be shorter than or equal to 10 characters'],
  ],
  [
    `/coins/symbols?limit=1&to_symbol=${encodeURIComponent('😀'.repeat(11))}`,
    ['to_symbol must be shorter than or equal to 10 characters'],
  ],
  ['/coins/symbols?limit=1&from_symbol=A&from_symbol=B', ['from_symbol must be a string']],
  [`/coins/names?limit=1&to_name=${'n'.repeat(33)}`, ['to_name must be shorter than or equal to 32 characters']],
  ['/coins/creators?limit=1', noList('creator_addresses')],
  ['/coins/creators?limit=1&creator_addresses[]=0x1', ['each value in creator_addresses must be 66 characters']],
  [
    `/coins/creators?limit=1&creator_addresses=${A},0x${'g'.repeat(64)}`,
    ['each value in creator_addresses must match /^0x[0-9a-fA-F]*$/ regular expression'],
  ],
  [
    `/coins/creators?limit=1&${Array.from({ length: 26 }, (_, index) => `creator_addresses[]=${addressOf(index)}`).join('&')}`,
    ['creator_addresses must contain no more than 25 elements'],
  ],
  ['/coins', noList('coin_type_hashes')],
  [
    '/coins?coin_type_hashes[]=abc&coin_type_hashes[]=xyz',
    [
      'each value in coin_type_hashes must be longer than or equal to 64 characters',
      'each value in coin_type_hashes must match /^[0-9a-fA-F]*$/ regular expression',
    ],
  ],
  [
    `/coins?coin_type_hashes=0x${HASH}`,
    [
      'each value in coin_type_hashes must be shorter than or equal to 64 characters',
      'each value in coin_type_hashes must match /^[0-9a-fA-F]*$/ regular expression',
    ],
  ],
  [`/coins?coin_type_hashes=${HASH}&limit=1`, ['property limit should not exist']],
  ['/wallets/coins', [...NO_LIMIT, ...noList('owner_addresses')]],
  [
    `/wallets/coins/transfers?limit=1&owner_addresses=${A}&from_date=yesterday`,
    ['from_date must be a valid ISO 8601 date string'],
  ],
  [
    `/wallets/coins/transfers?limit=1&owner_addresses=${A}&to_date=`,
    ['to_date must be longer than or equal to 1 characters'],
  ],
  [
    `/coins/transfers/wallets?limit=1&owner_addresses=${A}&to_date=${'1'.repeat(101)}`,
    ['to_date must be shorter than or equal to 100 characters'],
  ],
  [
    `/coins/transfers/wallets?limit=1&owner_addresses=${A}&coin_type_whitelist=`,
    ['each value in coin_type_whitelist must be longer than or equal to 1 characters'],
  ],
  ['/coins/transfers/blocks?limit=1', noList('block_heights')],
  ['/coins/transfers/blocks?limit=1&block_heights=0x1', ['each value in block_heights must be a number string']],
  [
    '/coins/transfers/blocks?limit=1&block_heights=9223372036854775808',
    ['each value in block_heights must not be greater than 9223372036854775807'],
  ],
  [
    `/coins/transfers/${'x'.repeat(5_001)}?limit=1`,
    ['coin_type must be shorter than or equal to 5000 characters'],
  ],
  [
    '/coins/owners/abc/top-holders',
    ['coin_type_hash must be longer than or equal to 64 characters', ...NO_LIMIT],
  ],
  [`/coins/owners/${HASH}/top-holders?limit=1&min_amount=-1`, ['min_amount must be a number string']],
  [`/coins/owners/${HASH}/top-holders?limit=1&min_version=-1`, ['min_version must not be less than 0']],
  [
    `/coins/owners/${HASH}/top-holders?limit=1&wallet_blacklist=x`,
    [
      'each value in wallet_blacklist must be 66 characters',
      'each value in wallet_blacklist must match /^0x[0-9a-fA-F]*$/ regular expression',
    ],
  ],
];

describe('a bad request', () => {
  it.each(
    CASES.map(([path, problems]) => [path.length > 90 ? `${path.slice(0, 90)}…` : path, path, problems] as const),
  )('%s is told every rule that it breaks', async (_, path, problems) => {
    const response = await ask(app, path);
    expect(await response.json()).toEqual({ statusCode: '400', message: problems, error: 'Bad Request' });
    expect(response.status).toBe(400);
  });

  it('is not looked at without a key', async () => {
    expect((await app.request('/coins/latest?limit=0')).status).toBe(401);
  });
});

describe('the OpenAPI document', () => {
  it('has every path with its parameters', async () => {
    const response = await app.request('/openapi.json');
    const { paths } = (await response.json()) as {
      paths: Record<string, { get?: { parameters?: { name: string; required?: boolean }[] } }>;
    };
    const parametersOf = (path: string) => paths[path]?.get?.parameters?.map(({ name }) => name).sort();
    const paging = ['cursor', 'limit', 'network', 'offset'];
    expect(parametersOf('/coins/latest')).toEqual(paging);
    expect(parametersOf('/coins/symbols')).toEqual([...paging, 'from_symbol', 'to_symbol'].sort());
    expect(parametersOf('/coins/transfers/{coin_type}')).toEqual(
      [...paging, 'coin_type', 'from_date', 'to_date'].sort(),
    );
    expect(paths['/coins/latest']?.get?.parameters?.find(({ name }) => name === 'limit')?.required).toBe(true);
    expect(Object.keys(paths).filter((path) => /^\/(coins|wallets)/.test(path))).toHaveLength(12);
  });
});
