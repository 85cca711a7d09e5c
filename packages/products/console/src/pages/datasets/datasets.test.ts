import { sql } from '@chainstead/db';
import { coverBlocks } from '@chainstead/testkit';
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

async function open(
  options: StageOptions = {},
): Promise<{ readonly stage: ConsoleStage; readonly visitor: Visitor }> {
  const stage = await openConsoleStage(options);
  stages.push(stage);
  return { stage, visitor: await stage.signIn() };
}

async function textOf({ stage, visitor }: Awaited<ReturnType<typeof open>>, path: string): Promise<string> {
  const answer = await stage.get(path, visitor);
  expect(answer.status).toBe(200);
  return answer.text();
}

describe('the page of datasets', () => {
  test('tells of each chain and dataset how much is there and proven, with a link to the ranges', async () => {
    const opened = await open();
    await seedChains(opened.stage.database, [1, 7]);
    const page = await textOf(opened, '/console/datasets?chain=eth');
    // 1,791 of the 1,991 blocks are there; 400, 200 and 791 of those are proven.
    expect(page).toContain('89.9 %');
    expect(page).toContain('77.6 %');
    expect(page).toContain('<data class="n" value="200">');
    const [, address = ''] = /href="(\/console\/chains\/eth\?dataset=erc20-transfers)"/.exec(page) ?? [];
    const ranges = await textOf(opened, address);
    expect(ranges).toContain('Only ranges of <bdi>erc20-transfers</bdi>.');
    expect(await textOf(opened, '/console/chains/eth?dataset=other')).toContain('No data for this range');
    expect(page).not.toContain('aria-label="Ranges of erc20-transfers on chain-7"');
    expect(await textOf(opened, '/console/datasets?dataset=other')).toContain('No coverage matches');
  });

  test('says of rows that nothing can prove that they are not provable, instead of 0 %', async () => {
    const opened = await open();
    await seedChains(opened.stage.database, [1]);
    await coverBlocks(opened.stage.database, 1, 'internal-transfers', 10, 20, 'not-applicable');
    const page = await textOf(opened, '/console/datasets?chain=eth&dataset=internal-transfers');
    expect(page).toContain('<td class="number">not provable</td>');
  });

  test('is paged by chain, each once', async () => {
    const opened = await open();
    await seedChains(
      opened.stage.database,
      Array.from({ length: 45 }, (_, index) => 1_000_000 + index),
    );
    const found: string[] = [];
    for (let path: string | undefined = '/console/datasets'; path !== undefined; ) {
      const page = await textOf(opened, path);
      found.push(...[...page.matchAll(/on (chain-\d+)"/g)].map(([, chain = '']) => chain));
      path = /href="(\/console\/datasets\?[^"]*)" rel="next"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(found).toHaveLength(45);
    expect(new Set(found).size).toBe(45);
  });

  test('tells how far projections are that are built anew', async () => {
    const opened = await open();
    await seedChains(opened.stage.database, [1]);
    expect(await textOf(opened, '/console/datasets')).toContain('All aggregates are up to date');
    await opened.stage.database.query(
      sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
       SELECT 1, number, decode(lpad(to_hex(number), 64, '0'), 'hex'), now() FROM generate_series(1, 100) AS number`,
    );
    await opened.stage.database.query(
      sql`INSERT INTO projections (chain_id, state, dataset, version, status, position, rows) VALUES (1, 'holders', 'erc20-transfers', 1, 'building', 40, 123)`,
    );
    const { stage, visitor } = opened;
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const page = await (await stage.get('/console/datasets', visitor)).text();
    expect(page).toContain('>holders</bdi>');
    expect(page).toContain('40.0 %');
    expect(page).toContain('<data class="n" value="123">');
  });
});

describe('the page of tables', () => {
  test('tells sizes, estimates as such, growth, and in how many days the disk is full', async () => {
    const opened = await open({ disk: { diskBytes: 100_000_000_000, folder: null } });
    const { database } = opened.stage;
    await database.query(sql`ANALYZE api_keys`);
    await database.query(
      sql`INSERT INTO table_sizes_hourly (table_name, hour, sampled_at, bytes)
       VALUES ('', date_trunc('hour', now() - interval '12 hours'), now() - interval '12 hours', pg_database_size(current_database()) - 1000000000),
              ('api_keys', date_trunc('hour', now() - interval '12 hours'), now() - interval '12 hours', 0)`,
    );
    const page = await textOf(opened, '/console/tables');
    expect(page).toMatch(/2\.0 GB a day, over the last 12 h/);
    expect(page).toMatch(/about (49|50) days, at this pace/);
    expect(page).toContain('From <code>DATABASE_DISK_BYTES</code>');
    expect(page).toMatch(/>api_<wbr>keys<\/bdi><\/td><td class="number">about <data/);
    expect(page).toContain('not estimated yet');
  });

  test('says plainly what it does not know', async () => {
    const page = await textOf(await open(), '/console/tables');
    expect(page).toContain('Postgres does not report the free space of its disk. Set DATABASE_DISK_BYTES');
    expect(page).toContain('not known yet: the role worker stores sizes every hour');
    expect(page).toContain('<dt>Full in</dt><dd>unknown</dd>');
  });
});
