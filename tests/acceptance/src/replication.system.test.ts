/** The recipe of docs/operate/replicate.md: another server gets rows, removals of reorgs and rows of new partitions. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, rawSql, sql } from '@chainstead/db';
import { createScratchDatabase, startScratchServer } from '@chainstead/testkit';
import { describe } from 'vitest';
import { waitUntil } from './indexed-chain.ts';
import { untilIndexed } from './indexed-tables.ts';
import { stagedTest } from './stage.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/operate/replicate.md'), 'utf8');
const TABLES = ['erc20_transfer_sides', 'blocks'] as const;

/** Statements of the page that begin with `verb`. */
function statements(verb: string): string[] {
  const blocks = [...PAGE.matchAll(/```sql\n(.*?)```/gs)].map((match) => match[1] ?? '');
  return blocks
    .flatMap((block) => block.split(';'))
    .map((text) => text.trim())
    .filter((text) => text.startsWith(verb));
}

/** The query of the page that returns the definition of a table. */
const [DEFINITION = ''] = statements('SELECT format');

async function contentsOf(database: Database): Promise<string> {
  const parts = TABLES.map(
    (table) =>
      `(SELECT '${table} ' || count(*) || coalesce(md5(string_agg(t::text, ',' ORDER BY t::text)), '') FROM ${table} AS t)`,
  );
  const [row] = await database.query<{ contents: string }>(
    sql`SELECT concat_ws(' ', ${rawSql(parts.join(', '))}) AS contents`,
  );
  return row?.contents ?? '';
}

const countPartitions = (database: Database): Promise<object[]> =>
  database.query(sql`SELECT FROM pg_inherits WHERE inhparent = 'erc20_transfer_sides'::regclass`);

describe('a logical replica', () => {
  stagedTest('receives rows, reorgs and new partitions', async ({ stage, expect }) => {
    const { chain, facts } = stage;
    const server = await startScratchServer({ settings: { wal_level: 'logical', max_wal_senders: '8' } });
    stage.closeLater(() => server.stop());
    const published = await server.createDatabase();
    stage.closeLater(() => published.drop());
    const replica = await createScratchDatabase({ migrated: false });
    stage.closeLater(() => replica.drop());

    const publishing = [
      ...statements('CREATE ROLE'),
      ...statements('GRANT'),
      ...statements('CREATE PUBLICATION'),
    ];
    expect(publishing).toHaveLength(3);
    for (const statement of publishing) await published.database.query(rawSql(statement));
    for (const table of TABLES) {
      const [made] = await published.database.query<{ format: string }>(
        rawSql(DEFINITION.replaceAll('erc20_transfer_sides', table)),
      );
      await replica.database.query(rawSql(made?.format ?? ''));
    }
    expect(await countPartitions(published.database)).toEqual([]);
    const { hostname, port, pathname } = new URL(published.url);
    const [subscribing = ''] = statements('CREATE SUBSCRIPTION');
    await replica.database.query(
      rawSql(subscribing.replace('host=… dbname=…', `host=${hostname} port=${port} dbname=${pathname.slice(1)}`)),
    );
    try {
      const untilEqual = () =>
        waitUntil(async () => {
          const [stored, copied] = await Promise.all([
            contentsOf(published.database),
            contentsOf(replica.database),
          ]);
          return stored === copied ? null : `${copied} is not ${stored}`;
        });
      const node = await stage.serve({ latencyMs: 1 });
      await stage.index([node], { database: published.database });
      await untilIndexed(published.database, facts, chain);
      await untilEqual();
      expect((await countPartitions(published.database)).length).toBeGreaterThan(0);
      const before = await contentsOf(replica.database);
      chain.mine(5);
      chain.reorg(5, 9);
      await untilIndexed(published.database, facts, chain);
      await untilEqual();
      expect(await contentsOf(replica.database)).not.toBe(before);
    } finally {
      await replica.database.query(sql`DROP SUBSCRIPTION chainstead`);
    }
  });
});
