import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Database, sql } from '@chainstead/db';
import { type AuditActor, type ConfiguredKey, type Principal, recordAudit } from '@chainstead/http';

/** A signed-in user. */
export interface ConsoleSession {
  /** For lists: reveals nothing of the browser's secret. Hexadecimal. */
  readonly id: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly createdAt: Date;
  readonly seenAt: Date;
  readonly expiresAt: Date;
  readonly address: string;
  readonly userAgent: string;
}

/** The origin of a request. */
export interface RequestOrigin {
  readonly address: string;
  readonly userAgent: string;
  readonly requestId: string;
}

export interface SessionStore {
  /** Signs in. @returns the browser's secret; it is stored nowhere */
  begin(key: string, principal: Principal, origin: RequestOrigin): Promise<string>;
  /**
   * Returns the session of a secret; null if it is unknown, over, or its key is revoked or no longer has the scope
   * `admin`.
   * @param isUse whether it resets the idle time
   */
  find(secret: string, isUse: boolean): Promise<ConsoleSession | null>;
  /** Returns the active ones, the last used first. */
  list(): Promise<readonly ConsoleSession[]>;
  /** Ends one by its id. @returns whether it was active */
  end(id: string, by: AuditActor): Promise<boolean>;
  /** Returns the token for changes: known only to the pages of this session. */
  tokenOf(secret: string): string;
  /** Compares in constant time. */
  isToken(secret: string, token: string): boolean;
}

export interface SessionStoreOptions {
  readonly database: Database;
  /** `API_KEYS`. */
  readonly configured: readonly ConfiguredKey[];
  /** `loadServerSecret(database, 'console')`. */
  readonly secret: Buffer;
}

/** A session ends after this time without use. */
const IDLE_HOURS = 12;
/** A session ends after this time, however much it is used. */
const HOURS_MAX = 7 * 24;
/** Retention of ended sessions, for lists in SQL. */
const KEPT_DAYS = 30;
const USER_AGENT_MAX = 200;
const SECRET_BYTES = 32;
const SECRET_PATTERN = /^[A-Za-z0-9_-]{43}$/;
const ID_PATTERN = /^[0-9a-f]{64}$/;

interface SessionRow {
  readonly id_hash: Buffer;
  readonly key_hash: Buffer;
  readonly key_id: string;
  readonly key_name: string;
  readonly created_at: Date;
  readonly seen_at: Date;
  readonly expires_at: Date;
  readonly address: string;
  readonly user_agent: string;
  /** Null: the key is not in `api_keys`. */
  readonly is_allowed: boolean | null;
  readonly is_stale: boolean;
}

/**
 * Checked against the keys' own rows each time: a key that was just revoked or restricted, by any process, gives no
 * access.
 */
const GOING_ON = sql`
  SELECT id_hash, session.key_hash, key_id, key_name, session.created_at, seen_at, expires_at, address, user_agent,
         CASE WHEN key.key_hash IS NOT NULL THEN key.revoked_at IS NULL AND 'admin' = ANY (key.scopes) END AS is_allowed,
         seen_at < now() - interval '1 minute' AS is_stale
    FROM console_sessions AS session LEFT JOIN api_keys AS key ON key.key_hash = session.key_hash
   WHERE session.revoked_at IS NULL AND expires_at > now() AND seen_at > now() - make_interval(hours => ${IDLE_HOURS})`;

export function createSessionStore({ database, configured, secret }: SessionStoreOptions): SessionStore {
  const admins = new Set(
    configured.filter(({ scopes }) => scopes.has('admin')).map(({ key }) => hash('sha256', key, 'hex')),
  );
  const isAllowed = (row: SessionRow): boolean => row.is_allowed ?? admins.has(row.key_hash.toString('hex'));
  const tokenOf = (of: string): string => createHmac('sha256', secret).update(`token:${of}`).digest('base64url');
  return {
    async begin(key, principal, origin) {
      const made = randomBytes(SECRET_BYTES).toString('base64url');
      await database.transaction(async (transaction) => {
        const idHash = hash('sha256', made, 'buffer');
        const { address, requestId } = origin;
        await transaction.query(
          sql`INSERT INTO console_sessions (id_hash, key_hash, key_id, key_name, expires_at, address, user_agent)
           VALUES (${idHash}, ${hash('sha256', key, 'buffer')}, ${principal.id}, ${principal.name}, now() + make_interval(hours => ${HOURS_MAX}), ${address}, ${origin.userAgent.slice(0, USER_AGENT_MAX)})`,
        );
        const by: AuditActor = { door: 'console', id: principal.id, name: principal.name, address, requestId };
        await recordAudit(transaction, by, { action: 'session.begin', target: idHash.toString('hex').slice(0, 8) });
      });
      await database.query(
        sql`DELETE FROM console_sessions WHERE expires_at < now() - make_interval(days => ${KEPT_DAYS})`,
      );
      return made;
    },
    async find(given, isUse) {
      if (!SECRET_PATTERN.test(given)) return null;
      const idHash = hash('sha256', given, 'buffer');
      const [row] = await database.query<SessionRow>(sql`${GOING_ON} AND id_hash = ${idHash}`);
      if (row === undefined || !isAllowed(row)) return null;
      if (isUse && row.is_stale)
        await database.query(sql`UPDATE console_sessions SET seen_at = now() WHERE id_hash = ${idHash}`);
      return toSession(row);
    },
    list: async () =>
      (await database.query<SessionRow>(sql`${GOING_ON} ORDER BY seen_at DESC, created_at DESC`))
        .filter(isAllowed)
        .map(toSession),
    end: (id, by) => endSession(database, id, by),
    tokenOf,
    isToken: (of, token) => {
      const [expected, given] = [Buffer.from(tokenOf(of)), Buffer.from(token)];
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}

async function endSession(database: Database, id: string, by: AuditActor): Promise<boolean> {
  if (!ID_PATTERN.test(id)) return false;
  return database.transaction(async (transaction) => {
    const ended = await transaction.query<{ key_id: string }>(
      sql`UPDATE console_sessions SET revoked_at = now() WHERE id_hash = ${Buffer.from(id, 'hex')} AND revoked_at IS NULL RETURNING key_id`,
    );
    const [row] = ended;
    if (row === undefined) return false;
    await recordAudit(transaction, by, { action: 'session.end', target: id.slice(0, 8), details: { key: row.key_id } });
    return true;
  });
}

function toSession(row: SessionRow): ConsoleSession {
  return {
    id: row.id_hash.toString('hex'),
    keyId: row.key_id,
    keyName: row.key_name,
    createdAt: row.created_at,
    seenAt: row.seen_at,
    expiresAt: row.expires_at,
    address: row.address,
    userAgent: row.user_agent,
  };
}
