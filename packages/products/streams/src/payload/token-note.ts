import type { TokenFacts } from '@chainstead/tokens/token-book';

export interface TokenNote extends Omit<TokenFacts, 'address' | 'isNft'> {
  readonly standard: 'erc20' | 'erc721' | 'erc1155' | null;
}

export const UNKNOWN_TOKEN: TokenNote = {
  name: null,
  symbol: null,
  decimals: null,
  standard: null,
  logo: null,
  possibleSpam: false,
  verified: false,
};
