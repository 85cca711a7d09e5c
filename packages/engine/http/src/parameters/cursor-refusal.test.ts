import { createCursorCodec } from '@chainstead/core';
import { describe, expect, test } from 'vitest';
import { createDemoApi, errorOf, otherListRoute, TOKEN, WALLET } from '../testing/demo-api.ts';

const { app } = createDemoApi();
const rows = `/demo/${WALLET}/rows`;

describe('cursors', () => {
  const first = async (query: string) => {
    const response = await app.request(`${rows}?${query}`);
    expect(response.status).toBe(200);
    const { cursor } = (await response.json()) as { cursor: string };
    return cursor;
  };
  const foreign = 'cursor must be the cursor of an earlier page of this query, unchanged';

  test.each<readonly [string, (cursor: string) => string]>([
    ['cut', (cursor) => cursor.slice(0, -1)],
    ['cut at the front', (cursor) => cursor.slice(1)],
    ['extended', (cursor) => `${cursor}A`],
    ['altered', (cursor) => `${cursor.slice(0, 40)}${cursor[40] === 'A' ? 'B' : 'A'}${cursor.slice(41)}`],
    ['put together from two', (cursor) => `${cursor}${cursor}`],
    ['in other letter case', (cursor) => cursor.toLowerCase()],
    ['of readable JSON', () => Buffer.from('{"r":"demo-rows","l":5}').toString('base64url')],
    ['that is a JWT', () => 'eyJhbGciOiJub25lIn0.eyJsaW1pdCI6MTAwfQ.'],
    ['that is very long', () => 'A'.repeat(9_000)],
  ])('are refused when %s', async (_name, change) => {
    const changed = change(await first('limit=5'));
    const response = await app.request(`${rows}?cursor=${encodeURIComponent(changed)}`);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).message).toMatch(/^cursor must be (the|a) cursor/);
  });

  // Invariant: PAGE-SIGNED-CURSOR
  test('are refused when another server signed them', async () => {
    const other = createDemoApi({ cursors: createCursorCodec(Buffer.alloc(32, 8)) });
    const response = await other.app.request(`${rows}?cursor=${await first('limit=5')}`);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).message).toContain(foreign);
  });

  test('are refused on another route', async () => {
    const both = createDemoApi({ routes: [otherListRoute] });
    const response = await both.app.request(`/demo/other?cursor=${await first('limit=5')}`);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).message).toContain(foreign);
  });

  test.each([
    [
      'chain',
      'chain=base',
      'chain=polygon',
      'chain must be "base" as in the cursor, or left out, "polygon" was given',
    ],
    ['chain', '', 'chain=base', 'chain must be "eth" as in the cursor, or left out, "base" was given'],
    ['order', 'order=ASC', 'order=DESC', 'order must be "ASC" as in the cursor, or left out, "DESC" was given'],
    ['limit', '', 'limit=6', 'limit must be 5 as in the cursor, or left out, 6 was given'],
    [
      'from_block',
      'from_block=5',
      'from_block=6',
      'from_block must be 5 as in the cursor, or left out, 6 was given',
    ],
    ['to_block', '', 'to_block=6', 'to_block must be null as in the cursor, or left out, 6 was given'],
    [
      'from_date',
      'from_block=5',
      'from_date=5',
      'from_date must be null as in the cursor, or left out, 5000 was given',
    ],
    [
      'contract_addresses',
      '',
      `contract_addresses=${TOKEN}`,
      `contract_addresses must be [] as in the cursor, or left out, ["${TOKEN}"] was given`,
    ],
  ])('are refused with another %s', async (parameter, before, after, message) => {
    const cursor = await first(`limit=5&${before}`);
    const response = await app.request(`${rows}?cursor=${cursor}&${after}`);
    expect(response.status).toBe(400);
    const body = await errorOf(response);
    expect(body.message).toBe(message);
    expect(body.details?.errors?.[0]?.parameter).toBe(parameter);
  });

  test('are refused for another address', async () => {
    const response = await app.request(`/demo/${TOKEN}/rows?cursor=${await first('limit=5')}`);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).message).toBe(
      `address must be "${WALLET}" as in the cursor, or left out, "${TOKEN}" was given`,
    );
  });
});
