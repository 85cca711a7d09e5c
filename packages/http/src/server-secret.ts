import { randomBytes } from 'node:crypto';
import type { Database } from '@chainstead/db';

const SECRET_BYTES = 32;

/**
 * A secret that all replicas share: 32 random bytes, made by whoever asks first and kept in table `server_secrets`.
 * Two servers that start at once get the same one: the insert of the second does nothing, and both read what is stored.
 */
export async function loadServerSecret(database: Database, name: string): Promise<Buffer> {
  await database.query('INSERT INTO server_secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', [
    name,
    randomBytes(SECRET_BYTES),
  ]);
  const [row] = await database.query<{ value: Buffer }>('SELECT value FROM server_secrets WHERE name = $1', [name]);
  if (row === undefined) throw new TypeError(`Server secret ${name} vanished between insert and select`);
  return row.value;
}
