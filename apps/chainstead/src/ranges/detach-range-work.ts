import { chainKeyOf, networkOfChain } from '@chainstead/aptos';
import { type BlockRange, rangeSize } from '@chainstead/core';
import { recordAudit } from '@chainstead/http';
import { type RangeWork, requestRangeJob } from '@chainstead/sync/ingest';
import type { Configuration } from '../configuration/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import { commandActor } from '../session/command-actor.ts';
import type { Invocation } from '../session/command-context.ts';
import { withStorage } from '../session/command-session.ts';
import { readDatabaseConfiguration } from '../session/read-configuration.ts';
import type { BlockRangeOptions } from './block-range-options.ts';
import { writeOutcome } from './range-command.ts';
import { readBlockRanges } from './read-block-ranges.ts';

interface DetachSettings {
  /** Absent: all. */
  readonly dataset?: string | null | undefined;
  /** Throws to queue nothing. Not called for Aptos. */
  readonly confirm?:
    | ((invocation: Invocation<BlockRangeOptions>, ranges: readonly BlockRange[]) => Promise<void>)
    | undefined;
}

export async function detachRangeWork(
  invocation: Invocation<BlockRangeOptions>,
  work: RangeWork,
  { dataset = null, confirm }: DetachSettings = {},
): Promise<void> {
  const { options, command, context } = invocation;
  const ranges = readBlockRanges(options);
  const configuration = readDatabaseConfiguration(command, context);
  const { chain, name } = chainOf(configuration, options.chain);
  if (networkOfChain(options.chain) !== null && work !== 'backfill')
    throw new UsageError(`${work} does not support Aptos`, 'Use "chainstead backfill" for Aptos versions');
  if (networkOfChain(options.chain) === null) await confirm?.(invocation, ranges);
  await withStorage({ configuration, context, name: work }, async ({ database }) => {
    const id = await database.transaction(async (transaction) => {
      const by = commandActor();
      const made = await requestRangeJob(transaction, { chain, work, dataset, ranges, requestedBy: by.id });
      await recordAudit(transaction, by, {
        action: 'job.create',
        target: made,
        details: { work, chain, dataset, ranges },
      });
      return made;
    });
    const blocks = ranges.reduce((sum, range) => sum + rangeSize(range), 0);
    const sentence = `Job ${id}: ${work} of ${blocks} blocks of ${name}. "chainstead jobs list" shows its progress.`;
    writeOutcome(context, sentence, { work, chain: name, job: id, blocks, detached: true });
  });
}

function chainOf(
  { chains, chainRegistry }: Configuration,
  given: string,
): { readonly chain: string; readonly name: string } {
  const network = networkOfChain(given);
  if (network !== null) return { chain: chainKeyOf(network), name: chainKeyOf(network) };
  const known = chainRegistry.find(given);
  const configured = chains.find(({ chain }) => chain.id === known?.id);
  if (configured !== undefined) return { chain: String(configured.chain.id), name: configured.chain.key };
  throw new UsageError(
    `${given} is not in CHAINS, so no ingest process would run the job`,
    'Add it to CHAINS, or run the command without --detach',
  );
}
