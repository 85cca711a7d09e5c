/** Statements that wait for a reader's lock, and whose command is killed meanwhile. */
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Database } from '../database.ts';
import { rawSql, sql } from '../sql.ts';
import { withPatientSession } from './table-locks.ts';

const scratch = scratchOfFile();

/** Counts the locks on the table that statements wait for. */
async function waiting(database: Database): Promise<number> {
  const locks = await database.query(sql`SELECT FROM pg_locks WHERE NOT granted AND relation = 'held'::regclass`);
  return locks.length;
}

// Invariant: DB-SHORT-LOCKS
test.each([
  'DROP TABLE held',
  'DROP INDEX held_by_block',
  'ALTER TABLE held ADD COLUMN more int',
  'TRUNCATE held',
])('a command that is killed while "%s" waits for a reader lets writers pass', async (statement) => {
  const { database } = scratch;
  await database.query(sql`DROP TABLE IF EXISTS held`);
  await database.query(sql`CREATE TABLE held (block int)`);
  await database.query(sql`CREATE INDEX held_by_block ON held (block)`);
  const sessions: ReturnType<Database['session']>[] = [];
  const command: Pick<Database, 'session'> = {
    session() {
      const session = database.session();
      session.on('error', () => undefined);
      sessions.push(session);
      return session;
    },
  };
  await database.transaction(async (reader) => {
    await reader.query(sql`SELECT count(*) FROM held`);
    const work = withPatientSession(command, { tables: 'held', giveUpAfterMs: 60_000 }, (run) =>
      run(rawSql(statement)),
    );
    onTestFinished(async () => void (await Promise.allSettled([work])));
    await vi.waitFor(async () => expect(await waiting(database)).toBe(1), { timeout: 10_000 });
    // As after kill -9: the server learns nothing of it before the statement ends.
    for (const { connection } of sessions) connection.stream.destroy();
    await expect(work).rejects.toThrow();
    // The reader is still there: this waits for the statement alone.
    await database.query(sql`INSERT INTO held VALUES (1)`);
    expect(await waiting(database)).toBe(0);
  });
  expect(await database.query(sql`SELECT block FROM held`)).toEqual([{ block: 1 }]);
});
