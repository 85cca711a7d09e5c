import { fileURLToPath } from 'node:url';
import type { ScratchServer } from '@chainstead/testkit';
import type { BareAptosPlan } from './bare/bare-aptos.ts';
import { BenchmarkError } from './benchmark-error.ts';
import { startChainsteadWith } from './chainstead-program.ts';
import { startProcess } from './measured-process.ts';

/** Versions 0 to `versions` − 1 of a local fullnode. */
export interface AptosPlan {
  readonly server: ScratchServer;
  readonly url: string;
  readonly versions: number;
}

export interface AptosRun {
  /** From the start of the process to its end. */
  readonly seconds: number;
  readonly transactionsPerSecond: number;
  /** Rows in the dataset's tables at the end. */
  readonly rows: number;
}

/** A local fullnode over the repeated corpus. @param work what is done while it serves */
export async function withAptosFullnode<T>(versions: number, work: (url: string) => Promise<T>): Promise<T> {
  const program = fileURLToPath(new URL('./aptos-fullnode.ts', import.meta.url));
  const fullnode = startProcess({ args: [program, String(versions)], env: {} });
  try {
    return await work(await fullnode.line((line) => (line.startsWith('http://') ? line : undefined)));
  } finally {
    await fullnode.stop();
  }
}

/** `chainstead backfill --chain aptos` into a fresh database, as an operator would run it. @throws BenchmarkError */
export async function runAptosBackfill(
  { server, url, versions }: AptosPlan,
  dataset: 'coins' | 'transfers' | 'holders',
  table: string,
): Promise<AptosRun> {
  const scratch = await server.createDatabase();
  try {
    await scratch.database.query('CHECKPOINT');
    const program = startChainsteadWith(['backfill', '--chain', 'aptos', '--from', '0', '--to', String(versions - 1)], {
      DATABASE_URL: scratch.url,
      APTOS_NODE_URL: url,
      APTOS_DATASETS: dataset,
    });
    await program.finished();
    const seconds = program.elapsedMs() / 1_000;
    const [found] = await scratch.database.query<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`);
    const rows = found?.rows ?? 0;
    if (rows === 0) throw new BenchmarkError(`The backfill wrote nothing into ${table}`);
    return { seconds, transactionsPerSecond: versions / seconds, rows };
  } finally {
    await scratch.drop();
  }
}

/** Fetching and parsing the same bytes, and nothing else. */
export async function runBareAptos({ url, versions }: Omit<AptosPlan, 'server'>): Promise<AptosRun> {
  const plan: BareAptosPlan = { url, versions };
  const program = fileURLToPath(new URL('./bare/bare-aptos.ts', import.meta.url));
  const bare = startProcess({ args: [program, JSON.stringify(plan)], env: {} });
  await bare.finished();
  const seconds = bare.elapsedMs() / 1_000;
  return { seconds, transactionsPerSecond: versions / seconds, rows: 0 };
}
