import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { sql } from '../sql.ts';
import { transactionLock } from './commit-lock.ts';

const scratch = scratchOfFile();

test.each(['new to the table', 'known'])('a lock %s lets one transaction in at a time', async () => {
  const events: string[] = [];
  const turn = (name: string) =>
    scratch.database.transaction(async (transaction) => {
      await transactionLock(transaction, 'turns');
      events.push(`${name} in`);
      await transaction.query(sql`SELECT pg_sleep(0.02)`);
      events.push(`${name} out`);
    });
  await Promise.all(['a', 'b', 'c'].map(turn));
  for (let index = 0; index < events.length; index += 2)
    expect(events[index + 1]).toBe(events[index]?.replace('in', 'out'));
  expect(events).toHaveLength(6);
});

test('locks of different names do not wait for each other', async () => {
  await scratch.database.transaction(async (transaction) => {
    await transactionLock(transaction, 'left');
    await scratch.database.transaction((other) => transactionLock(other, 'right'));
  });
  expect(
    await scratch.database.query(
      sql`SELECT name FROM transaction_locks WHERE name IN ('left', 'right') ORDER BY 1`,
    ),
  ).toEqual([{ name: 'left' }, { name: 'right' }]);
});
