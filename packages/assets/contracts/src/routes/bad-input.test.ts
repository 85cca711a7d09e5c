import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { contractRoutes } from './contract-routes.ts';
import { LABEL, OWNER, seedContract, VAULT } from './testing/seeded-contract.ts';

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, contractRoutes));
beforeAll(() => seedContract(scratch.database));

async function get(path: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await api.request(`/api/v2.2/contracts/${path}`, { headers: { 'X-API-Key': EXAMPLE_KEY } });
  return { status: response.status, body: await response.json() };
}

const PAGE = 'chain, from_block, to_block, from_date, to_date, limit, order, cursor';
const RANGES = '(also with .gte, .gt, .lte, .lt)';
const ALLOWED = `${PAGE}, owner, from_, label, assets ${RANGES}, delta ${RANGES}, is_first, id, payload, note`;
const unknown = (name: string) =>
  [name, undefined, `"${name}" is no parameter of this route: use ${ALLOWED}`] as const;
const UINT = 'a whole number from 0 to 2^256 − 1, in decimal digits';
const INT = 'a whole number from −2^127 to 2^127 − 1, in decimal digits';
const ADD = `chainstead contracts add vault --chain eth --abi <file> --address ${VAULT} --index`;

/** Query, parameter, text after "must be", and the value; or a whole sentence. */
type Refusal = readonly [parameter: string, allowed: string | undefined, given: string];

const REFUSED: readonly (readonly [query: string, refusal: Refusal])[] = [
  ['ownr=1', unknown('ownr')],
  ['__proto__=1', unknown('__proto__')],
  ['constructor=1', unknown('constructor')],
  ['toString.gte=1', unknown('toString.gte')],
  ['from=1', unknown('from')],
  ['limit_=1', unknown('limit_')],
  ['filters=1', unknown('filters')],
  ['chain_id=1', unknown('chain_id')],
  ['undecoded=0x01', unknown('undecoded')],
  ['Owner=1', unknown('Owner')],
  ['owner[]=1', unknown('owner[]')],
  ['assets.eq=1', unknown('assets.eq')],
  ['assets.gte.lt=1', unknown('assets.gte.lt')],
  ['.gte=1', unknown('.gte')],
  ["assets'--=1", unknown("assets'--")],
  ['owner', ['owner', 'a hexadecimal address (0x and 40 digits)', '']],
  ['owner=0x12', ['owner', 'a hexadecimal address (0x and 40 digits)', '0x12']],
  ['owner=0xzz', ['owner', 'a hexadecimal address (0x and 40 digits)', '0xzz']],
  ['label=hello', ['label', 'a Keccak-256 hash (0x and 64 digits)', 'hello']],
  ['id=0xabcdef', ['id', 'a value of type bytes4 (0x and 8 digits)', '0xabcdef']],
  ['payload=0x123', ['payload', 'hexadecimal bytes (0x and an even number of digits)', '0x123']],
  ['payload=abcd', ['payload', 'hexadecimal bytes (0x and an even number of digits)', 'abcd']],
  ['assets=-1', ['assets', UINT, '-1']],
  ['assets=1.5', ['assets', UINT, '1.5']],
  ['assets=0x10', ['assets', UINT, '0x10']],
  ['assets=', ['assets', UINT, '']],
  [`assets.gte=${2n ** 256n}`, ['assets.gte', UINT, String(2n ** 256n)]],
  ['assets.lt=NaN', ['assets.lt', UINT, 'NaN']],
  [`delta=${2n ** 127n}`, ['delta', INT, String(2n ** 127n)]],
  [`delta=${-(2n ** 127n) - 1n}`, ['delta', INT, String(-(2n ** 127n) - 1n)]],
  ['is_first=1', ['is_first', 'true or false', '1']],
  ['kind=256', ['kind', 'a whole number from 0 to 2^8 − 1, in decimal digits', '256']],
  ['kind=3', ['kind', undefined, `kind has no index. Add one with: ${ADD} kind`]],
  ['kind.gte=3', ['kind.gte', undefined, `kind has no index. Add one with: ${ADD} kind`]],
  ['parts=1', ['parts', undefined, "parts can't be filtered by: it has type uint256[]"]],
  ['position=1', ['position', undefined, "position can't be filtered by: it has type tuple"]],
  [
    'owner.gte=1',
    ['owner.gte', undefined, 'owner.gte is no filter: ranges need a number, and owner has type address'],
  ],
  ['note.lt=a', ['note.lt', undefined, 'note.lt is no filter: ranges need a number, and note has type string']],
  [`owner=${OWNER}&owner=${OWNER}`, ['owner', undefined, 'owner may be given once, it was given 2 times']],
  [
    'assets.gte=1&delta.lt=1',
    [
      'assets, delta',
      undefined,
      'Ranges of several parameters (assets, delta) need an equality filter, such as assets=1',
    ],
  ],
  [
    `note=${'x'.repeat(2_000)}`,
    ['filters', undefined, 'Filters may have 2000 characters together, they have 2005'],
  ],
];

describe('a request is refused by name', () => {
  test.each(REFUSED)('%s', async (query, [parameter, allowed, given]) => {
    const error = allowed === undefined ? { parameter } : { parameter, given, allowed };
    expect(await get(`vault/deposit?${query}`)).toEqual({
      status: 400,
      body: {
        message:
          allowed === undefined ? given : `${parameter} must be ${allowed}, ${JSON.stringify(given)} was given`,
        details: { errors: [error] },
      },
    });
  });

  test('with all problems', async () => {
    expect(await get(`vault/deposit?label=${LABEL}&owner=1&kind=1&is_first=no`)).toMatchObject({
      status: 400,
      body: { details: { errors: [{ parameter: 'is_first' }, { parameter: 'kind' }, { parameter: 'owner' }] } },
    });
  });

  test.each([
    ...[
      'nothing/deposit',
      'vault/nothing',
      'VAULT/deposit',
      'vault/Deposit',
      '__proto__/__proto__',
      'vault/deposit%27--',
    ],
    ...['%2A/%2A', `vault/${'x'.repeat(5_000)}`, 'public/contract_definitions'],
  ])('%s is not found', async (path) => {
    expect(await get(path)).toEqual({
      status: 404,
      body: {
        message:
          'No such contract or event on chain eth: GET /api/v2.2/contracts lists contracts, chains and events',
      },
    });
  });
});
