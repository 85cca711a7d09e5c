/** A role that may change no schema but the queue's, with the rights that docs/operate/upgrade.md gives it. */

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rawSql, sql } from '@chainstead/db';
import { type ScratchDatabase, startProgram } from '@chainstead/testkit';
import { expect } from 'vitest';

const UPGRADE = fileURLToPath(new URL('../../../docs/operate/upgrade.md', import.meta.url));

/** Migrates as the owner. @returns what the program is configured with to work as the role */
export async function asRestrictedRole({
  url,
  database,
}: ScratchDatabase): Promise<{ readonly DATABASE_URL: string }> {
  const role = `program_${randomBytes(6).toString('hex')}`;
  const migration = startProgram(['migrate'], { environment: { DATABASE_URL: url } });
  expect([await migration.exited, migration.output()]).toEqual([0, expect.stringContaining('The schema ')]);
  const grants = (await readFile(UPGRADE, 'utf8')).match(/^GRANT .* TO chainstead_program;$/gm) ?? [];
  expect(grants.length).toBeGreaterThan(0);
  await database.query(sql`CREATE ROLE ${rawSql(role)} LOGIN PASSWORD 'secret'`);
  for (const grant of grants) await database.query(rawSql(grant.replace('chainstead_program', role)));
  const own = new URL(url);
  own.username = role;
  own.password = 'secret';
  return { DATABASE_URL: own.href };
}
