import { recordAudit } from '@chainstead/http';
import { requestTokenFacts } from '@chainstead/tokens/requests';
import { writeOutcome } from '../ranges/range-command.ts';
import { withStoredChains } from '../session/chain-session.ts';
import type { Invocation } from '../session/command-context.ts';
import { commandActor } from '../session/command-session.ts';
import { readAddress, readChain } from '../session/option-values.ts';
import { withFoundDatabase } from '../session/with-database.ts';

export async function refreshTokenFacts(
  invocation: Invocation<{ readonly chain: string }>,
  given: readonly string[],
): Promise<void> {
  const { options, context } = invocation;
  const addresses = [...new Set(given.map((text) => readAddress(text)))];
  await withFoundDatabase(invocation, 'tokens', async ({ database }, configuration) => {
    const chain = readChain(await withStoredChains(database, configuration), options.chain);
    const queued = await database.transaction(async (transaction) => {
      const due = await requestTokenFacts(transaction, chain.id, addresses);
      await recordAudit(transaction, commandActor(), {
        action: 'tokens.refresh',
        target: chain.key,
        details: { tokens: due },
      });
      return due;
    });
    const unknown = addresses.filter((address) => !queued.includes(address));
    const rest = unknown.length === 0 ? '' : ` Not stored as a token: ${unknown.join(', ')}.`;
    writeOutcome(context, `Queued ${queued.length} of ${addresses.length} tokens to be read again.${rest}`, {
      work: 'tokens refresh',
      queued: queued.length,
      unknown,
      finished: true,
    });
  });
}
