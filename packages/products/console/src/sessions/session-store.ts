import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Database, sql } from '@chainstead/db';
import { type AuditActor, type ConfiguredKey, type Principal, recordAudit } from '@chainstead/http';

export interface ConsoleSession {
  /** For lists: reveals nothing of the secret. Hexadecimal. */
  readonly id: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly createdAt: Date;
  readonly seenAt: Date;
  readonly expiresAt: Date;
  readonly address: string;
  readonly userAgent: string;
}

export interface RequestOrigin {
  readonly address: string;
  readonly userAgent: string;
  readonly requestId: string;
}

export interface SessionStore {
  /** @returns the browser's secret, which is not stored */
  begin(key: string, principal: Principal, origin: RequestOrigin): Promise<string>;
  /** Null: unknown, over, key revoked or without `admin`. `isUse` resets the idle time. */
  find(secret: string, isUse: boolean): Promise<ConsoleSession | null>;
  list(): Promise<readonly ConsoleSession[]>;
  end(id: string, by: AuditActor): Promise<boolean>;
  tokenOf(secret: string): string;
  /** In constant time. */
  isToken(secret: string, token: string): boolean;
}

const IDLE_HOURS = 12;
const HOURS_MAX = 7 * 24;
const KEPT_DAYS = 30;
const USER_AGENT_MAX = 200;
const SECRET_BYTES = 32;
const SECRET_PATTERN = /^[A-Za-z0-9_-]{43}$/;
const ID_PATTERN = /^[0-9a-f]{64}$/;

interface CheckedSession extends ConsoleSession {
  readonly keyHash: Buffer;
  /** Null: not in `api_keys`. */
  readonly isAllowed: boolean | null;
  readonly isStale: boolean;
}

/** Checks keys each time: one that another process just revoked gives no access. */
const ACTIVE = sql`
  SELECT encode(id_hash, 'hex') AS id, session.key_hash, key_id, key_name,
         session.created_at, seen_at, expires_at, address,
         user_agent, seen_at < now() - interval '1 minute' AS "isStale",
         CASE WHEN key.key_hash IS NOT NULL THEN key.revoked_at IS NULL AND 'admin' = ANY (key.scopes) END AS "isAllowed"
    FROM console_sessions AS session LEFT JOIN api_keys AS key ON key.key_hash = session.key_hash
   WHERE session.revoked_at IS NULL AND expires_at > now() AND seen_at > now() - make_interval(hours => ${IDLE_HOURS})`;

/** @param configured `API_KEYS` @param secret `loadServerSecret(database, 'console')` */
export function createSessionStore(
  database: Database,
  configured: readonly ConfiguredKey[],
  secret: Buffer,
): SessionStore {
  const admins = new Set(
    configured.filter(({ scopes }) => scopes.has('admin')).map(({ key }) => hash('sha256', key, 'hex')),
  );
  const isAllowed = (session: CheckedSession): boolean =>
    session.isAllowed ?? admins.has(session.keyHash.toString('hex'));
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
        await recordAudit(transaction, by, {
          action: 'session.begin',
          target: idHash.toString('hex').slice(0, 8),
        });
      });
      await database.query(
        sql`DELETE FROM console_sessions WHERE expires_at < now() - make_interval(days => ${KEPT_DAYS})`,
      );
      return made;
    },
    async find(browserSecret, isUse) {
      if (!SECRET_PATTERN.test(browserSecret)) return null;
      const idHash = hash('sha256', browserSecret, 'buffer');
      const [session] = await database.query<CheckedSession>(sql`${ACTIVE} AND id_hash = ${idHash}`);
      if (session === undefined || !isAllowed(session)) return null;
      if (isUse && session.isStale)
        await database.query(sql`UPDATE console_sessions SET seen_at = now() WHERE id_hash = ${idHash}`);
      return withoutChecks(session);
    },
    list: async () =>
      (await database.query<CheckedSession>(sql`${ACTIVE} ORDER BY seen_at DESC, session.created_at DESC`))
        .filter(isAllowed)
        .map(withoutChecks),
    end: (id, by) => endSession(database, id, by),
    tokenOf,
    isToken: (of, token) => {
      const [expected, sent] = [Buffer.from(tokenOf(of)), Buffer.from(token)];
      return sent.length === expected.length && timingSafeEqual(sent, expected);
    },
  };
}

async function endSession(database: Database, id: string, by: AuditActor): Promise<boolean> {
  if (!ID_PATTERN.test(id)) return false;
  return database.transaction(async (transaction) => {
    const [ended] = await transaction.query<{ key: string }>(
      sql`UPDATE console_sessions SET revoked_at = now()
           WHERE id_hash = ${Buffer.from(id, 'hex')} AND revoked_at IS NULL RETURNING key_id AS key`,
    );
    if (ended === undefined) return false;
    await recordAudit(transaction, by, {
      action: 'session.end',
      target: id.slice(0, 8),
      details: { key: ended.key },
    });
    return true;
  });
}

function withoutChecks({ keyHash, isAllowed, isStale, ...session }: CheckedSession): ConsoleSession {
  return session;
}
