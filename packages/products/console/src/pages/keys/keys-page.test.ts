import { sql } from '@chainstead/db';
import { listAudit } from '@chainstead/http';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, test } from 'vitest';
import { openConsoleStage } from '../../testing/console-stage.ts';

const stage = stageOfFile(openConsoleStage);
const visitor = madeForFile(() => stage.signIn());

async function stored(name: string) {
  return (await stage.keys.list()).find((key) => key.name === name);
}

describe('the page of keys', () => {
  test('makes a key and shows it once', async () => {
    const answer = await stage.post(
      '/console/keys/create',
      { name: '<b>shop</b>', scope: 'data', rate: '5' },
      visitor,
    );
    const page = await answer.text();
    const [, key = ''] = /<code id="key">([0-9a-f]{32})<\/code>/.exec(page) ?? [];
    expect(page).toContain('&lt;b&gt;shop&lt;/b&gt;');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await stage.keys.verify(key)).toMatchObject({
      name: '<b>shop</b>',
      rateLimit: 5,
      scopes: new Set(['data']),
    });
    const later = await (await stage.get('/console/keys', visitor)).text();
    expect(later).toContain(key.slice(0, 8));
    expect(later).not.toContain(key);
    const records = await listAudit(stage.database, null, 2);
    expect(records).toMatchObject([
      { action: 'key.rate', id: visitor.prefix },
      {
        action: 'key.create',
        id: visitor.prefix,
        door: 'console',
        address: 'unknown',
        requestId: expect.any(String),
      },
    ]);
    expect(JSON.stringify(records)).not.toContain(key);
  });

  test('offers a new key all scopes but admin', async () => {
    const page = await (await stage.get('/console/keys', visitor)).text();
    const checked = [...page.matchAll(/id="new-(\w+)" name="scope" value="\w+" checked/g)].map(
      ([, scope]) => scope,
    );
    expect(checked).toEqual(['data', 'rpc', 'streams']);
  });

  test('narrows and widens a key, changes its rate, and writes down what changed alone', async () => {
    await stage.keys.create('page', new Set(['data', 'rpc']));
    const { prefix = '' } = (await stored('page')) ?? {};
    const form = new URLSearchParams({ token: visitor.token, key: prefix, rate: '10' });
    for (const scope of ['data', 'streams']) form.append('scope', scope);
    await stage.app.request('/console/keys/change', {
      method: 'POST',
      body: form,
      headers: { cookie: visitor.cookie, origin: 'http://localhost' },
    });
    expect(await stored('page')).toMatchObject({ scopes: ['data', 'streams'], rateLimit: 10 });
    const [before] = await listAudit(stage.database, null, 1);
    await stage.app.request('/console/keys/change', {
      method: 'POST',
      body: form,
      headers: { cookie: visitor.cookie, origin: 'http://localhost' },
    });
    expect(await listAudit(stage.database, null, 1)).toEqual([before]);
  });

  test('revokes a key', async () => {
    const { key, prefix } = await stage.keys.create('old');
    const answer = await stage.post('/console/keys/revoke', { key: prefix }, visitor);
    expect(answer.headers.get('location')).toBe('/console/keys');
    expect(await stage.keys.verify(key)).toBeNull();
  });

  test.each([
    [{ name: '', scope: 'data', rate: '' }, 'name'],
    [{ name: 'x'.repeat(81), scope: 'data', rate: '' }, 'name'],
    [{ name: 'x', rate: '' }, 'scope'],
    [{ name: 'x', scope: 'everything', rate: '' }, 'scope'],
    [{ name: 'x', scope: 'data', rate: '0' }, 'rate'],
    [{ name: 'x', scope: 'data', rate: '-1' }, 'rate'],
  ])('refuses %j by naming %s', async (fields, parameter) => {
    const known = (await stage.keys.list()).length;
    const answer = await stage.post('/console/keys/create', fields, visitor);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(parameter)]);
    expect(await stage.keys.list()).toHaveLength(known);
  });

  test('refuses a name that Postgres can’t hold', async () => {
    const known = (await stage.keys.list()).length;
    const answer = await stage.post('/console/keys/create', { name: 'a\0b', scope: 'data', rate: '' }, visitor);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('NUL')]);
    expect(await stage.keys.list()).toHaveLength(known);
  });

  test('shows what keys asked for by key, route, method and day, as a table, a plot and CSV', async () => {
    await stage.database.query(
      sql`INSERT INTO api_usage (key_id, day, method, route, requests, refused, failed) VALUES
         ('0123abcd', (now() AT TIME ZONE 'UTC')::date, 'GET', '/api/v2.2/:address/erc20', 7, 1, 1),
         ('0123abcd', (now() AT TIME ZONE 'UTC')::date - 2, 'GET', '/api/v2.2/:address/erc20', 3, 0, 0)`,
    );
    await stage.database.query(
      sql`INSERT INTO gateway_usage (key_id, day, chain_id, method, calls, errors, cached, weight, bytes)
       VALUES ('=cmd|x', (now() AT TIME ZONE 'UTC')::date, 1, 'eth_call', 4, 0, 0, 4, 4)`,
    );
    const page = await (await stage.get('/console/keys?key=0123abcd', visitor)).text();
    expect(page).toContain('<data class="n" value="10">');
    expect(page).not.toContain('eth_call');
    const plot = await (await stage.get('/console/keys/usage.json?days=3', visitor)).json();
    expect(plot).toMatchObject({
      labels: ['0123abcd', '=cmd|x'],
      values: [
        [3, 0, 7],
        [0, 0, 4],
      ],
    });
    const csv = await stage.get('/console/keys/usage.csv', visitor);
    expect(csv.headers.get('content-disposition')).toContain('attachment');
    const lines = (await csv.text()).trim().split('\r\n');
    expect(lines[0]).toBe('day,key,kind,route,method,requests,errors');
    expect(lines[1]).toMatch(/^\d{4}-\d\d-\d\d,0123abcd,api,\/api\/v2\.2\/:address\/erc20,GET,7,2$/);
    // A formula in a spreadsheet.
    expect(lines[2]).toContain(",'=cmd|x,rpc,eth,eth_call,4,0");
  });
});
