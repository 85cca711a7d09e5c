import { isAddress, parseAddress } from '@chainstead/core';
import { recordAudit } from '@chainstead/http';
import { applyReviews, isCalledSpam, type ReviewSelection, readReviews } from '@chainstead/tokens';
import type { Command } from 'commander';
import { commandActor } from '../command-actor.ts';
import type { CommandContext } from '../command-context.ts';
import { withStorage } from '../command-session.ts';
import type { Configuration } from '../configuration/index.ts';
import { findDatabase } from '../find-database.ts';
import { writeOutcome } from '../range-command.ts';
import { readDatabaseConfiguration } from '../read-configuration.ts';
import { renderTable } from '../text-table.ts';
import { UsageError } from '../usage-error.ts';

interface ChainOption {
  readonly chain?: string;
}

/** Of a reason in the table, which clients write. */
const REASON_LENGTH_MAX = 60;

/** Lists contracts that clients reported. */
export async function listReviews(
  options: ChainOption & { readonly json?: boolean },
  command: Command,
  context: CommandContext,
): Promise<void> {
  const configuration = await findDatabase(readDatabaseConfiguration(command, context), context);
  const selection = selectionOf([], options, configuration);
  await withStorage({ configuration, context, name: 'reviews' }, async ({ database }) => {
    const reviewed = await readReviews(database, selection);
    const shown = reviewed.map((contract) => ({
      chain: configuration.chainRegistry.find(contract.chainId)?.key ?? String(contract.chainId),
      address: contract.address,
      contract_types: contract.contractTypes,
      spam: contract.spam,
      not_spam: contract.notSpam,
      verdict: isCalledSpam(contract) ? 'spam' : 'not spam',
      waits: contract.isWaiting,
      marked: contract.isListed,
      reason: contract.reason,
      reported_at: contract.reportedAt.toISOString(),
    }));
    if (options.json === true) {
      context.stdout.write(`${JSON.stringify(shown)}\n`);
      return;
    }
    const header = ['chain', 'contract', 'spam', 'not spam', 'applied', 'marked', 'newest reason'];
    const rows = shown.map((contract) => [
      contract.chain,
      contract.address,
      contract.spam,
      contract.not_spam,
      contract.waits ? 'waits' : 'yes',
      contract.marked ? 'yes' : 'no',
      contract.reason.slice(0, REASON_LENGTH_MAX),
    ]);
    context.stdout.write(renderTable(header, rows));
  });
}

/** Makes reports take effect. */
export async function applyReported(
  contracts: readonly string[],
  options: ChainOption,
  command: Command,
  context: CommandContext,
): Promise<void> {
  const configuration = await findDatabase(readDatabaseConfiguration(command, context), context);
  const selection = selectionOf(contracts, options, configuration);
  await withStorage({ configuration, context, name: 'reviews' }, async ({ database }) => {
    const applied = await database.transaction(async (transaction) => {
      const told = await applyReviews(transaction, selection);
      await recordAudit(transaction, commandActor(), {
        action: 'reviews.apply',
        target: options.chain ?? 'every chain',
        details: { contracts, spam: told.spam, not_spam: told.notSpam },
      });
      return told;
    });
    writeOutcome(
      context,
      `Applied the reviews of ${applied.spam + applied.notSpam} contracts: ${applied.spam} are spam by them, ${applied.notSpam} are not.`,
      { work: 'reviews apply', spam: applied.spam, not_spam: applied.notSpam, finished: true },
    );
  });
}

/** @throws UsageError */
function selectionOf(
  contracts: readonly string[],
  { chain }: ChainOption,
  { chainRegistry }: Pick<Configuration, 'chainRegistry'>,
): ReviewSelection {
  const wrong = contracts.find((text) => !isAddress(text));
  if (wrong !== undefined) throw new UsageError(`${wrong} is not an address`, 'Give 0x and 40 hexadecimal digits');
  const id = chain === undefined ? null : chainRegistry.find(chain)?.id;
  if (id === undefined) throw new UsageError(`--chain ${chain} is not a known chain`, 'Give its name or its id');
  return { chainId: id, addresses: contracts.length === 0 ? null : contracts.map((text) => parseAddress(text)) };
}
