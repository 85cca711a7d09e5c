import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorText, type Logger, restartDelayMs, WELL_AFTER_MS } from '@chainstead/core';
import { type RunningServer, type ServerOptions, startServer } from './postgres-process.ts';
import { isPostgresProcess, readPostmaster } from './postmaster.ts';

/** Restarts with increasing delays, on the same port. */
export function superviseServer(first: RunningServer, options: ServerOptions) {
  const { logger } = options;
  const { port } = first;
  const stopping = new AbortController();
  let current: RunningServer | null = first;

  async function keepRunning(): Promise<void> {
    let endsInARow = 0;
    while (current !== null) {
      const startedAt = performance.now();
      const code = await current.ended;
      if (stopping.signal.aborted) return;
      current = null;
      endsInARow = performance.now() - startedAt >= WELL_AFTER_MS ? 1 : endsInARow + 1;
      const delayMs = restartDelayMs(endsInARow);
      logger.error(
        { exit: code, ends_in_a_row: endsInARow, delay_ms: delayMs },
        'Embedded Postgres exited unexpectedly, restarting it',
      );
      current = await startAgain(delayMs);
      if (stopping.signal.aborted) return current?.stop();
    }
  }

  async function startAgain(firstDelayMs: number): Promise<RunningServer | null> {
    const endedAt = performance.now();
    let delayMs = firstDelayMs;
    for (let attempt = 1; ; attempt += 1) {
      await pause(delayMs, stopping.signal);
      if (stopping.signal.aborted) return null;
      try {
        await clearAway(options.cluster, logger);
        const server = await startServer({ ...options, port, signal: stopping.signal });
        if (server !== 'taken') {
          logger.info(
            { port, outage_ms: Math.round(performance.now() - endedAt) },
            'Embedded Postgres runs again',
          );
          return server;
        }
        logger.warn({ attempt }, 'Another process runs the embedded Postgres, waiting for its end');
      } catch (error) {
        logger.error({ attempt, error: errorText(error) }, 'Embedded Postgres could not be started again');
      }
      delayMs = restartDelayMs(attempt + 1);
    }
  }

  const supervision = keepRunning();
  return {
    port,
    async stop(): Promise<void> {
      stopping.abort();
      await current?.stop();
      await supervision;
    },
  };
}

/** `ref: false` lets the process end meanwhile. */
export async function pause(
  milliseconds: number,
  signal: AbortSignal,
  { ref = true }: { readonly ref?: boolean } = {},
): Promise<void> {
  try {
    await delay(milliseconds, undefined, { ref, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** A stale lock file, or sessions that outlive a killed server, block a restart. */
async function clearAway(cluster: string, logger: Logger): Promise<void> {
  const postmaster = await readPostmaster(cluster);
  if (postmaster !== undefined && (await isPostgresProcess(postmaster.pid))) return;
  for (const pid of await processesIn(cluster)) {
    logger.warn({ pid }, 'Ending a session that outlived its server');
    try {
      process.kill(pid, 'SIGQUIT');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
  if (postmaster !== undefined) await rm(join(cluster, 'postmaster.pid'), { force: true });
}

/** By working folder; empty without /proc. */
async function processesIn(cluster: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const folder = await realpath(cluster);
  const pids: number[] = [];
  for (const entry of await readdir('/proc')) {
    const pid = Number(entry);
    if (Number.isInteger(pid) && (await worksIn(pid, folder))) pids.push(pid);
  }
  return pids;
}

async function worksIn(pid: number, folder: string): Promise<boolean> {
  try {
    if ((await readFile(`/proc/${pid}/comm`, 'utf8')).trim() !== 'postgres') return false;
    return (await readlink(`/proc/${pid}/cwd`)) === folder;
  } catch (error) {
    if (error instanceof Error && 'code' in error && ['ENOENT', 'ESRCH', 'EACCES'].includes(String(error.code)))
      return false;
    throw error;
  }
}
