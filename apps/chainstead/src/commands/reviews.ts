import { recordAudit } from '@chainstead/http';
import { applyReviews, isCalledSpam, type ReviewSelection, readReviews } from '@chainstead/tokens';
import type { Configuration } from '../configuration/index.ts';
import { writeOutcome } from '../ranges/range-command.ts';
import { withStoredChains } from '../session/chain-session.ts';
import type { Invocation, JsonOption } from '../session/command-context.ts';
import { commandActor } from '../session/command-session.ts';
import { readAddress, readChain } from '../session/option-values.ts';
import { withFoundDatabase, writeShown } from '../session/with-database.ts';
import { renderTable } from '../text/text-table.ts';

interface ChainOption {
  readonly chain?: string;
}

const REASON_LENGTH_MAX = 60;

export async function listReviews(invocation: Invocation<ChainOption & JsonOption>): Promise<void> {
  const { options } = invocation;
  await withFoundDatabase(invocation, 'reviews', async ({ database }, configuration) => {
    const stored = await withStoredChains(database, configuration);
    const reviewed = await readReviews(database, selectionOf([], options, stored));
    const shown = reviewed.map((contract) => ({
      chain: stored.chainRegistry.find(contract.chainId)?.key ?? String(contract.chainId),
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
    writeShown(invocation, shown, renderTable(header, rows));
  });
}

export async function applyReported(
  invocation: Invocation<ChainOption>,
  contracts: readonly string[],
): Promise<void> {
  const { options, context } = invocation;
  await withFoundDatabase(invocation, 'reviews', async ({ database }, configuration) => {
    const selection = selectionOf(contracts, options, await withStoredChains(database, configuration));
    const applied = await database.transaction(async (transaction) => {
      const reported = await applyReviews(transaction, selection);
      await recordAudit(transaction, commandActor(), {
        action: 'reviews.apply',
        target: options.chain ?? 'every chain',
        details: { contracts, spam: reported.spam, not_spam: reported.notSpam },
      });
      return reported;
    });
    writeOutcome(
      context,
      `Applied the reviews of ${applied.spam + applied.notSpam} contracts: ${applied.spam} marked as spam, ${applied.notSpam} not spam.`,
      { work: 'reviews apply', spam: applied.spam, not_spam: applied.notSpam, finished: true },
    );
  });
}

function selectionOf(
  contracts: readonly string[],
  { chain }: ChainOption,
  configuration: Pick<Configuration, 'chainRegistry'>,
): ReviewSelection {
  const addresses = contracts.map((text) => readAddress(text));
  const chainId = chain === undefined ? null : readChain(configuration, chain).id;
  return { chainId, addresses: addresses.length === 0 ? null : addresses };
}
