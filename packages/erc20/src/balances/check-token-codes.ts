/** Finds tokens whose contracts are gone: what was destroyed tells no balance, and emits no event that it is gone. */
import type { Chain } from '@chainstead/chains';
import { type Address, errorText, type Logger } from '@chainstead/core';
import {
  committedBlock,
  type StateQuestions,
  type StateReader,
  StateUnavailableError,
  stateAt,
} from '@chainstead/state';
import { findSilentTokens } from '../calls/ask-balances.ts';
import { TOKEN_CODES, type TokenCodesQuestion } from './balance-questions.ts';
import { saveClass } from './save-class.ts';

/** A shown token is checked this often, whoever holds it. Milliseconds. */
const CHECK_AGAIN_MS = 15_000;
/** Of one chain and process. */
const REMEMBERED_MAX = 100_000;

const checked = new Map<string, number>();

/** Has the contracts of shown tokens checked that were not checked of late. Nobody waits for it: the next response shows the result. */
export async function requestCodeCheck(
  { questions, logger }: { readonly questions: StateQuestions; readonly logger: Logger },
  chain: Chain,
  shown: readonly Address[],
): Promise<void> {
  const now = performance.now();
  const keyOf = (token: Address): string => `${chain.id} ${token}`;
  const tokens = shown.filter(
    (token) => (checked.get(keyOf(token)) ?? Number.NEGATIVE_INFINITY) <= now - CHECK_AGAIN_MS,
  );
  if (tokens.length === 0) return;
  if (checked.size >= REMEMBERED_MAX) checked.clear();
  for (const token of tokens) checked.set(keyOf(token), now);
  try {
    await questions.ask(chain, TOKEN_CODES, { tokens }, { waitMs: 0, maxAgeMs: CHECK_AGAIN_MS });
  } catch (error) {
    if (!(error instanceof StateUnavailableError)) throw error;
    logger.debug({ chain: chain.key, error: errorText(error) }, 'Token contracts could not be checked');
  }
}

/**
 * Reads which tokens have no code at the newest committed block, and keeps that they tell no balance. Only those are read that tell no
 * stranger's balance at two upstreams, so a check of a hundred is one aggregated call.
 */
export const tokenCodes: StateReader<TokenCodesQuestion, { readonly gone: number }> = {
  kind: TOKEN_CODES,
  async read(context, { tokens }, signal) {
    const { chain, pool, database } = context;
    const block = await committedBlock(database, chain);
    if (block === null) return { gone: 0 };
    const silent = [...(await findSilentTokens(context, block, tokens, signal))];
    const codes = await stateAt(pool, chain, block).codes(silent, signal);
    const gone = silent.filter((_, place) => codes[place] === '0x');
    if (gone.length > 0)
      await database.transaction((transaction) =>
        saveClass(transaction, context, 'gone', new Map(gone.map((token) => [token, block.number]))),
      );
    return { gone: gone.length };
  },
};
