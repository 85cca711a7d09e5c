export interface TokenNote {
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly standard: 'erc20' | 'erc721' | 'erc1155' | null;
  readonly logo: string | null;
  readonly possibleSpam: boolean;
  readonly verified: boolean;
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
