import type { Address } from '@chainstead/core';
import { type StateReader, stateAt } from '@chainstead/node-reads';
import { committedBlock } from '@chainstead/node-reads/requests';
import { saveClass } from '../anchored-sums/save-class.ts';
import { findSilentTokens } from '../calls/fetch-balances.ts';
import { TOKEN_CODES } from './balance-questions.ts';

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
