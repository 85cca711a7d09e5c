import { type Address, parseAddress } from '@chainstead/core';
import { type Database, hexText, rawSql, sql, type Transaction, transactionLock } from '@chainstead/db';
import { type AuditActor, recordAudit } from '@chainstead/http';
import {
  DEFAULT_BOUNDS,
  requireRoomForAddresses,
  type StreamBounds,
  type WatchedAmount,
} from './stream-bounds.ts';

export interface AddressPage {
  readonly addresses: readonly Address[];
  readonly total: number;
  readonly next: Address | null;
}

/** Duplicates count once. Changes apply from the next block. Unknown stream: null, `no-stream`. */
interface StreamAddressStore {
  /** @throws TooManyAddressesError, TooManyKeyAddressesError, like `replace` */
  add(streamId: string, addresses: readonly Address[], by: AuditActor): Promise<AddressChange>;
  remove(streamId: string, addresses: readonly Address[], by: AuditActor): Promise<AddressChange | 'none'>;
  replace(streamId: string, addresses: readonly Address[], by: AuditActor): Promise<AddressChange>;
  list(streamId: string, after: Address | null, limit: number): Promise<AddressPage | null>;
}

type AddressChange = 'done' | 'no-stream';

export function createStreamAddressStore(
  database: Database,
  bounds: StreamBounds = DEFAULT_BOUNDS,
): StreamAddressStore {
  const change = <Outcome>(
    work: (transaction: Transaction, version: number) => Promise<Outcome>,
  ): Promise<Outcome> =>
    database.transaction(async (transaction) => work(transaction, await raiseStreamsVersion(transaction)));
  return {
    add: (streamId, addresses, by) =>
      change(async (transaction, version) => {
        const { added, watched } = await addAddresses(transaction, version, streamId, addresses);
        if (watched === null) return 'no-stream';
        if (added === 0) return 'done';
        await requireRoomForAddresses(transaction, watched, bounds);
        await auditStream(transaction, by, 'stream.addresses', streamId, { added });
        return 'done';
      }),
    remove: (streamId, addresses, by) =>
      change(async (transaction) => {
        const removed = await remove(transaction, streamId, addresses);
        if (removed === null) return 'no-stream';
        if (removed === 0) return 'none';
        await auditStream(transaction, by, 'stream.addresses', streamId, { removed });
        return 'done';
      }),
    replace: (streamId, addresses, by) =>
      change(async (transaction, version) => {
        await transaction.query(
          sql`DELETE FROM stream_addresses WHERE stream_id = ${streamId}
           AND address NOT IN (SELECT decode(hex, 'hex') FROM unnest(${digits(addresses)}::text[]) AS hex)`,
        );
        const { added } = await addAddresses(transaction, version, streamId, addresses);
        const [watched] = await transaction.query<WatchedAmount>(
          sql`UPDATE streams SET amount_of_addresses = (SELECT count(*) FROM stream_addresses WHERE stream_id = ${streamId})
           WHERE id = ${streamId} AND deleted_at IS NULL RETURNING amount_of_addresses AS amount, created_by`,
        );
        if (watched === undefined) return 'no-stream';
        if (added > 0) await requireRoomForAddresses(transaction, watched, bounds);
        await auditStream(transaction, by, 'stream.addresses', streamId, { replaced_by: watched.amount });
        return 'done';
      }),
    list: (streamId, after, limit) => list(database, streamId, after, limit),
  };
}

/** In a transaction that has raised the version. `watched`: null for an unknown stream. */
export async function addAddresses(
  transaction: Transaction,
  version: number,
  streamId: string,
  addresses: readonly Address[],
): Promise<{ readonly added: number; readonly watched: WatchedAmount | null }> {
  const [row] = await transaction.query<WatchedAmount & { added: number }>(
    sql`WITH added AS (
       INSERT INTO stream_addresses (stream_id, address, version)
       SELECT s.id, decode(hex, 'hex'), ${version}
       FROM streams s, unnest(${digits(addresses)}::text[]) AS hex WHERE s.id = ${streamId} AND s.deleted_at IS NULL
       ON CONFLICT DO NOTHING RETURNING 1
     )
     UPDATE streams SET amount_of_addresses = amount_of_addresses + (SELECT count(*) FROM added)
     WHERE id = ${streamId} AND deleted_at IS NULL
     RETURNING amount_of_addresses AS amount, created_by, (SELECT count(*) FROM added) AS added`,
  );
  return row === undefined ? { added: 0, watched: null } : { added: row.added, watched: row };
}

