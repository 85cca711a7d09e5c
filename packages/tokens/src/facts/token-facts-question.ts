import type { Chain } from '@chainstead/chains';
import { type Address, isAddress, parseAddress } from '@chainstead/core';
import { type AskOptions, fetchInParts, type ReadingContext, type StateKind } from '@chainstead/node-reads';
import { z } from 'zod';

export interface TokensQuestion {
  items: string[];
}

/** Addresses in one order, as every question about tokens has them. */
export const tokensQuestionSchema = z.object({ items: z.array(z.string().refine(isAddress)).min(1) });

const answerSchema = z.array(
  z.object({
    address: z.string(),
    name: z.string().nullable(),
    symbol: z.string().nullable(),
    decimals: z.int().nullable(),
    /** erc20, erc721, erc1155; null: nothing answers there as a token does. */
    standard: z.string().nullable(),
    /** Base units. */
    total_supply: z.string().nullable(),
  }),
);
export type TokenFactsAnswer = z.infer<typeof answerSchema>;

/** Current facts of contracts, including their supply. Results are stored in `tokens`. */
export const tokenFactsKind: StateKind<TokensQuestion, TokenFactsAnswer> = {
  name: 'token-facts',
  question: tokensQuestionSchema,
  answer: answerSchema,
  isFruitless: (tokens) => tokens.every(({ total_supply }) => total_supply === null),
};

/** Facts of a contract; all null if it is no token. */
export type ReportedToken = Omit<TokenFactsAnswer[number], 'address'>;

/**
 * Queues readings of contracts, and waits for them. The results are in `tokens` then.
 * @returns what came in time; addresses that are no tokens are in it too
 */
export async function readTokenFacts(
  context: ReadingContext,
  chain: Chain,
  { addresses, ...options }: AskOptions & { readonly addresses: readonly Address[] },
): Promise<ReadonlyMap<Address, ReportedToken>> {
  const answers = await fetchInParts(context, chain, tokenFactsKind, { ...options, items: addresses });
  return new Map(answers.flat().map(({ address, ...reported }) => [parseAddress(address), reported]));
}
