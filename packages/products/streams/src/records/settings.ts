import { randomBytes } from 'node:crypto';
import { type Database, sql } from '@chainstead/db';
import type { AuditActor } from '@chainstead/http';
import { auditStream } from './stream-addresses.ts';

export const REGIONS = ['us-east-1', 'us-west-2', 'eu-central-1', 'ap-southeast-1'] as const;
export type Region = (typeof REGIONS)[number];

export interface StreamSettings {
  readonly region: Region;
  readonly secretKey: string;
  readonly previousSecretKey: string | null;
}

const SETTINGS_ROW = 1;
const SECRET_BYTES = 32;
const OVERLAP_HOURS = 24;
const TARGET = 'settings';
const COLUMNS = sql`region, secret_key,
  CASE WHEN previous_valid_until > now() THEN previous_secret_key END AS "previousSecretKey"`;

/** The first call creates the secret, the same for all replicas. */
export async function readStreamSettings(database: Database): Promise<StreamSettings> {
  const statement = sql`SELECT ${COLUMNS} FROM stream_settings WHERE id = ${SETTINGS_ROW}`;
  const [settings] = await database.query<StreamSettings>(statement);
  if (settings !== undefined) return settings;
  await database.query(
    sql`INSERT INTO stream_settings (id, region, secret_key) VALUES (${SETTINGS_ROW}, ${REGIONS[0]}, ${randomBytes(SECRET_BYTES).toString('hex')}) ON CONFLICT DO NOTHING`,
  );
  return single(await database.query<StreamSettings>(statement));
}

/** The replaced secret also signs for 24 hours. */
export async function changeStreamSettings(
  database: Database,
  change: { readonly region?: Region | undefined; readonly secretKey?: string | undefined },
  by: AuditActor,
): Promise<StreamSettings> {
  await readStreamSettings(database);
  const changed = Object.entries(change).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const secretKey = sql`${change.secretKey ?? null}::text`;
  return database.transaction(async (transaction) => {
    const rows = await transaction.query<StreamSettings>(
      sql`UPDATE stream_settings SET
       region = coalesce(${change.region ?? null}, region),
       secret_key = coalesce(${secretKey}, secret_key),
       previous_secret_key = CASE WHEN ${secretKey} <> secret_key THEN secret_key ELSE previous_secret_key END,
       previous_valid_until =
         CASE WHEN ${secretKey} <> secret_key THEN now() + make_interval(hours => ${OVERLAP_HOURS}) ELSE previous_valid_until END,
       updated_at = now()
     WHERE id = ${SETTINGS_ROW} RETURNING ${COLUMNS}`,
    );
    if (changed.length > 0) await auditStream(transaction, by, 'stream.settings', TARGET, { changed });
    return single(rows);
  });
}

function single([settings]: readonly StreamSettings[]): StreamSettings {
  if (settings === undefined) throw new TypeError('stream_settings lost its row between two statements');
  return settings;
}
