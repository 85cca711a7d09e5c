import { type Database, type Statement, type Transaction, where } from '@chainstead/db';

/** By what ways a change comes. */
export const AUDIT_DOORS = ['api', 'console', 'command', 'start'] as const;
export type AuditDoor = (typeof AUDIT_DOORS)[number];

/** Who changes something, and from where. */
export interface AuditActor {
  readonly door: AuditDoor;
  /** Id of a key (never the key), `open` where none is needed; of a command, user and machine. */
  readonly id: string;
  /** Name of the key; null where there is none. */
  readonly name: string | null;
  /** Of the network; null for commands. */
  readonly address: string | null;
  readonly requestId: string | null;
}

/** What was changed. */
export interface AuditEntry {
  /** Thing and verb, such as `key.create`. */
  readonly action: string;
  /** What it was done to: the id of a key, of a session … Holds no secret. */
  readonly target: string;
  /** What else is worth knowing, as JSON. Holds no secret. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** An entry of the log. */
export interface AuditRecord extends AuditActor, Required<AuditEntry> {
  /** Ascends with the time. */
  readonly entry: string;
  readonly at: Date;
}

/** What the program does by itself. */
export const START_ACTOR: AuditActor = { door: 'start', id: 'start', name: null, address: null, requestId: null };

/** By the database's clock, which counts for all machines. */
const NEW_ID =
  "to_char(extract(epoch FROM clock_timestamp()) * 1000000, 'FM0000000000000000') || substr(md5(random()::text), 1, 8)";
/** What an entry is called in addresses. */
export const AUDIT_ENTRY: RegExp = /^\d{16}[0-9a-f]{8}$/;

/** Writes down what is changed, in the transaction that changes it: neither is there without the other. */
export async function recordAudit(
  transaction: Pick<Transaction, 'query'>,
  by: AuditActor,
  { action, target, details = {} }: AuditEntry,
): Promise<void> {
  await transaction.query(
    `INSERT INTO audit_log (id, door, actor, actor_name, action, target, details, address, request_id)
     VALUES (${NEW_ID}, $1, $2, $3, $4, $5, $6, $7, $8)`,
    [by.door, by.id, by.name, action, target, JSON.stringify(details), by.address, by.requestId],
  );
}

/**
 * A page of the log, newest first.
 * @param before the entry below which it begins; null: at the newest
 * @param door the way that changes came; null: any
 */
export async function listAudit(
  database: Database,
  before: string | null,
  limit: number,
  door: AuditDoor | null = null,
): Promise<AuditRecord[]> {
  const { text, values } = auditStatement(before, limit, door);
  return database.query<AuditRecord>(text, values);
}

/**
 * One range of one index. The way stands there as a range, and in the order: a planner that knows it to be one value takes the log's other index, and reads
 * what came by all other ways.
 */
export function auditStatement(before: string | null, limit: number, door: AuditDoor | null): Statement {
  const values: unknown[] = [limit];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const way = door === null ? null : bind(door);
  const conditions = [
    ...(way === null ? [] : [`log.door >= ${way}`]),
    ...(way === null || before !== null ? [] : [`log.door <= ${way}`]),
    ...(before === null
      ? []
      : [way === null ? `log.id < ${bind(before)}` : `(log.door, log.id) < (${way}, ${bind(before)})`]),
  ];
  const text = `SELECT log.id AS entry, at, door, actor AS id, actor_name AS name, action, target, details, address, request_id AS "requestId"
     FROM audit_log AS log ${where(conditions)} ORDER BY ${way === null ? '' : 'log.door DESC, '}log.id DESC LIMIT $1`;
  return { text, values };
}
