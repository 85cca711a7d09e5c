/** Cursors that were cut, changed, forged or meant for another query: each is refused, and the untouched one still works. */
import { createCursorCodec } from '@chainstead/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathOf, type ServedRows, serveRows } from './served-rows.ts';

const CURSOR = 'cursor must be the cursor of an earlier page of this query, unchanged';
const OTHER_TOKEN = `0x${'ab'.repeat(20)}`;

let rows: ServedRows;
/** Of the busiest wallet's first page. */
let cursor: string;

beforeAll(async () => {
  rows = await serveRows();
  cursor = await rows.cursorOf('chain=scripted&limit=3', rows.wallet);
});
afterAll(() => rows?.close());

describe('a cursor', () => {
  const tampered: readonly (readonly [name: string, change: (cursor: string) => string])[] = [
    ['cut at its end', (given) => given.slice(0, -4)],
    ['cut at its beginning', (given) => given.slice(4)],
    ['with a letter changed', (given) => `${given.slice(0, 40)}${given[40] === 'A' ? 'B' : 'A'}${given.slice(41)}`],
    ['with something behind it', (given) => `${given}AAAA`],
    ['in upper case', (given) => given.toUpperCase()],
    ['twice in itself', (given) => given + given],
    ['with another page size inside', (given) => rewrite(given, (json) => json.replace('"l":3', '"l":9'))],
    ['for another wallet inside', (given) => rewrite(given, (json) => json.replace(rows.wallet, rows.otherWallet))],
    ['of another server', () => createCursorCodec(Buffer.alloc(32, 7)).encode(forgedClaims())],
  ];
  test.each(tampered)('%s is refused', async (_name, change) => {
    const changed = change(cursor);
    expect(changed).not.toBe(cursor);
    const { status, body } = await rows.send(`${pathOf(rows.wallet)}?chain=scripted&cursor=${changed}`);
    expect(status).toBe(400);
    expect(body.message?.startsWith(CURSOR), body.message).toBe(true);
  });

  const swapped: readonly (readonly [name: string, query: () => string, message: RegExp])[] = [
    [
      'for another chain',
      () => 'chain=eth',
      /^chain must be "scripted" as in the cursor, or left out, "eth" was given$/,
    ],
    ['for another order', () => 'order=ASC', /^order must be "DESC" as in the cursor, or left out, "ASC" was given$/],
    [
      'with a lower bound that it has not',
      () => 'from_block=5',
      /^from_block must be null as in the cursor, or left out, 5 was given$/,
    ],
    [
      'with an upper bound that it has not',
      () => 'to_block=50',
      /^to_block must be null as in the cursor, or left out, 50 was given$/,
    ],
    [
      'with a date that it has not',
      () => 'from_date=2020-01-01',
      /^from_date must be null as in the cursor, or left out/,
    ],
    [
      'with a token that it has not',
      () => `contract_addresses=${OTHER_TOKEN}`,
      /^contract_addresses must be null as in the cursor/,
    ],
    ['beside another cursor', () => `cursor=${cursor}`, /^cursor may be given once, it was given 2 times$/],
  ];
  test.each(swapped)('%s is refused', async (_name, query, message) => {
    const { status, body } = await rows.send(`${pathOf(rows.wallet)}?cursor=${cursor}&${query()}`);
    expect(status).toBe(400);
    expect(body.message).toMatch(message);
  });

  test('of one wallet is refused for another, in both directions', async () => {
    const { status, body } = await rows.send(`${pathOf(rows.otherWallet)}?cursor=${cursor}`);
    expect([status, body.message]).toEqual([
      400,
      `address must be "${rows.wallet}" as in the cursor, or left out, "${rows.otherWallet}" was given`,
    ]);
    const other = await rows.cursorOf('chain=scripted&limit=1', rows.otherWallet);
    expect((await rows.send(`${pathOf(rows.wallet)}?cursor=${other}`)).status).toBe(400);
  });

  test('that is untouched still works after all that, and goes on where its page ended', async () => {
    const first = await rows.send(`${pathOf(rows.wallet)}?chain=scripted&limit=3`);
    const second = await rows.send(`${pathOf(rows.wallet)}?cursor=${cursor}`);
    expect([second.status, second.body.page_size]).toEqual([200, 3]);
    const numbers = [...(first.body.result ?? []), ...(second.body.result ?? [])].map((row) =>
      Number(row.block_number),
    );
    expect(numbers).toHaveLength(6);
    expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
  });
});

/** The cursor with its readable part changed and its old signature kept. */
function rewrite(text: string, change: (json: string) => string): string {
  const bytes = Buffer.from(text, 'base64url');
  const signature = bytes.subarray(0, 17);
  return Buffer.concat([signature, Buffer.from(change(bytes.subarray(17).toString()))]).toString('base64url');
}

/** What a cursor of this route may say, signed with a secret that is not the server's. */
function forgedClaims() {
  const bytes = Buffer.from(cursor, 'base64url');
  return JSON.parse(bytes.subarray(17).toString());
}
