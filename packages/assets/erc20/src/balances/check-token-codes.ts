import type { Chain } from '@chainstead/chains';
import { type Address, type Logger, waitingAtMost } from '@chainstead/core';
import { type StateReader, stateAt } from '@chainstead/node-reads';
import { committedBlock, type NodeReadQueue, unlessUnavailable } from '@chainstead/node-reads/requests';
import { saveClass } from '../anchored-sums/save-class.ts';
import { findSilentTokens } from '../calls/fetch-balances.ts';
import { TOKEN_CODES } from './balance-questions.ts';

/** Milliseconds between checks of a token. */
const CHECK_AGAIN_MS = 15_000;
const REMEMBERED_MAX = 100_000;

const checked = new Map<string, number>();

/** Does not wait: the next response shows the result. */
export async function requestCodeCheck(
  { nodeReads, logger }: { readonly nodeReads: NodeReadQueue; readonly logger: Logger },
  chain: Chain,
  shown: readonly Address[],
): Promise<void> {
  const now = performance.now();
  const keyOf = (token: Address): string => `${chain.id} ${token}`;
  const tokens = shown.filter((token) => (checked.get(keyOf(token)) ?? -Infinity) <= now - CHECK_AGAIN_MS);
  if (tokens.length === 0) return;
  if (checked.size >= REMEMBERED_MAX) checked.clear();
  for (const token of tokens) checked.set(keyOf(token), now);
  const read = waitingAtMost(0, () =>
    nodeReads.request(chain, TOKEN_CODES, { tokens }, { maxAgeMs: CHECK_AGAIN_MS }),
  );
  await unlessUnavailable(logger, { message: 'Token contracts could not be checked', chain: chain.key }, read);
}

/** Asks for an unrelated account's balances first: a hundred tokens take one call. */
export const tokenCodes: StateReader<{ readonly tokens: readonly Address[] }, { readonly gone: number }> = {
  kind: TOKEN_CODES,
  async read(context, { tokens }, signal) {
    const { chain, pool, database } = context;
    const block = await committedBlock(database, chain);
    if (block === null) return { gone: 0 };
    const silent = [...(await findSilentTokens(context, block, tokens, signal))];
    const codes = await stateAt(pool, chain, block).codes(silent, signal);
    const gone = silent.filter((_, index) => codes[index] === '0x');
    if (gone.length > 0)
      await database.transaction((transaction) =>
        saveClass(transaction, context, 'gone', new Map(gone.map((token) => [token, block.number]))),
      );
    return { gone: gone.length };
  },
};
