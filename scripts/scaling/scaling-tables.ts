import {
  ANSWER_BYTES,
  CHAINS,
  type ChainSize,
  FAST,
  LOCK,
  LOG_BYTES_OF_ROW,
  type LogCost,
  PROVEN,
  ROWS_PER_TRANSFER,
  TRANSFER_BYTES,
  TRANSFERS_PER_LOG,
} from './measured-figures.ts';

const MILLION = 1e6;
const SECONDS_PER_DAY = 86_400;
/** Of the benchmark's chain. */
const LOGS_PER_BLOCK = 100;
const CORES = [2, 4, 8, 16, 32, 64];
/** Transfers a second that nodes give, and blocks a second with all of their receipts. */
const UPSTREAM_RATES = [5_000, 20_000, 100_000];
const BLOCK_RATES = [50, 500];
/** Of a disk, what the tables may take: the rest is for the log, for what is sorted, and for growth. */
const DISK_SHARE = 0.7;
const DISK_TERABYTES = 7.68;

/** What cores give, by kind of backfill. */
export function renderCores(): string {
  const columns = [
    'cores',
    'ingest processes of one chain (fast, proven)',
    'fast, transfers/s',
    'proven, blocks/s',
    'chains at once that use all cores (fast, proven)',
    'read from nodes, fast',
    'written to disk, fast',
  ];
  return renderTable(columns, CORES.map(coresRow));
}

function coresRow(cores: number): string[] {
  const fast = logsPerSecond(cores, FAST);
  const proven = logsPerSecond(cores, PROVEN);
  const disk = fast * TRANSFERS_PER_LOG * (TRANSFER_BYTES + ROWS_PER_TRANSFER * LOG_BYTES_OF_ROW);
  return [
    String(cores),
    `${processesOf(fast, FAST)}, ${processesOf(proven, PROVEN)}`,
    rounded(fast * TRANSFERS_PER_LOG),
    rounded(proven / LOGS_PER_BLOCK),
    `${chainsOf(cores, FAST)}, ${chainsOf(cores, PROVEN)}`,
    `${rounded((fast * ANSWER_BYTES.fast) / MILLION)} MB/s`,
    `${rounded(disk / MILLION)} MB/s`,
  ];
}

/** Where Postgres is on the same machine and nodes are elsewhere: all cores busy, and no more than one commit at a time under the lock. */
export function logsPerSecond(cores: number, cost: LogCost): number {
  return Math.min((cores * MILLION) / (cost.program + cost.postgres), MILLION / LOCK.transfers);
}

/** Cores that the program keeps busy at this rate, of which a process uses one. */
function processesOf(logs: number, { program }: LogCost): number {
  return Math.max(1, Math.ceil((logs * program) / MILLION));
}

/** Each with a lock of its own. */
function chainsOf(cores: number, { program, postgres }: LogCost): number {
  return Math.max(1, Math.round((cores / (program + postgres)) * LOCK.transfers));
}

/** What ends first: each part alone, as if all others cost nothing. */
export function renderParts(): string {
  const alone = (seconds: number): string => rounded((MILLION / seconds) * TRANSFERS_PER_LOG);
  const part = (name: string, fast: number, proven: number, grows: string): string[] => [
    name,
    `${fast.toPrecision(3)}, ${proven.toPrecision(3)}`,
    `${alone(fast)}, ${alone(proven)}`,
    grows,
  ];
  return renderTable(
    ['part', 'seconds for a million logs (fast, proven)', 'transfers/s of one core, or of the one lock', 'grows with'],
    [
      part('the program: read, decode, prove, make rows', FAST.program, PROVEN.program, '`INGEST_PROCESSES`'),
      part(
        'Postgres: copy, indexes, log',
        FAST.postgres,
        PROVEN.postgres,
        'its cores; two copies at a time for each process',
      ),
      part('the node of the benchmark, whose answers are ready', FAST.node, PROVEN.node, 'nodes'),
      part(
        "commits under the chain's lock, transfers",
        LOCK.transfers,
        LOCK.transfers,
        'nothing: one at a time for a chain',
      ),
      part(
        "commits under the chain's lock, everything",
        LOCK.everything,
        LOCK.everything,
        'nothing; another chain has another lock',
      ),
    ],
  );
}

/** Whole chains. */
export function renderChains(): string {
  const all: ChainSize = {
    name: '**all ten**',
    transfers: CHAINS.reduce((sum, { transfers }) => sum + transfers, 0),
    blocks: CHAINS.reduce((sum, { blocks }) => sum + blocks, 0),
    isAssumed: true,
  };
  const columns = [
    'chain',
    'transfers',
    'rows',
    'tables, TB',
    'log written, TB',
    'read from nodes, TB',
    ...UPSTREAM_RATES.map((rate) => `days at ${grouped(rate)} transfers/s`),
    ...BLOCK_RATES.map((rate) => `days of proof at ${grouped(rate)} blocks/s`),
    `disks of ${DISK_TERABYTES} TB`,
  ];
  return renderTable(columns, [...CHAINS, all].map(chainRow));
}

function chainRow({ name, transfers, blocks, isAssumed }: ChainSize): string[] {
  const terabytes = (bytes: number): string => rounded(bytes / 1e12);
  const days = (seconds: number): string => rounded(seconds / SECONDS_PER_DAY);
  const tables = transfers * TRANSFER_BYTES;
  return [
    `${name}${isAssumed ? ' (assumed)' : ''}`,
    `${rounded(transfers / 1e9)} billion`,
    `${rounded((transfers * ROWS_PER_TRANSFER) / 1e9)} billion`,
    terabytes(tables),
    terabytes(transfers * ROWS_PER_TRANSFER * LOG_BYTES_OF_ROW),
    terabytes((transfers / TRANSFERS_PER_LOG) * ANSWER_BYTES.fast),
    ...UPSTREAM_RATES.map((rate) => days(transfers / rate)),
    ...BLOCK_RATES.map((rate) => days(blocks / rate)),
    String(Math.ceil(tables / 1e12 / (DISK_TERABYTES * DISK_SHARE))),
  ];
}

/** Two digits that count. */
function rounded(value: number): string {
  return grouped(Number(value.toPrecision(2)));
}

function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

function renderTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n');
}
