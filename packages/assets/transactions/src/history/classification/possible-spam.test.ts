import { expect, test } from 'vitest';
import { APES, BOB, coin, DAI, exampleCase, ME, nft, token, USDC } from '../testing/example-case.ts';
import { isPossibleSpam, type WalletTransaction } from './classification-features.ts';

const byOthers = { from: BOB } as const;
const isFlagged = (address: string) => address === DAI || address === APES;

test.each<readonly [what: string, given: Partial<WalletTransaction>, isSpam: boolean]>([
  ['a flagged token from others', { ...byOthers, tokens: [token(DAI, BOB, ME)] }, true],
  ['a flagged NFT from others', { ...byOthers, nfts: [nft(APES, BOB, ME)] }, true],
  ['a transfer of nothing in the wallet’s name', { ...byOthers, tokens: [token(USDC, ME, BOB, 0n)] }, true],
  ['both', { ...byOthers, tokens: [token(USDC, ME, BOB, 0n)], nfts: [nft(APES, BOB, ME)] }, true],
  ['sent by the wallet', { tokens: [token(DAI, BOB, ME)] }, false],
  [
    'with something that is not flagged',
    { ...byOthers, tokens: [token(DAI, BOB, ME), token(USDC, BOB, ME)] },
    false,
  ],
  ['with coins', { ...byOthers, tokens: [token(DAI, BOB, ME)], coins: [coin(BOB, ME)] }, false],
  ['an NFT that is not flagged', { ...byOthers, nfts: [nft(USDC, BOB, ME)] }, false],
  ['nothing', byOthers, false],
])('%s', (_what, given, isSpam) => {
  expect(isPossibleSpam(exampleCase(given), isFlagged)).toBe(isSpam);
});
