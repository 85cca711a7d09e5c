import { randomBytes } from 'node:crypto';
import { type Database, sql } from '@chainstead/db';
import type { AuditActor } from '@chainstead/http';
import { auditStream } from './audit-stream.ts';

export const REGIONS = ['us-east-1', 'us-west-2', 'eu-central-1', 'ap-southeast-1'] as const;
export type Region = (typeof REGIONS)[number];

/** Webhook settings of all streams. */
export interface StreamSettings {
  /** Sent in a header of each webhook; has no other effect. */
  readonly region: Region;
  /** Signs `x-signature`. */
  readonly secretKey: string;
  /** The previous secret, while it still signs. */
  readonly previousSecretKey: string | null;
}

interface SettingsRow {
  readonly region: Region;
  readonly secret_key: string;
  readonly previous_secret_key: string | null;
}

const SETTINGS_ROW = 1;
const SECRET_BYTES = 32;
/** Time during which a replaced secret also signs. Hours. */
const OVERLAP_HOURS = 24;
/** Audit log target: the settings belong to all streams. */
const TARGET = 'settings';
const COLUMNS = sql`region, secret_key,
  CASE WHEN previous_valid_until > now() THEN previous_secret_key END AS previous_secret_key`;

/** Returns the settings. The first call creates the secret; all replicas get the same one. */
export async function readStreamSettings(database: Database): Promise<StreamSettings> {
  const rows = await database.query<SettingsRow>(
    sql`SELECT ${COLUMNS} FROM stream_settings WHERE id = ${SETTINGS_ROW}`,
  );
  if (rows.length > 0) return settingsOf(rows);
  await database.query(
    sql`INSERT INTO stream_settings (id, region, secret_key) VALUES (${SETTINGS_ROW}, ${REGIONS[0]}, ${randomBytes(SECRET_BYTES).toString('hex')}) ON CONFLICT DO NOTHING`,
  );
  return settingsOf(
    await database.query<SettingsRow>(sql`SELECT ${COLUMNS} FROM stream_settings WHERE id = ${SETTINGS_ROW}`),
  );
}

/**
 * Changes the given settings. A new secret applies immediately; the replaced one also signs for 24 hours.
 * @param by recorded in the audit log with the names of the changed settings
 */
export async function changeStreamSettings(
  database: Database,
  change: { readonly region?: Region | undefined; readonly secretKey?: string | undefined },
  by: AuditActor,
): Promise<StreamSettings> {
  await readStreamSettings(database);
  const given = Object.entries(change).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const secretKey = sql`${change.secretKey ?? null}::text`;
  return database.transaction(async (transaction) => {
    const rows = await transaction.query<SettingsRow>(
      sql`UPDATE stream_settings SET
       region = coalesce(${change.region ?? null}, region),
       secret_key = coalesce(${secretKey}, secret_key),
       previous_secret_key = CASE WHEN ${secretKey} <> secret_key THEN secret_key ELSE previous_secret_key END,
       previous_valid_until =
         CASE WHEN ${secretKey} <> secret_key THEN now() + make_interval(hours => ${OVERLAP_HOURS}) ELSE previous_valid_until END,
       updated_at = now()
     WHERE id = ${SETTINGS_ROW} RETURNING ${COLUMNS}`,
    );
    if (given.length > 0) await auditStream(transaction, by, 'stream.settings', TARGET, { changed: given });
    return settingsOf(rows);
  });
}

function settingsOf([row]: readonly SettingsRow[]): StreamSettings {
  if (row === undefined) throw new TypeError('stream_settings lost its row between two statements');
  return { region: row.region, secretKey: row.secret_key, previousSecretKey: row.previous_secret_key };
}
