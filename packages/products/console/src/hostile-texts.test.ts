import { sql } from '@chainstead/db';
import { recordAudit } from '@chainstead/http';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { openConsoleStage } from './testing/console-stage.ts';
import { HOSTILE } from './testing/hostile-texts.ts';
import { seedStream, seedWebhook } from './testing/seed-streams.ts';

const stage = stageOfFile(openConsoleStage);
const visitor = madeForFile(() => stage.signIn());

/** Has pools against tokens with hostile names. */
const TOKEN = `0x${'70'.repeat(20)}`;
const STREAM = '5f263741-fcaf-447f-890d-6b1b82eea35c';

beforeAll(async () => {
  for (const [index, text] of HOSTILE.entries()) {
    const upTo = (length: number) => sql`${text.slice(0, length)}`;
    const token = sql`decode(${tokenOf(index)}, 'hex')`;
    await stage.keys.create(text);
    await stage.database.transaction((transaction) =>
      recordAudit(
        transaction,
        { door: 'command', id: text, name: text, address: text, requestId: text },
        { action: 'test', target: text, details: { text } },
      ),
    );
    await stage.database.query(
      sql`INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed, checkpoint, head, stop_code, stop_message, stall_reason, upstreams)
       VALUES (${900_000 + index}, ${text}, 0, 1, 10, 10, ${text.slice(0, 40)}, ${text}, ${text}, ${JSON.stringify(
         [
           {
             name: text,
             state: text.slice(0, 20),
             reason: text,
             score: 1,
             head: 1,
             latencyMs: { p50: 1, p95: 2 },
             requests: 1,
             faults: { [text.slice(0, 40)]: 1 },
           },
         ],
       )})`,
    );
    await stage.database.query(
      sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof, proof_reason, upstream) VALUES (${900_000 + index}, ${upTo(2_000)}, 0, 10, 'unproven', ${upTo(2_000)}, ${upTo(2_000)})`,
    );
    await stage.database.query(
      sql`INSERT INTO upstream_mismatches (day, chain, upstream, kind, occurrences, method, description, seen_at) VALUES (current_date, ${upTo(500)}, ${upTo(500)}, ${upTo(500)}, 1, ${text}, ${text}, now())`,
    );
    await stage.database.query(
      sql`INSERT INTO upstream_calls (slot, chain, upstream, role, outcome, calls, busy_ms, latency) VALUES (now(), ${upTo(500)}, ${upTo(500)}, 'api', ${upTo(500)}, 1, 1, '{}')`,
    );
    await stage.database.query(
      sql`INSERT INTO gateway_calls (hour, chain_id, method, calls, errors, cached, latency) VALUES (date_trunc('hour', now()), 1, ${upTo(2_000)}, 1, 0, 0, '{}')`,
    );
    await stage.database.query(
      sql`INSERT INTO range_jobs (id, chain, work, dataset, ranges, requested_by, status, error_code, error_message)
       VALUES (${String(index).padStart(24, '0')}, ${text}, 'verify', ${text}, '[{"from":1,"to":2}]', ${text}, 'failed', ${text.slice(0, 40)}, ${text})`,
    );
    await stage.database.query(
      sql`INSERT INTO api_usage (key_id, day, method, route, requests, refused, failed) VALUES (${upTo(2_000)}, current_date, 'GET', ${upTo(2_000)}, 1, 0, 0)`,
    );
    await stage.database.query(
      sql`INSERT INTO tokens (address, chain_id, name, symbol, decimals, facts_status) VALUES (${token}, 1, ${upTo(1_000)}, ${upTo(1_000)}, 18, 'known')`,
    );
    await stage.database.query(
      sql`INSERT INTO pools (pool_key, chain_id, pool, exchange, token0, token1, error_message)
       VALUES (address_key(${token}), 1, ${token}, ${text}, ${token}, decode(${TOKEN.slice(2)}, 'hex'), ${text})`,
    );
    const given = {
      tag: text,
      description: text,
      webhookUrl: text.slice(0, 2_000),
      status: 'error',
      statusMessage: text,
    };
    const id = await seedStream(stage.database, index === 0 ? { ...given, id: STREAM } : given);
    await seedWebhook(stage.database, id, { block: 1, status: 'failed', errors: [text] });
  }
});

const tokenOf = (index: number): string => String(index + 10).repeat(20);
const chains = HOSTILE.slice(0, -1).map((text) => `/console/chains/${encodeURIComponent(text)}`);

test.each([
  '/console',
  '/console/upstreams',
  '/console/upstreams/wrong-answers',
  '/console/gateway',
  '/console/datasets',
  '/console/jobs',
  '/console/keys',
  '/console/audit',
  '/console/sessions',
  '/console/streams',
  `/console/pools?chain=eth&address=${TOKEN}`,
  `/console/pools?chain=eth&address=0x${tokenOf(0)}`,
  `/console/streams/${STREAM}`,
  ...chains,
])('texts of strangers neither run on %s nor make it large', async (path) => {
  const answer = await stage.get(path, visitor);
  expect(answer.status).toBe(200);
  const page = await answer.text();
  expect(page.length).toBeLessThan(300_000);
  expect(page).not.toMatch(/\p{Cc}(?<![\n])|[\u202a-\u202e\u2066-\u2069]/u);
  // The only markup left is that of the pages themselves.
  const tags = new Set([...page.matchAll(/<([a-z][\w-]*)/gi)].map(([, tag]) => tag?.toLowerCase()));
  expect(tags.has('img')).toBe(false);
  for (const [tag] of page.matchAll(/<[a-z][^>]*>/gi)) {
    const bare = tag.replaceAll(/"[^"]*"/g, '""');
    expect(bare).not.toMatch(/\son\w+=|javascript:/i);
  }
  for (const [, address = ''] of page.matchAll(/(?:href|src|action)="([^"]*)"/g))
    expect(address).toMatch(/^[/#]/);
  expect(page.match(/<script\b/g)).toHaveLength(
    page.match(/<script defer src="\/console\/assets\//g)?.length ?? 0,
  );
});

test('a name of a megabyte in an address is answered', async () => {
  const answer = await stage.get(`/console/chains/${'x'.repeat(10_000)}`, visitor);
  expect([answer.status, (await answer.text()).length]).toEqual([404, expect.any(Number)]);
});
