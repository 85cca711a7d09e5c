import { sql } from '@chainstead/db';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { openConsoleStage } from '../../testing/console-stage.ts';

const stage = stageOfFile(openConsoleStage);
const visitor = madeForFile(() => stage.signIn());
beforeAll(async () => {
  await stage.database.query(
    sql`INSERT INTO backfill_requests (chain_id, kind, subject, status, calls_estimated, calls_made, error_code, error_message)
     SELECT 1, (ARRAY['wallet', 'contract', 'sender', 'receiver', 'emitter'])[1 + number / 5 % 5], decode(lpad(to_hex(number), 40, '0'), 'hex'),
            (ARRAY['pending', 'running', 'done', 'refused', 'failed'])[1 + number % 5], 1000, 10,
            CASE WHEN number % 5 > 2 THEN 'HISTORY_REFUSED' END, CASE WHEN number % 5 > 2 THEN 'It would take <b>9,000</b> calls' END
       FROM generate_series(1, 250) AS number`,
  );
  await stage.database.query(
    sql`INSERT INTO nft_collections (token_address, chain_id, status, name, error_code, error_message) VALUES
       ('\\x01'::bytea || decode(repeat('00', 19), 'hex'), 1, 'not-nft', NULL, NULL, NULL),
       ('\\x02'::bytea || decode(repeat('00', 19), 'hex'), 10, 'failed', '<script>alert(1)</script>', 'DOCUMENT', E'\\u202Eno JSON'),
       ('\\x03'::bytea || decode(repeat('00', 19), 'hex'), 1, 'known', repeat('x', 100000), NULL, NULL)`,
  );
});

async function textOf(path: string): Promise<string> {
  const answer = await stage.get(path, visitor);
  expect(answer.status).toBe(200);
  return answer.text();
}

test('shows histories of wallets and contracts with their state, page by page', async () => {
  const found: string[] = [];
  for (let path: string | undefined = '/console/on-demand'; path !== undefined; ) {
    const page = await textOf(path);
    found.push(...[...page.matchAll(/<code>(0x[0-9a-f]{40})<\/code>/g)].map(([, address = '']) => address));
    path = /href="([^"]*)" rel="next"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
  }
  expect(found).toHaveLength(250);
  expect(new Set(found).size).toBe(250);
});

test('shows those of one state and chain, and why they are refused', async () => {
  const page = await textOf('/console/on-demand?chain=eth&state=refused');
  expect(page.match(/<strong>refused<\/strong>/g)).toHaveLength(50);
  expect(page).toContain('It would take &lt;b&gt;9,000&lt;/b&gt; calls');
  expect(page).not.toContain('<strong>complete');
  expect(await textOf('/console/on-demand?chain=base')).toContain('No entries found.');
});

test('shows collections, also of hostile names', async () => {
  const page = await textOf('/console/on-demand/collections');
  expect(page).toContain('The contract is no NFT collection');
  expect(page).toContain('&lt;script&gt;');
  expect(page).not.toContain('\u202e');
  expect(page.length).toBeLessThan(20_000);
  const failed = await textOf('/console/on-demand/collections?state=failed&chain=optimism');
  expect(failed.match(/<code>0x/g)).toHaveLength(1);
});

test.each([
  [
    '/console/on-demand?chain=base',
    sql`UPDATE backfill_requests SET chain_id = 8453 WHERE status = 'running'`,
    'reading',
  ],
  [
    '/console/on-demand/collections?chain=base',
    sql`UPDATE nft_collections SET chain_id = 8453 WHERE status = 'known'`,
    'complete',
  ],
])('%s moves by itself, as it was chosen', async (path, change, state) => {
  const [, live = ''] = /hx-sse:connect="([^"]+)"/.exec(await textOf(path)) ?? [];
  expect(live).toBe(path.replace('/console/', '/console/events/'));
  const answer = await stage.app.request(live, {
    headers: { cookie: visitor.cookie, accept: 'text/event-stream' },
  });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  const message = async () => (await reader?.read())?.value ?? '';
  expect(await message()).toContain('No entries found.');
  await stage.database.query(change);
  let text = '';
  while (!text.includes(`<strong>${state}`)) text = await message();
  expect(text).not.toContain('No entries found.');
  await reader?.cancel();
});

test.each([
  '/console/on-demand?state=strange',
  '/console/on-demand?chain=strange',
  '/console/on-demand?after=1-wallet-0x0',
  '/console/on-demand/collections?after=strange',
])('%s is answered 400, as a page', async (path) => {
  const answer = await stage.get(path, visitor);
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('role="alert"');
});
