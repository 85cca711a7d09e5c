/** Judges whether memory and tables stay as they are over time. */
import { type Database, sql } from '@chainstead/db';
import { TABLE_WRITES } from '@chainstead/db/table-writes';

/** The program and its tables at one moment. Bytes. */
export interface Sample {
  readonly seconds: number;
  /** Resident memory of each role's process. */
  readonly memory: ReadonlyMap<string, number>;
  readonly tables: readonly TableSize[];
}

export interface TableSize {
  readonly name: string;
  /** Rows, as Postgres estimates them. */
  readonly live: number;
  readonly dead: number;
  /** Size of the table and its indexes. */
  readonly bytes: number;
}

export interface Verdict {
  readonly text: string;
  /** Null: the soak is too short to judge it. */
  readonly passed: boolean | null;
}

/** Before that, caches fill and code is compiled. A part is shorter than the time between two large garbage collections. */
const SECONDS_MIN = 900;
const SAMPLES_MIN = 10;
/** The last fifth against the second. */
const RATIO_MAX = 1.1;
/** By live rows: the share at which autovacuum starts, and what is added during its work. */
const DEAD_SHARE_MAX = 0.35;
/** Smaller tables are never bloated. Bytes. */
const SMALL_TABLE = 4 * 1_024 * 1_024;
const MEGABYTE = 1_048_576;

/** Reads the resident memory of each role from the text of `/metrics`. */
export function memoryInMetrics(text: string): Map<string, number> {
  const lines = text.matchAll(/^process_resident_memory_bytes\{[^}]*role="([a-z]+)"[^}]*\} (\S+)/gm);
  return new Map([...lines].map(([, role = '', value]) => [role, Number(value)]));
}

/** Reads the size of every table. Partitions count with their parent. */
export async function readTables(database: Database): Promise<TableSize[]> {
  return database.query<TableSize & Record<string, unknown>>(
    sql`SELECT coalesce(pg_partition_root(relid)::regclass::text, relname) AS name, sum(n_live_tup)::bigint AS live,
       sum(n_dead_tup)::bigint AS dead, sum(pg_table_size(relid) + pg_indexes_size(relid))::bigint AS bytes
     FROM pg_stat_user_tables WHERE schemaname = 'public' GROUP BY 1 ORDER BY 1`,
  );
}

/** A verdict for each role's memory and each large table. */
export function judgeTrends(samples: readonly Sample[]): Verdict[] {
  const last = samples.at(-1);
  if (last === undefined || last.seconds < SECONDS_MIN - 1 || samples.length < SAMPLES_MIN)
    return [{ text: `memory and tables: judged from ${SECONDS_MIN / 60} minutes on`, passed: null }];
  const roles = [...last.memory.keys()];
  const large = last.tables.filter(({ bytes }) => bytes >= SMALL_TABLE).map(({ name }) => name);
  return [
    ...roles.map((role) => judgeMemory(samples, role)),
    ...large.flatMap((name) => judgeTable(samples, name)),
  ];
}

/** Garbage makes a saw of memory, and a machine short of it takes pages away: only the highest values are compared. */
function judgeMemory(samples: readonly Sample[], role: string): Verdict {
  const values = samples.flatMap(({ memory }) => memory.get(role) ?? []);
  const [early, late] = [Math.max(...fifth(values, 1)), Math.max(...fifth(values, 4))];
  return {
    text: `memory of ${role}: ${toMegabytes(early)} → ${toMegabytes(late)} MB (at most × ${RATIO_MAX})`,
    passed: late <= early * RATIO_MAX,
  };
}

function judgeTable(samples: readonly Sample[], name: string): Verdict[] {
  const sizes = samples.flatMap(({ tables }) => tables.filter((table) => table.name === name));
  const [early, late] = ([1, 4] as const).map((part) => mean(fifth(sizes, part).map(bytesPerRow))) as [
    number,
    number,
  ];
  const dead = mean(fifth(sizes, 4).map((size) => size.dead / Math.max(1, size.live)));
  const size: Verdict = {
    text: `bytes per row of ${name}: ${early.toFixed(0)} → ${late.toFixed(0)} (at most × ${RATIO_MAX})`,
    passed: late <= early * RATIO_MAX,
  };
  if (TABLE_WRITES[name] === 'append') return [size];
  const text = `dead rows of ${name}: ${percent(dead)} of the live ones (at most ${percent(DEAD_SHARE_MAX)})`;
  return [size, { text, passed: dead <= DEAD_SHARE_MAX }];
}

function bytesPerRow({ bytes, live }: TableSize): number {
  return bytes / Math.max(1, live);
}

/** One of five parts of equal length, from 0. */
function fifth<T>(values: readonly T[], part: number): readonly T[] {
  return values.slice(Math.floor((values.length * part) / 5), Math.floor((values.length * (part + 1)) / 5));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function toMegabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(0);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
