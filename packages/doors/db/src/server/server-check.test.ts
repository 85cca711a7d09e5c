import { createScratchDatabase } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { checkServer } from './examine-server.ts';

describe('server check', () => {
  const answering = (number: number, version: string, encoding: string) => ({
    async query<Row extends object>(): Promise<Row[]> {
      const rows: object[] = [{ number, version, encoding }];
      return rows as Row[];
    },
  });

  test('takes the server of the tests', async () => {
    const scratch = await createScratchDatabase();
    await expect(checkServer(scratch.database)).resolves.toMatch(/^Postgres \d.*, UTF8$/);
    await scratch.drop();
  });

  test('refuses a server before 15 and says what to do', async () => {
    await expect(checkServer(answering(140_012, '14.12', 'UTF8'))).rejects.toMatchObject({
      code: 'DATABASE_VERSION_UNSUPPORTED',
      message: expect.stringMatching(/Postgres 14\.12.*15 or newer.*Upgrade/),
    });
    await expect(checkServer(answering(150_000, '15.0', 'UTF8'))).resolves.toBe('Postgres 15.0, UTF8');
  });

  test('refuses a database that cannot hold all text', async () => {
    await expect(checkServer(answering(180_004, '18.4', 'SQL_ASCII'))).rejects.toMatchObject({
      code: 'DATABASE_ENCODING_UNSUPPORTED',
    });
  });
});
