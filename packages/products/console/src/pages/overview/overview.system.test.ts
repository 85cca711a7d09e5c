import { setTimeout as sleep } from 'node:timers/promises';
import { sql, statementOf } from '@chainstead/db';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type ConsoleStage,
  openConsoleStage,
  type StageOptions,
  type Visitor,
} from '../../testing/console-stage.ts';
import { seedChains } from '../../testing/seed-chains.ts';

const stages: ConsoleStage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close();
});

async function open(options: StageOptions = {}): Promise<ConsoleStage> {
  const stage = await openConsoleStage(options);
  stages.push(stage);
  return stage;
}

async function textOf(stage: ConsoleStage, visitor: Visitor, path = '/console'): Promise<string> {
  const answer = await stage.get(path, visitor);
  expect(answer.status).toBe(200);
  return answer.text();
}

describe('the overview', () => {
  test('shows of each chain head, checkpoint, lag, pace, and how much of its history is there', async () => {
    const stage = await open();
    const visitor = await stage.signIn();
    await seedChains(stage.database, [7]);
    await stage.database.query(sql`UPDATE sync_ranges SET dataset = 'x'`);
    const page = await textOf(stage, visitor);
    expect(page).toContain('chain-7');
    for (const number of ['2000', '1990', '10']) expect(page).toContain(`<data class="n" value="${number}">`);
    // Six blocks a minute.
    expect(page).toContain('0.10 blocks/s, 1.00 rows/s');
    expect(page).toContain('polyline');
    expect(page).toContain('blocks 0 to ');
    // The configured chain without rows in the database.
    expect(page).toContain('Never indexed');
  });

  test('says how much of a history is there, and how long the rest takes at the pace of the moment', async () => {
    const stage = await open();
    const visitor = await stage.signIn();
    await seedChains(stage.database, [1]);
    const page = await textOf(stage, visitor);
    expect(page).toContain(
      '89.9 % (<data class="n" value="200">200</data> blocks missing, 0.90/s, about 4 min left)',
    );
    expect(page).toMatch(/<title>blocks 99\d to 1,2\d\d: missing</);
    expect(page).toContain('href="/console/chains/eth?from=');
    const chain = await textOf(stage, visitor, '/console/chains/eth?from=1000&to=1100');
    expect(chain).toContain('<td>missing</td>');
  });

  test('has plots of blocks and rows a second, and none without figures', async () => {
    const stage = await open();
    const visitor = await stage.signIn();
    const empty = await textOf(stage, visitor);
    expect([empty.includes('data-plot="'), empty.includes('API requests')]).toEqual([false, false]);
    const other = await open();
    const of = await other.signIn();
    await seedChains(other.database, [7, 8]);
    const page = await textOf(other, of);
    for (const figure of ['blocks', 'rows'])
      expect(page).toContain(`data-plot="/console/overview/speed.json?of=${figure}"`);
    expect(page).not.toContain('of=versions');
    const plot = await (await other.get('/console/overview/speed.json?of=blocks', of)).json();
    // Sixty blocks a minute.
    expect(plot).toMatchObject({
      labels: ['chain-7', 'chain-8'],
      unit: 'blocks/s',
      values: [{ 0: 1 }, { 59: 1 }],
    });
    expect((await other.get('/console/overview/speed.json?of=<b>', of)).status).toBe(400);
  });

  test('counts API requests by route and status', async () => {
    const stage = await open();
    const visitor = await stage.signIn();
    await stage.database.query(
      sql`INSERT INTO api_usage (key_id, day, method, route, requests, refused, failed, unserved) VALUES
       ('one', (now() AT TIME ZONE 'UTC')::date, 'GET', '/a/:b', 900, 30, 2, 4),
       ('two', (now() AT TIME ZONE 'UTC')::date, 'GET', '/a/:b', 100, 0, 0, 0),
       ('two', (now() AT TIME ZONE 'UTC')::date, 'POST', '/<b>', 7, 0, 7, 0)`,
    );
    const page = await textOf(stage, visitor);
    const section = page.slice(page.indexOf('<h2 id="requests">API requests</h2>'));
    const numbers = [...section.matchAll(/<data class="n" value="(\d+)">/g)].map(([, value]) => Number(value));
    expect(numbers).toEqual([...[1_007, 964, 30, 9, 4], ...[1_000, 964, 30, 2, 4], ...[7, 0, 0, 7, 0]]);
    expect(section).toContain('POST <wbr>/&lt;b&gt;');
  });

  test('says in words why a chain stands still, and what to do', async () => {
    const stage = await open();
    const visitor = await stage.signIn();
    await seedChains(stage.database, [7, 8, 9]);
    await stage.database.query(
      sql`UPDATE sync_chains SET stop_code = 'REORG_TOO_DEEP', stop_message = '<img src=x onerror=alert(1)> forked' WHERE chain_id = 7`,
    );
    await stage.database.query(sql`UPDATE sync_chains SET stall_reason = 'node-a: timeout' WHERE chain_id = 8`);
    const page = await textOf(stage, visitor);
    expect(page).toContain('Stopped (REORG_TOO_DEEP)');
    expect(page).toContain('&lt;img src=x onerror=alert(1)&gt; forked');
    expect(page).toContain('Find out which branch is right');
    expect(page).toContain('Blocked.');
    expect(page).toContain('node-a: timeout');
    // Chains that need attention come first.
    expect(page.indexOf('chain-8')).toBeLessThan(page.indexOf('chain-9'));
  });

  test('shows a stored chain of no configuration as not configured, without a lag', async () => {
    const stage = await open();
    const visitor = await stage.signIn();
    await seedChains(stage.database, [7]);
    const lag = '<data class="n" value="10">';
    expect(await textOf(stage, visitor)).toContain(lag);
    await stage.database.query(sql`UPDATE head_reports SET reported_at = now() - interval '1 minute'`);
    await sleep(1_100);
    const page = await textOf(stage, visitor);
    expect(page).toContain('Not configured');
    expect(page).toContain('chainstead chains remove chain-7');
    expect(page).not.toContain(lag);
  });

  test.each([
    ['none', null, 'No ingest process'],
    ['one above its checkpoint', 1_991, 'No ingest process'],
    ['its checkpoint', 1_990, 'end reached'],
  ])(
    'a chain of which nothing was heard for long, with an end of %s: %s, is called "%s"',
    async (_, end, called) => {
      const stage = await open({ endOf: (name) => (name === 'eth' ? end : null) });
      const visitor = await stage.signIn();
      await seedChains(stage.database, [1]);
      await stage.database.query(
        sql`INSERT INTO head_reports (chain, reporter, reported_at)
       SELECT chain_id::text, gen_random_uuid(), now() - interval '10 minutes' FROM sync_chains
       ON CONFLICT (chain) DO UPDATE SET reported_at = excluded.reported_at`,
      );
      const page = await textOf(stage, visitor);
      expect(['No ingest process', 'end reached'].filter((text) => page.includes(text))).toEqual([called]);
      const standing = /Head unknown|Indexed to its configured end, block/.exec(
        await textOf(stage, visitor, '/console/chains/eth'),
      );
      expect(standing?.[0]).toBe(
        called === 'end reached' ? 'Indexed to its configured end, block' : 'Head unknown',
      );
    },
  );

  test('shows no head below what is indexed', async () => {
    const stage = await open();
    const visitor = await stage.signIn();
    await seedChains(stage.database, [7]);
    await stage.database.query(sql`UPDATE sync_chains SET head = 1980`);
    const page = await textOf(stage, visitor);
    expect(page).not.toContain('value="1980"');
    expect(page.match(/<data class="n" value="1990">/g)).toHaveLength(2);
  });

  test('asks as much of the database for forty chains as for one', async () => {
    let requested = 0;
    const stage = await open({
      wrap: (database) => ({
        ...database,
        query: (statement) => {
          requested += 1;
          return database.query(statement);
        },
      }),
    });
    const visitor = await stage.signIn();
    await seedChains(stage.database, [7]);
    // Data that is cached for a minute is read by now.
    await textOf(stage, visitor);
    await sleep(1_100);
    requested = 0;
    await textOf(stage, visitor);
    const forOne = requested;
    await seedChains(
      stage.database,
      Array.from({ length: 39 }, (_, index) => 1_000_000 + index),
    );
    await sleep(1_100);
    requested = 0;
    const page = await textOf(stage, visitor);
    expect(page.match(/<article/g)).toHaveLength(41);
    expect(requested).toBe(forOne);
  });

  test('reads the samples of a day once for whoever looks within a minute', async () => {
    let days = 0;
    const stage = await open({
      wrap: (database) => ({
        ...database,
        query: (statement) => {
          const { text, values } = statementOf(statement);
          if (text.includes('FROM chain_metrics_minutely') && values?.includes(24 * 60) === true) days += 1;
          return database.query(statement);
        },
      }),
    });
    const visitor = await stage.signIn();
    await seedChains(stage.database, [7]);
    for (let look = 0; look < 3; look++) {
      expect(await textOf(stage, visitor)).toContain('polyline');
      await sleep(1_100);
    }
    expect(days).toBe(1);
  });
});

