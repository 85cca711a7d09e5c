import { chainKeyOf, networkOfChain } from '@chainstead/aptos';
import { rangeSize } from '@chainstead/core';
import { recordAudit } from '@chainstead/http';
import { type RangeWork, requestRangeJob } from '@chainstead/sync';
import type { Command } from 'commander';
import type { BlockRangeOptions } from './block-range-options.ts';
import { commandActor } from './command-actor.ts';
import type { CommandContext } from './command-context.ts';
import { withStorage } from './command-session.ts';
import type { Configuration } from './configuration/index.ts';
import { writeOutcome } from './range-command.ts';
import { readBlockRanges } from './read-block-ranges.ts';
import { readDatabaseConfiguration } from './read-configuration.ts';
import { UsageError } from './usage-error.ts';

export interface DetachedWork {
  readonly work: RangeWork;
  readonly dataset: string | null;
  readonly options: BlockRangeOptions;
  readonly command: Command;
  readonly context: CommandContext;
}

/** Leaves work on ranges to a process of the role `ingest`, and says what the job is called. Asks no node. */
export async function detachRangeWork({ work, dataset, options, command, context }: DetachedWork): Promise<void> {
  const ranges = readBlockRanges(options);
  const configuration = readDatabaseConfiguration(command, context);
  const { chain, name } = chainOf(configuration, options.chain);
  if (networkOfChain(options.chain) !== null && work !== 'backfill')
    throw new UsageError(`${work} is not for Aptos`, 'Its versions can be filled in: "chainstead backfill"');
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
    writeOutcome(
      context,
      `Job ${id}: ${work} of ${blocks} blocks of ${name}. "chainstead jobs list" shows how far it is.`,
      {
        work,
        chain: name,
        job: id,
        blocks,
        detached: true,
      },
    );
  });
}

/** As jobs name it, and as people do. */
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
    `${given} is not a chain of CHAINS, so no process of the role ingest would take the job`,
    'Add it to CHAINS, or run the command without --detach',
  );
}