async function remove(
  transaction: Transaction,
  streamId: string,
  addresses: readonly Address[],
): Promise<number | null> {
  const [row] = await transaction.query<{ removed: number }>(
    sql`WITH removed AS (
       DELETE FROM stream_addresses WHERE stream_id = ${streamId}
       AND address IN (SELECT decode(hex, 'hex') FROM unnest(${digits(addresses)}::text[]) AS hex) RETURNING 1
     )
     UPDATE streams SET amount_of_addresses = amount_of_addresses - (SELECT count(*) FROM removed)
     WHERE id = ${streamId} AND deleted_at IS NULL RETURNING (SELECT count(*) FROM removed) AS removed`,
  );
  return row?.removed ?? null;
}

async function list(
  database: Database,
  streamId: string,
  after: Address | null,
  limit: number,
): Promise<AddressPage | null> {
  const [stream] = await database.query<{ total: number }>(
    sql`SELECT amount_of_addresses AS total FROM streams WHERE id = ${streamId} AND deleted_at IS NULL`,
  );
  if (stream === undefined) return null;
  const rows = await database.query<{ address: string }>(
    sql`SELECT ${hexText('address')} AS address FROM stream_addresses
     WHERE stream_id = ${streamId} AND address > decode(${after === null ? '' : after.slice(2)}, 'hex') ORDER BY address LIMIT ${limit + 1}`,
  );
  const addresses = rows.slice(0, limit).map((row) => parseAddress(row.address));
  return { addresses, total: stream.total, next: rows.length > limit ? (addresses.at(-1) ?? null) : null };
}

function digits(addresses: readonly Address[]): readonly string[] {
  return addresses.map((address) => address.slice(2));
}

const VERSION_ROW = 1;
/**
 * Shared row locks admit new sharers without end, so a change would wait forever: sharers pass
 * this lock, and a change holds it until its transaction ends.
 */
const DOOR = 'streams-version';

/** ROLLBACK TO SAVEPOINT releases row locks taken after the savepoint. */
const PASS_THE_DOOR = sql`SAVEPOINT door; SELECT name FROM transaction_locks WHERE name = '${rawSql(DOOR)}' FOR UPDATE; ROLLBACK TO SAVEPOINT door; RELEASE SAVEPOINT door`;

/** Must be first in the transaction: orders changes among each other and against blocks. */
export async function raiseStreamsVersion(transaction: Transaction): Promise<number> {
  await transactionLock(transaction, DOOR);
  const rows = await transaction.query<{ version: number }>(
    sql`UPDATE streams_version SET version = version + 1 WHERE id = ${VERSION_ROW} RETURNING version`,
  );
  return versionOf(rows);
}

/** A waiting change holds the outer lock: taking it again would deadlock. */
const holders = new WeakSet<Transaction>();

/** No change commits until the transaction ends. Can be repeated. */
export async function holdStreamsVersion(transaction: Transaction): Promise<number> {
  const [, rows] = await transaction.together(() => [
    holders.has(transaction) ? Promise.resolve([]) : transaction.query(PASS_THE_DOOR),
    transaction.query<{ version: number }>(
      sql`SELECT version FROM streams_version WHERE id = ${VERSION_ROW} FOR SHARE`,
    ),
  ]);
  holders.add(transaction);
  return versionOf(rows);
}

function versionOf([row]: readonly { readonly version: number }[]): number {
  if (row === undefined) throw new TypeError('streams_version has lost its row');
  return row.version;
}

type Action =
  | ('create' | 'duplicate' | 'update' | 'delete' | 'addresses' | 'settings')
  | ('pause' | 'resume' | 'terminate' | 'replay' | 'test');

/** In the action's transaction. No URLs in `details`: they may include secrets. */
export function auditStream(
  transaction: Pick<Transaction, 'query'>,
  by: AuditActor,
  action: `stream.${Action}`,
  target: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  return recordAudit(transaction, by, { action, target, details });
}
