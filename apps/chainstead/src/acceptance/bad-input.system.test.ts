/** Parameters that clients get wrong, against the real route over indexed rows: status and message of every answer. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathOf, SERVED_BLOCKS, type ServedRows, serveRows } from './served-rows.ts';

const INVALID_ADDRESS = '[C0005] Invalid address provided';
const BLOCK = 'must be a block number (a whole number from 0 to 9007199254740991)';
const DATE =
  'must be a date (2024-01-31, 2024-01-31T12:00:00Z, 2024/01/31 12:00, 20240131, Jan 31, 2024, RFC 2822, Unix seconds or milliseconds)';
const LIMIT = 'must be a whole number from 1 (above 100 means 100)';
const CHAIN = 'must be a known chain by name (eth, base, bsc testnet, …), hexadecimal or decimal id';
const CURSOR = 'cursor must be the cursor of an earlier page of this query, unchanged';
const OTHER_TOKEN = `0x${'ab'.repeat(20)}`;

let rows: ServedRows;

beforeAll(async () => {
  rows = await serveRows();
});
afterAll(() => rows?.close());

/** What was given, as a message repeats it. */
const given = (value: string): string => `, ${JSON.stringify(value)} was given`;

describe('something that is not an address', () => {
  const cases: readonly (readonly [sent: string, read: string])[] = [
    ['0x', '0x'],
    ['0x0', '0x0'],
    ['vitalik.eth', 'vitalik.eth'],
    ['null', 'null'],
    ['undefined', 'undefined'],
    [`0x${'1'.repeat(39)}`, `0x${'1'.repeat(39)}`],
    [`0x${'1'.repeat(41)}`, `0x${'1'.repeat(41)}`],
    [`0x${'1'.repeat(64)}`, `0x${'1'.repeat(64)}`],
    ['1'.repeat(40), '1'.repeat(40)],
    [`0x${'g'.repeat(40)}`, `0x${'g'.repeat(40)}`],
    [`0X${'1'.repeat(38)}..`, `0X${'1'.repeat(38)}..`],
    [`0x${'1'.repeat(40)}%20`, `0x${'1'.repeat(40)} `],
    [`0x${'1'.repeat(39)}%D9%A1`, `0x${'1'.repeat(39)}١`],
    ["0x'%20OR%20'1'='1", "0x' OR '1'='1"],
    ['%3Cscript%3Ealert(1)%3C%2Fscript%3E', '<script>alert(1)</script>'],
    ['%F0%9F%90%8E', '🐎'],
  ];
  test.each(cases)('%s', async (sent, read) => {
    const { status, body } = await rows.send(`${pathOf(sent)}?chain=scripted`);
    expect([status, body.message, body.details?.errors?.[0]?.given]).toEqual([400, INVALID_ADDRESS, read]);
  });
});