describe('a chain', () => {
  test('has a page of its own, zoomed to a range, with the ranges behind it', async () => {
    const stage = await open();
    const visitor = await stage.signIn();
    await seedChains(stage.database, [7]);
    const page = await textOf(stage, visitor, '/console/chains/chain-7?from=500&to=700');
    expect(page).toContain('two upstreams agree');
    expect(page).toContain('http://node-a');
    expect(page).not.toContain('value="1200"');
    const all = await textOf(stage, visitor, '/console/chains/chain-7');
    expect(all).toContain('<data class="n" value="1200">');
    const lag = await (await stage.get('/console/chains/chain-7/lag.json', visitor)).json();
    expect(lag).toMatchObject({ unit: 'blocks', labels: ['lag'] });
    const { range, times } = lag as { readonly range: [number, number]; readonly times: readonly number[] };
    // Samples of an hour leave no empty day before them.
    expect([range[0], times.length]).toEqual([times[0], 61]);
    await stage.database.query(sql`DELETE FROM chain_metrics_minutely`);
    expect(await textOf(stage, visitor, '/console/chains/chain-7')).not.toContain('lag.json');
  });

  test('shows its sources of history, with their state and the ranges that they gave', async () => {
    const stage = await open();
    const visitor = await stage.signIn();
    await seedChains(stage.database, [7]);
    const usable = { blocks: 1_200, failures: 0, reason: null, until: null };
    const failing = { blocks: 5, failures: 1, reason: 'lacks <b>r</b> of block 7', until: Date.now() + 60_000 };
    const sources = [{ name: 'portal a.example', available: [], uses: { blocks: failing, logs: usable } }];
    await stage.database.query(
      sql`UPDATE sync_chains SET sources = ${JSON.stringify(sources)} WHERE chain_id = 7`,
    );
    await stage.database.query(
      sql`UPDATE sync_ranges SET upstream = 'portal a.example' WHERE chain_id = 7 AND first_block = 0`,
    );
    const page = await textOf(stage, visitor, '/console/chains/chain-7');
    const section = page.slice(page.indexOf('<h2 id="sources">Sources of history</h2>'));
    expect(section).toContain('portal a.example');
    expect(section).toMatch(
      /Whole blocks: <span class="v-warning">left alone until .*lacks &lt;b&gt;r&lt;\/b&gt; of block 7/,
    );
    expect(section).toContain('Logs: <span class="v-ok">usable</span>');
    expect(section).toContain('0 to ');
  });

  test.each([
    ['/console/chains/unheard-of', 404],
    ['/console/chains/chain-7?from=x', 400],
    ['/console/chains/chain-7?from=10&to=5', 400],
    ['/console/audit?before=-1', 400],
    ['/console/audit?door=%3Cscript%3E', 400],
    ['/console/keys?days=0', 400],
  ])('%s is answered %i, as a page', async (path, status) => {
    const stage = await open();
    const visitor = await stage.signIn();
    await seedChains(stage.database, [7]);
    const answer = await stage.get(path, visitor);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'text/html; charset=UTF-8']);
    expect(await answer.text()).toContain('role="alert"');
  });
});
