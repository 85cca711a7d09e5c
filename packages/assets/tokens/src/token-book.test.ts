import { addressOf, exampleChain, storeToken } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { readTokenBook, type TokenFacts, UNKNOWN_TOKEN } from './token-book.ts';

const chain = exampleChain();
const scratch = scratchOfFile();

const TOKENS: readonly TokenFacts[] = [
  { ...UNKNOWN_TOKEN, address: addressOf(1), name: 'a\x1e\x1f"\\\u2028é', symbol: '', decimals: 0 },
  { ...UNKNOWN_TOKEN, address: addressOf(2), logo: '+', decimals: 255, verified: true },
  { ...UNKNOWN_TOKEN, address: addressOf(3), possibleSpam: true, isNft: true },
];

test('a book has the facts of tokens as they are stored, on their chain only', async () => {
  for (const { address, name, symbol, decimals, logo, verified, possibleSpam, isNft } of TOKENS)
    await storeToken(scratch.database, chain.id, address, {
      name,
      symbol,
      decimals,
      logo,
      verified,
      possible_spam: possibleSpam,
      standard: isNft ? 'erc721' : null,
    });
  const addresses = [...TOKENS.map(({ address }) => address), addressOf(4)];
  const tokenOf = await readTokenBook(scratch.database, chain, addresses);
  expect(addresses.map(tokenOf)).toEqual([...TOKENS, { ...UNKNOWN_TOKEN, address: addressOf(4) }]);
  const elsewhere = await readTokenBook(scratch.database, { id: chain.id + 1 }, addresses);
  expect(elsewhere(addressOf(2))).toEqual({ ...UNKNOWN_TOKEN, address: addressOf(2) });
});
