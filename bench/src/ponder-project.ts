import { execFile } from 'node:child_process';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from '@chainstead/db';
import { type BenchNode, freePort, type ScratchDatabase, type ScratchServer } from '@chainstead/testkit';
import { urlsOf } from './bench-chain.ts';
import { BenchmarkError } from './benchmark-error.ts';
import { type MeasuredProcess, startProcess } from './measured-process.ts';

/** The project as it is committed, and where it is installed: its dependencies stay out of the lock file. */
const TEMPLATE = fileURLToPath(new URL('../ponder/', import.meta.url));
const FOLDER = fileURLToPath(new URL('../.ponder/', import.meta.url));
const PROGRAM = join(FOLDER, 'node_modules/ponder/dist/esm/bin/ponder.js');

export interface PonderPlan {
  readonly server: Pick<ScratchServer, 'createDatabase'>;
  readonly node: Pick<BenchNode, 'url'>;
  readonly blocks: number;
  readonly urls: number;
  /** The run is ended after so many seconds. */
  readonly seconds: number;
  /** Folder of the project in `bench/ponder`, its configuration, and further variables. Default: every Transfer of the chain. */
  readonly project?: {
    readonly folder: string;
    readonly config: string;
    readonly env: Readonly<Record<string, string>>;
  };
  /** Looks at the filled database before it is dropped. */
  inspect?(scratch: ScratchDatabase): Promise<void>;
}

/** Schema of Ponder's tables. */
export const PONDER_SCHEMA = 'bench';

/** Returns the number of lines of a file of a project in `bench/ponder`, without empty ones. */
export async function countPonderLines(...path: readonly string[]): Promise<number> {
  const text = await readFile(join(TEMPLATE, ...path), 'utf8');
  return text.split('\n').filter((line) => line.trim() !== '').length;
}

export interface PonderRun {
  /** Whether every block was indexed before the time was over. */
  readonly complete: boolean;
  /** Events that were indexed, and how long that took: from the first call to the last progress. */
  readonly events: number;
  readonly seconds: number;
  readonly eventsPerSecond: number;
  readonly peakMemoryBytes: number;
}

/** Installs the project when it is not there or not of the committed versions. @returns Ponder's version */
export async function installPonder(say: (text: string) => void): Promise<string> {
  await mkdir(FOLDER, { recursive: true });
  const wanted = versionIn(
    JSON.parse(await readFile(join(TEMPLATE, 'package.json'), 'utf8')).dependencies?.ponder,
  );
  await cp(TEMPLATE, FOLDER, { recursive: true });
  if ((await installedVersion()) === wanted) return wanted;
  say('  installing Ponder into bench/.ponder');
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  await promisify(execFile)('npm', install, { cwd: FOLDER });
  return versionIn(await installedVersion());
}

async function installedVersion(): Promise<unknown> {
  try {
    return JSON.parse(await readFile(join(FOLDER, 'node_modules/ponder/package.json'), 'utf8')).version;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

function versionIn(version: unknown): string {
  if (typeof version === 'string') return version;
  throw new BenchmarkError('Ponder has no version: its installation in bench/.ponder is not whole');
}

/**
 * `ponder start` on an empty database. In its favour, its start-up is not counted: time runs from when it is up to the last
 * events that it says it indexed.
 */
export async function runPonder(plan: PonderPlan): Promise<PonderRun> {
  const { server, node, blocks, urls, seconds, project } = plan;
  const scratch = await server.createDatabase();
  await scratch.database.query(sql`CHECKPOINT`);
  const progress = { events: 0, startedAt: 0, lastAt: 0 };
  const ponder = startProcess({
    args: [
      ...[
        PROGRAM,
        'start',
        '--schema',
        PONDER_SCHEMA,
        '--config',
        project?.config ?? 'ponder.config.ts',
        '--log-format',
        'json',
      ],
      ...['--port', String(await freePort())],
    ],
    cwd: project === undefined ? FOLDER : join(FOLDER, project.folder),
    env: {
      PONDER_TELEMETRY_DISABLED: 'true',
      BENCH_DATABASE_URL: scratch.url,
      BENCH_RPC_URLS: urlsOf(node, urls).join(','),
      BENCH_END_BLOCK: String(blocks),
      ...project?.env,
    },
  });
  try {
    ponder.onLine((line) => {
      if (line.includes('"msg":"Started returning 200 responses"')) progress.startedAt ||= ponder.elapsedMs();
      const indexed = /"event_count":(\d+)/.exec(line)?.[1];
      if (indexed === undefined) return;
      progress.events += Number(indexed);
      progress.lastAt = ponder.elapsedMs();
    });
    const complete = await completion(ponder, seconds);
    if (complete) progress.lastAt = ponder.elapsedMs();
    if (progress.events === 0) throw new BenchmarkError(`Ponder indexed nothing in ${seconds} s`);
    await plan.inspect?.(scratch);
    const took = (progress.lastAt - progress.startedAt) / 1_000;
    return {
      complete,
      events: progress.events,
      seconds: took,
      eventsPerSecond: progress.events / took,
      peakMemoryBytes: Math.max(0, ...ponder.memory.map((sample) => sample.bytes)),
    };
  } finally {
    await ponder.stop();
    await scratch.drop();
  }
}

/** @returns whether it was done before the time was over */
async function completion(ponder: MeasuredProcess, seconds: number): Promise<boolean> {
  const enough = new AbortController();
  const done = ponder.line((line) =>
    line.includes('Completed backfill indexing across all chains') ? true : undefined,
  );
  const timeOver = sleep(seconds * 1_000, false, { signal: enough.signal }).catch(() => false);
  try {
    return await Promise.race([done, timeOver]);
  } finally {
    enough.abort();
    // When it is stopped for the time being over, that is no failure of the run.
    done.catch(() => undefined);
  }
}
