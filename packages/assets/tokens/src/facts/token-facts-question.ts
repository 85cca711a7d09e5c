import type { Chain } from '@chainstead/chains';
import { type Address, isAddress, parseAddress } from '@chainstead/core';
import type { StateKind } from '@chainstead/node-reads';
import { type AskOptions, fetchInParts, type ReadingContext } from '@chainstead/node-reads/requests';
import { z } from 'zod';

export interface TokensQuestion {
  items: string[];
}

export const tokensQuestionSchema = z.object({ items: z.array(z.string().refine(isAddress)).min(1) });

const answerSchema = z.array(
  z.object({
    address: z.string(),
    name: z.string().nullable(),
    symbol: z.string().nullable(),
    decimals: z.int().nullable(),
    /** erc20, erc721, erc1155; null: not a token. */
    standard: z.string().nullable(),
    total_supply: z.string().nullable(),
  }),
);
export type TokenFactsAnswer = z.infer<typeof answerSchema>;

export const tokenFactsKind: StateKind<TokensQuestion, TokenFactsAnswer> = {
  name: 'token-facts',
  question: tokensQuestionSchema,
  answer: answerSchema,
  isFruitless: (tokens) => tokens.every(({ total_supply }) => total_supply === null),
};

type ReportedToken = Omit<TokenFactsAnswer[number], 'address'>;

/** Waits for reads. The results are also in `tokens`, and include addresses without a token. */
export async function readTokenFacts(
  context: ReadingContext,
  chain: Chain,
  { addresses, ...options }: AskOptions & { readonly addresses: readonly Address[] },
): Promise<ReadonlyMap<Address, ReportedToken>> {
  const answers = await fetchInParts(context, chain, tokenFactsKind, { ...options, items: addresses });
  return new Map(answers.flat().map(({ address, ...reported }) => [parseAddress(address), reported]));
}