describe('a parameter that can not be used', () => {
  const cases: readonly (readonly [query: string, message: string | RegExp])[] = [
    ['limit=0', `limit ${LIMIT}${given('0')}`],
    ['limit=-1', `limit ${LIMIT}${given('-1')}`],
    ['limit=1e9', `limit ${LIMIT}${given('1e9')}`],
    ['limit=ten', `limit ${LIMIT}${given('ten')}`],
    ['limit=', `limit ${LIMIT}${given('')}`],
    ['limit=5.5', `limit ${LIMIT}${given('5.5')}`],
    ['limit=0x10', `limit ${LIMIT}${given('0x10')}`],
    ['limit=Infinity', `limit ${LIMIT}${given('Infinity')}`],
    ['limit=5%3B%20DROP%20TABLE%20erc20_transfers', `limit ${LIMIT}${given('5; DROP TABLE erc20_transfers')}`],
    ['limit=5&limit=6', 'limit may be given once, it was given 2 times'],
    ['chain=nowhere', `chain ${CHAIN}${given('nowhere')}`],
    ['chain=', `chain ${CHAIN}${given('')}`],
    ['chain=0x', `chain ${CHAIN}${given('0x')}`],
    ['chain=0xfffffffffff', `chain ${CHAIN}${given('0xfffffffffff')}`],
    ['chain=-1', `chain ${CHAIN}${given('-1')}`],
    ['chain=999999999999999999999', `chain ${CHAIN}${given('999999999999999999999')}`],
    ['chain=__proto__', `chain ${CHAIN}${given('__proto__')}`],
    ["chain=eth'%20UNION%20SELECT%201--", `chain ${CHAIN}${given("eth' UNION SELECT 1--")}`],
    ['chain=eth&chain=scripted', 'chain may be given once, it was given 2 times'],
    ['from_block=-1', `from_block ${BLOCK}${given('-1')}`],
    ['from_block=latest', `from_block ${BLOCK}${given('latest')}`],
    ['from_block=0x10', `from_block ${BLOCK}${given('0x10')}`],
    ['from_block=1.5', `from_block ${BLOCK}${given('1.5')}`],
    ['to_block=9007199254740993', `to_block ${BLOCK}${given('9007199254740993')}`],
    ['to_block=%201', `to_block ${BLOCK}${given(' 1')}`],
    ['from_block=1&from_block=1', 'from_block may be given once, it was given 2 times'],
    ['from_block=9&to_block=8', `from_block must be at most to_block (8)${given('9')}`],
    ['from_date=tomorrow', `from_date ${DATE}${given('tomorrow')}`],
    ['from_date=2024-02-30', `from_date ${DATE}${given('2024-02-30')}`],
    ['from_date=2024-01-01T25:00:00Z', `from_date ${DATE}${given('2024-01-01T25:00:00Z')}`],
    ['to_date=-1', `to_date ${DATE}${given('-1')}`],
    ['to_date=99999999999999999', `to_date ${DATE}${given('99999999999999999')}`],
    ['to_date=now()', `to_date ${DATE}${given('now()')}`],
    [
      'from_date=1700000100&to_date=1700000000',
      `from_date must be at most to_date (2023-11-14T22:13:20.000Z)${given('2023-11-14T22:15:00.000Z')}`,
    ],
    ['order=sideways', `order must be ASC or DESC${given('sideways')}`],
    ['order=ASC,DESC', `order must be ASC or DESC${given('ASC,DESC')}`],
    ['order=ASC&order=ASC', 'order may be given once, it was given 2 times'],
    ['order=block_number;--', `order must be ASC or DESC${given('block_number;--')}`],
    ['disable_total=yes', `disable_total must be true or false${given('yes')}`],
    ['contract_addresses=usdt', INVALID_ADDRESS],
    ['contract_addresses[]=', INVALID_ADDRESS],
    [`contract_addresses[0]=${OTHER_TOKEN}&contract_addresses[1]=0x1`, INVALID_ADDRESS],
    [`contract_addresses=${OTHER_TOKEN},,${OTHER_TOKEN}`, INVALID_ADDRESS],
    ['contract_addresses=0x%27)%20OR%20(1=1', INVALID_ADDRESS],
    [
      `contract_addresses=${Array.from({ length: 101 }, (_, n) => `0x${n.toString(16).padStart(40, '0')}`).join()}`,
      /^contract_addresses: at most 100 items/,
    ],
    [
      'chain=nope&limit=0&order=up',
      `chain ${CHAIN}${given('nope')}, limit ${LIMIT}${given('0')}, order must be ASC or DESC${given('up')}`,
    ],
    ['cursor=abc', `${CURSOR}${given('abc')}`],
    ['cursor=null', `${CURSOR}${given('null')}`],
    ['cursor=%7B%22page%22%3A1%7D', `${CURSOR}${given('{"page":1}')}`],
    [`cursor=${'A'.repeat(8_193)}`, /^cursor must be a cursor that this server gave, "A{120}…" was given$/],
    ['chain=%zz', 'URL has a malformed percent-encoding'],
    ['chain=%C3%28', 'URL has a malformed percent-encoding'],
    ['chain=eth%00', 'URL must not contain a NUL character (%00)'],
  ];
  test.each(cases)('%s', async (query, message) => {
    const { status, body } = await rows.send(`${pathOf(rows.wallet)}?${query}`);
    expect(status).toBe(400);
    if (typeof message === 'string') expect(body.message).toBe(message);
    else expect(body.message).toMatch(message);
  });
});

describe('what is odd but allowed', () => {
  const cases: readonly (readonly [query: string, expected: (all: number) => number])[] = [
    ['limit=1000000000', (all) => Math.min(100, all)],
    [`limit=${'9'.repeat(40)}`, (all) => Math.min(100, all)],
    ['limit=1', () => 1],
    ['utm_source=x&foo[bar]=1&__proto__[x]=1&constructor=1', (all) => Math.min(100, all)],
    ['cursor=', (all) => Math.min(100, all)],
    ['order=asc', (all) => Math.min(100, all)],
    [`from_block=${SERVED_BLOCKS + 1}`, () => 0],
    ['to_block=9007199254740991', (all) => Math.min(100, all)],
    // The block wins over the date on its side.
    ['from_block=0&from_date=2999-01-01', (all) => Math.min(100, all)],
    [`contract_addresses=${OTHER_TOKEN}`, () => 0],
  ];
  test.each(cases)('%s', async (query, expected) => {
    const { status, body } = await rows.send(`${pathOf(rows.wallet)}?chain=scripted&${query}`);
    const all = rows.chain
      .expectedTransfers()
      .filter(({ from, to }) => from === rows.wallet || to === rows.wallet).length;
    expect(all).toBeGreaterThan(6);
    expect([status, body.result?.length]).toEqual([200, expected(all)]);
  });

  test('an address in any letter case', async () => {
    const loud = await rows.send(`${pathOf(`0X${rows.wallet.slice(2).toUpperCase()}`)}?chain=SCRIPTED`);
    const quiet = await rows.send(`${pathOf(rows.wallet)}?chain=scripted`);
    expect(loud.status).toBe(200);
    expect(loud.body.result).toEqual(quiet.body.result);
  });
});

test('nothing of all that changed a row or broke the server', async () => {
  expect(await rows.countTransfers()).toBe(rows.chain.expectedTransfers().length);
  expect((await rows.send(`${pathOf(rows.wallet)}?chain=scripted`)).status).toBe(200);
});
