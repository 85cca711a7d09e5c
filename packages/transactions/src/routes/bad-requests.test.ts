/** Transactions, blocks and dates asked for wrongly, over a real socket: status and whole body of every answer. */
import { hashOf } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTransactionStage, type TransactionStage } from '../testing/transaction-stage.ts';

let opened: TransactionStage;
beforeAll(async () => {
  opened = await openTransactionStage();
  await opened.stage.devnet.mine(2);
  await opened.stage.commit();
});
afterAll(() => opened.close());

const KNOWN = hashOf(1, 1);
const HASH = 'a transaction hash (0x and 64 hexadecimal digits)';
const PLACE =
  'a block number (a whole number from 0 to 9007199254740991, decimal or hexadecimal with 0x), a block hash (0x and 64 hexadecimal digits), latest, safe, finalized or earliest';
const CHAIN = 'a known chain by name (eth, base, bsc testnet, …), hexadecimal or decimal id';
const DATE =
  'a date (2024-01-31, 2024-01-31T12:00:00Z, 2024/01/31 12:00, 20240131, Jan 31, 2024, RFC 2822, Unix seconds or milliseconds)';
const CLOSEST = 'nearest, before or after';
const SHOWN_MAX = 120;

interface Refusal {
  readonly message: string;
  readonly details?: object;
}

function mustBe(parameter: string, text: string, allowed: string): Refusal {
  const given = text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
  return {
    message: `${parameter} must be ${allowed}, ${JSON.stringify(given)} was given`,
    details: { errors: [{ parameter, given, allowed }] },
  };
}

function onlyOnce(parameter: string, given: readonly string[]): Refusal {
  return {
    message: `${parameter} may be given once, it was given ${given.length} times`,
    details: { errors: [{ parameter, given }] },
  };
}

const NO_HASHES = [
  '0x',
  '0x12',
  KNOWN.slice(0, -1),
  `${KNOWN}0`,
  KNOWN.slice(2),
  `0x${'g'.repeat(64)}`,
  'latest',
  '1',
  "0x' OR 1=1--",
  'a'.repeat(200),
];
const NO_PLACES = [
  '-1',
  '1.5',
  '1e9',
  'pending',
  'newest',
  '0x',
  '0xg',
  '9007199254740992',
  '99999999999999999999',
  KNOWN.slice(0, -1),
  `${KNOWN}0`,
  "1' OR '1'='1",
];

const REFUSALS: readonly (readonly [path: string, refusal: Refusal])[] = [
  ...NO_HASHES.map(
    (given) => [`transaction/${encodeURIComponent(given)}`, mustBe('transaction_hash', given, HASH)] as const,
  ),
  ...NO_HASHES.slice(0, 4).map(
    (given) => [`transaction/${given}/verbose`, mustBe('transaction_hash', given, HASH)] as const,
  ),
  ...NO_HASHES.slice(0, 4).map(
    (given) => [`transaction/${given}/internal-transactions`, mustBe('transaction_hash', given, HASH)] as const,
  ),
  ...NO_PLACES.map(
    (given) => [`block/${encodeURIComponent(given)}`, mustBe('block_number_or_hash', given, PLACE)] as const,
  ),
  ...NO_PLACES.slice(0, 4).map(
    (given) => [`block/${given}/stats`, mustBe('block_number_or_hash', given, PLACE)] as const,
  ),
  ...[
    `transaction/${KNOWN}`,
    `transaction/${KNOWN}/verbose`,
    `transaction/${KNOWN}/internal-transactions`,
    'block/1',
    'block/1/stats',
    'dateToBlock',
  ].flatMap((path) => [
    [`${path}?chain=nowhere`, mustBe('chain', 'nowhere', CHAIN)] as const,
    [`${path}?chain=`, mustBe('chain', '', CHAIN)] as const,
    [`${path}?chain=eth&chain=base`, onlyOnce('chain', ['eth', 'base'])] as const,
  ]),
  ...[`transaction/${KNOWN}`, `transaction/${KNOWN}/verbose`, 'block/1'].flatMap((path) => [
    [`${path}?include=logs`, mustBe('include', 'logs', 'internal_transactions')] as const,
    [`${path}?include=internal`, mustBe('include', 'internal', 'internal_transactions')] as const,
  ]),
  ...['yesterday', '2024-13-01', '2023-02-30', '', '-5', '1.5', '99999999999999999'].map(
    (given) => [`dateToBlock?date=${given}`, mustBe('date', given, DATE)] as const,
  ),
  ['dateToBlock?date=1&date=2', onlyOnce('date', ['1', '2'])],
  ['dateToBlock?date=2024-01-01&closest=exact', mustBe('closest', 'exact', CLOSEST)],
  ['dateToBlock?date=2024-01-01&closest=', mustBe('closest', '', CLOSEST)],
];

describe('what a request can’t mean', () => {
  test.each(REFUSALS)('%s is refused', async (path, refusal) => {
    const { status, body } = await opened.ask(path);
    expect({ status, body }).toEqual({ status: 400, body: refusal });
  });

  test('is refused in at least forty ways', () => {
    expect(new Set(REFUSALS.map(([path]) => path)).size).toBe(REFUSALS.length);
    expect(REFUSALS.length).toBeGreaterThanOrEqual(60);
  });

  test('asks no node', () => {
    const asked = opened.stage.node.received.filter(({ method }) => method === 'eth_getTransactionByHash');
    expect(asked).toEqual([]);
  });
});

test('two problems are told together', async () => {
  const { status, body } = await opened.ask('dateToBlock?date=never&closest=exact&chain=nowhere');
  expect(status).toBe(400);
  expect(Object(body).details.errors).toHaveLength(3);
});
