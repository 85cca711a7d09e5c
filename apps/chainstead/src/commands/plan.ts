import { networkOfChain } from '@chainstead/aptos/ledger-info';
import { createMetricsRegistry } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { obstacleOf, planMigrations } from '@chainstead/db/server';
import { UsageError } from '../errors/usage-error.ts';
import { type HistoryPlan, makePlan } from '../plan/make-plan.ts';
import { parseBound, planJson, renderPlan, resolveBounds } from '../plan/plan-text.ts';
import type { Invocation, JsonOption } from '../session/command-context.ts';
import { type CommandSession, commandLogger } from '../session/command-session.ts';
import { readChainConfiguration } from '../session/read-configuration.ts';
import { createSignerProcesses } from '../session/signer-processes.ts';
import { hasDatabase, openStorage, type Storage } from '../session/storage.ts';
import { openPool } from '../session/upstream-pools.ts';
import { writeShown } from '../session/with-database.ts';

interface PlanCommandOptions extends JsonOption {
  readonly chain: string;
  readonly from: string;
  readonly to?: string;
}

/** Uses the database if one of this version exists, for the size of its rows and the blocks that are indexed. */
export async function showPlan(invocation: Invocation<PlanCommandOptions>): Promise<void> {
  const { options, command, context } = invocation;
  if (networkOfChain(options.chain) !== null)
    throw new UsageError('plan does not support Aptos', 'Use an EVM chain of CHAINS');
  const bounds = {
    from: parseBound('--from', options.from),
    to: options.to === undefined ? null : parseBound('--to', options.to),
  };
  const { configuration, configured } = readChainConfiguration(options.chain, command, context);
  const { clock, stopSignal: signal } = context;
  const logger = commandLogger(configuration, context);
  const pool = openPool(configured, { logger, metrics: createMetricsRegistry(), clock });
  const signers = createSignerProcesses();
  const plan = async (database: Database | null): Promise<HistoryPlan> => {
    const range = await resolveBounds({ chain: configured.chain, pool }, bounds, signal);
    const shared = { configuration, configured, pool, clock, logger, recoverSigners: signers.recover };
    return makePlan({ ...shared, database }, [range], signal);
  };
  try {
    await pool.start();
    const made = await withCurrentDatabase({ configuration, context }, plan);
    writeShown(invocation, planJson(made), renderPlan(made));
  } finally {
    await Promise.all([pool.close(), signers.close()]);
  }
}

/** Null if none exists, or none of this version that can be reached: the reason goes to stderr. Changes no schema. */
async function withCurrentDatabase<T>(
  { configuration, context }: Pick<CommandSession, 'configuration' | 'context'>,
  work: (database: Database | null) => Promise<T>,
): Promise<T> {
  if (!(await hasDatabase(configuration.database))) return work(null);
  const options = {
    ...{ configuration: configuration.database, logger: commandLogger(configuration, context) },
    ...{ applicationName: 'chainstead plan', leavesSchema: true, isQuiet: true },
  };
  let storage: Storage | null = null;
  try {
    let problem: string | null;
    try {
      storage = await openStorage(options);
      const { pending } = await planMigrations(storage.database);
      problem =
        pending.length === 0 ? null : `${pending.length} migrations of this version are not applied to it`;
    } catch (error) {
      problem = obstacleOf(error).message;
    }
    if (problem !== null) context.stderr.write(`Planning without the database: ${problem}.\n`);
    return await work(problem === null && storage !== null ? storage.database : null);
  } finally {
    await storage?.close();
  }
}
