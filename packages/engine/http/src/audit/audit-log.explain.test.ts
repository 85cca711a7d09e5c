import { sql, statementOf } from '@chainstead/db';
import { explain, PLANS, rowsRead } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditStatement, listAudit } from './audit-log.ts';

const WRITTEN = 4_000;
/** One entry in RARITY is from a command: the API changes streams all day. */
const RARITY = 100;
const LIMIT = 10;

const scratch = scratchOfFile({ autovacuum: false });
beforeAll(async () => {
  // Statistics of a small table, like those of a growing one.
  await write(1, 100);
  await scratch.database.query(sql`ANALYZE`);
  await write(101, WRITTEN);
});

const entryOf = (number: number): string => `${String(number).padStart(16, '0')}00000000`;

async function write(from: number, to: number): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO audit_log (id, door, actor, action, target, details)
     SELECT lpad(number::text, 16, '0') || '00000000', CASE number % ${RARITY} WHEN 0 THEN 'command' ELSE 'api' END, 'a', 'test', number::text, '{}'
     FROM generate_series(${from}::int, ${to}::int) AS number`,
  );
}

test('those of one way alone are given, page by page', async () => {
  const seen: string[] = [];
  let before: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof listAudit>> = await listAudit(scratch.database, before, 15, 'command');
    expect(page.every(({ door }) => door === 'command')).toBe(true);
    seen.push(...page.map(({ target }) => target));
    before = page.at(-1)?.entry ?? null;
  } while (before !== null);
  expect(seen).toEqual(Array.from({ length: WRITTEN / RARITY }, (_, place) => String(WRITTEN - place * RARITY)));
});

describe.each(PLANS)('with a $plan plan and $statistics', ({ plan, statistics, prepare }) => {
  beforeAll(() => prepare(scratch.database));

  test.each([null, 'command', 'api', 'console'] as const)('a page by %s reads what it gives', async (door) => {
    // Without statistics, the planner expects few matching rows and sorts them.
    if (plan === 'custom' && statistics === 'without statistics' && door !== null) return;
    for (const before of [null, entryOf(WRITTEN / 2)]) {
      const { nodes, text } = await explain(
        scratch.database,
        statementOf(auditStatement(before, LIMIT, door)),
        plan,
      );
      expect(rowsRead(nodes, 'audit_log'), text).toBeLessThanOrEqual(LIMIT);
    }
  });
});
