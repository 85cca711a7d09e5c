import type { End } from '../connections/connection-metrics.ts';
import type { ReadDatabase } from '../database.ts';
import { type Sql, sql, statementOf } from '../sql.ts';
import type { ReadOnStandbys } from './standby-reads.ts';
import { formatWalPosition, laterOf, parseWalPosition, type WalPosition } from './wal-position.ts';

/** Reads of one request: each sees at least the state of earlier ones. */
export interface ReadSession extends ReadDatabase {
  /** Latest possible state so far; null: nothing read. For `requireAtLeast` anywhere. */
  readonly position: string | null;
  /** Null: unknown, so the primary is read. */
  requireAtLeast(position: string | null): void;
  /** The request queried the primary: results must be consistent. */
  stayOnPrimary(): void;
}

export type SharedFloor = { position: WalPosition };

export interface ReadSessionOptions {
  readonly onStandbys: ReadOnStandbys;
  readonly primary: ReadDatabase;
  readonly floor: SharedFloor;
  readonly end: End | undefined;
  readonly onPrimary: () => void;
}

export function createReadSession({
  onStandbys,
  primary,
  floor,
  end,
  onPrimary,
}: ReadSessionOptions): ReadSession {
  let required: WalPosition = 0n;
  let seen: WalPosition | null = null;
  let isOnPrimary = false;

  function show(position: WalPosition): void {
    seen = seen === null ? position : laterOf(seen, position);
  }

  async function select<Row extends object>(statement: Sql): Promise<Row[]> {
    const { text, values } = statementOf(statement);
    const least = [required, seen ?? 0n].reduce(laterOf, floor.position);
    const read = isOnPrimary ? null : await onStandbys<Row>({ text, values, floor: least, end });
    if (read !== null) {
      show(read.to);
      return read.rows;
    }
    const rows = await primary.select<Row>(statement);
    show(await positionOfPrimary(primary));
    onPrimary();
    return rows;
  }

  async function selectLasting<Row extends object>(statement: Sql): Promise<Row[]> {
    const rows = await select<Row>(statement);
    if (seen !== null) floor.position = laterOf(floor.position, seen);
    return rows;
  }

  return {
    get position() {
      return seen === null ? null : formatWalPosition(seen);
    },
    select,
    selectLasting,
    requireAtLeast(position) {
      if (position === null) isOnPrimary = true;
      else required = laterOf(required, parseWalPosition(position));
    },
    stayOnPrimary() {
      isOnPrimary = true;
    },
  };
}

/** A commit is in the WAL before it is visible. */
export async function positionOfPrimary(primary: ReadDatabase): Promise<WalPosition> {
  const [row] = await primary.select<{ position: string }>(
    sql`SELECT pg_current_wal_insert_lsn()::text AS position`,
  );
  if (row === undefined) throw new TypeError('SELECT without FROM returned no row');
  return parseWalPosition(row.position);
}
