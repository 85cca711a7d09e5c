import { type Clock, createLogger, createMetricsRegistry, type Logger } from '@chainstead/core';
import type { CallLimits } from '@chainstead/rpc';
import { createSyncMetrics, type RangeCommandOptions } from '@chainstead/sync';
import type { CommandContext } from './command-context.ts';
import type { ChainConfiguration, Configuration } from './configuration/index.ts';
import { createSignerProcesses } from './signer-processes.ts';
import { openStorage, type Storage } from './storage.ts';
import { openPool } from './upstream-pools.ts';

/** A logger for commands whose output is a result: it writes to the error output, and says less than the servers. */
export function commandLogger(configuration: Configuration, context: CommandContext): Logger {
  return createLogger({
    level: configuration.logLevel === 'info' ? 'warn' : configuration.logLevel,
    destination: { write: (line) => context.stderr.write(line) },
  });
}

export interface CommandSession {
  readonly configuration: Configuration;
  readonly context: CommandContext;
  /** Of the command, for `pg_stat_activity`: `gaps`. */
  readonly name: string;
}

/** Opens the database for one piece of work and closes it afterwards. */
export async function withStorage<T>(session: CommandSession, work: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = await openStorage({
    configuration: session.configuration.database,
    applicationName: `chainstead ${session.name}`,
    logger: commandLogger(session.configuration, session.context),
  });
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

/** What the sync engine's commands need besides ranges and progress. */
export type ChainWork = Omit<RangeCommandOptions, 'onProgress'> & { readonly clock: Clock };

export interface ChainSession extends CommandSession {
  readonly configured: ChainConfiguration;
  /** Limits of upstreams that are shared with other processes. @default those of this process alone */
  readonly callLimits?: CallLimits | undefined;
}

/** Opens the database and a chain's upstreams for one piece of work, side by side, and closes both afterwards. */
export async function withChain<T>(
  session: ChainSession,
  work: (chain: ChainWork, storage: Storage) => Promise<T>,
): Promise<T> {
  const { configured, configuration, context, callLimits } = session;
  const logger = commandLogger(configuration, context);
  const registry = createMetricsRegistry();
  const pool = openPool(configured, { logger, metrics: registry, clock: context.clock, callLimits });
  const signers = createSignerProcesses();
  const started = pool.start();
  // Nobody asks for it where the database can't be opened: it must not count as an unhandled rejection then.
  started.catch(() => undefined);
  try {
    return await withStorage(session, async (storage) => {
      await started;
      const chain: ChainWork = {
        chain: configured.chain,
        pool,
        database: storage.database,
        datasets: configuration.datasets,
        logger,
        metrics: createSyncMetrics(registry),
        clock: context.clock,
        proof: configured.proof,
        backfillProof: configured.backfillProof,
        keep: configured.keep,
        recoverSigners: signers.recover,
      };
      return await work(chain, storage);
    });
  } finally {
    await pool.close();
    await signers.close();
  }
}
