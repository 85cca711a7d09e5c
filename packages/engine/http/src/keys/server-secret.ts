import { randomBytes } from 'node:crypto';
import { type Database, sql } from '@chainstead/db';

const SECRET_BYTES = 32;

export async function loadServerSecret(database: Database, name: string): Promise<Buffer> {
  await database.query(
    sql`INSERT INTO server_secrets (name, value) VALUES (${name}, ${randomBytes(SECRET_BYTES)}) ON CONFLICT (name) DO NOTHING`,
  );
  const [row] = await database.query<{ value: Buffer }>(
    sql`SELECT value FROM server_secrets WHERE name = ${name}`,
  );
  if (row === undefined) throw new TypeError(`Server secret ${name} vanished between insert and select`);
  return row.value;
}
