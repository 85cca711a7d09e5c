import { type Database, joinSql, rowsAfter, type Sql, sql, type Transaction, where } from '@chainstead/db';

export const AUDIT_DOORS = ['api', 'console', 'command', 'start'] as const;
export type AuditDoor = (typeof AUDIT_DOORS)[number];

export interface AuditActor {
  readonly door: AuditDoor;
  /** Id of a key, `open` if none is needed; for a command, user and machine. */
  readonly id: string;
  readonly name: string | null;
  readonly address: string | null;
  readonly requestId: string | null;
}

export interface AuditEntry {
  /** Object and verb, such as `key.create`. */
  readonly action: string;
  readonly target: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface AuditRecord extends AuditActor, Required<AuditEntry> {
  readonly entry: string;
  readonly at: Date;
}

export const START_ACTOR: AuditActor = { door: 'start', id: 'start', name: null, address: null, requestId: null };

/** The database clock, which applies to all machines. */
const NEW_ID = sql`to_char(extract(epoch FROM clock_timestamp()) * 1000000, 'FM0000000000000000') || substr(md5(random()::text), 1, 8)`;
export const AUDIT_ENTRY: RegExp = /^\d{16}[0-9a-f]{8}$/;

/** In the transaction of the change. */
export async function recordAudit(
  transaction: Pick<Transaction, 'query'>,
  by: AuditActor,
  { action, target, details = {} }: AuditEntry,
): Promise<void> {
  await transaction.query(
    sql`INSERT INTO audit_log (id, door, actor, actor_name, action, target, details, address, request_id)
     VALUES (${NEW_ID}, ${by.door}, ${by.id}, ${by.name}, ${action}, ${target}, ${JSON.stringify(details)}, ${by.address}, ${by.requestId})`,
  );
}

export async function listAudit(
  database: Database,
  before: string | null,
  limit: number,
  door: AuditDoor | null = null,
): Promise<AuditRecord[]> {
  return database.query<AuditRecord>(auditStatement(before, limit, door));
}

/** If the planner knew that `door` is one value, it would read all other channels. */
export function auditStatement(before: string | null, limit: number, door: AuditDoor | null): Sql {
  const way = door === null ? [] : [sql`${door}`];
  const key = [...way.map(() => sql`log.door`), sql`log.id`];
  const conditions = [
    ...way.map((one) => sql`log.door >= ${one}`),
    ...(before === null
      ? way.map((one) => sql`log.door <= ${one}`)
      : [rowsAfter('DESC', key, [...way, sql`${before}`])]),
  ];
  return sql`SELECT log.id AS entry, at, door, actor AS id, actor_name AS name, action, target, details, address, request_id
     FROM audit_log AS log ${where(conditions)} ORDER BY ${joinSql(key.map((column) => sql`${column} DESC`))} LIMIT ${limit}`;
}
