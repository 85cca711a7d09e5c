import { networkOfChain } from '@chainstead/aptos/network';
import { createMetricsRegistry } from '@chainstead/core';
import { hasCluster } from '@chainstead/db/server';
import { UsageError } from '../errors/usage-error.ts';
import { type HistoryPlan, makePlan } from '../plan/make-plan.ts';
import { planJson, renderPlan } from '../plan/plan-text.ts';
import { parseBound, resolveBounds } from '../plan/read-bounds.ts';
import type { Invocation, JsonOption } from '../session/command-context.ts';
import { commandLogger, withStorage } from '../session/command-session.ts';
import { readChainConfiguration } from '../session/read-configuration.ts';
import { createSignerProcesses } from '../session/signer-processes.ts';
import { openPool } from '../session/upstream-pools.ts';
import { writeShown } from '../session/with-database.ts';

interface PlanCommandOptions extends JsonOption {
  readonly chain: string;
  readonly from: string;
  readonly to?: string;
}

/** Uses the database if one exists, for the size of its rows and the blocks that are indexed. */
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
  const plan = async (database: Parameters<typeof makePlan>[0]['database']): Promise<HistoryPlan> => {
    const range = await resolveBounds({ chain: configured.chain, pool }, bounds, signal);
    const shared = { configuration, configured, pool, clock, logger, recoverSigners: signers.recover };
    return makePlan({ ...shared, database }, [range], signal);
  };
  try {
    await pool.start();
    const { url, dataDirectory } = configuration.database;
    const hasDatabase = url !== null || (await hasCluster(dataDirectory));
    const made = hasDatabase
      ? await withStorage({ configuration, context, name: 'plan' }, ({ database }) => plan(database))
      : await plan(null);
    writeShown(invocation, planJson(made), renderPlan(made));
  } finally {
    await Promise.all([pool.close(), signers.close()]);
  }
}
