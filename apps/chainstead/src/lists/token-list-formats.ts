import { z } from 'zod';
import { fields, type TokenListEntry } from './list-entry.ts';
import { isArrayOf, isCsvWith, isRecordOf, type ListFormat, listedItems } from './list-format.ts';

const ADDRESS_KEY = /^0x[0-9a-f]{40}$/i;
const tokenItem = z.looseObject({ address: z.unknown(), symbol: z.unknown(), decimals: z.unknown() });

function tokenEntry(chainId: number): z.ZodType<TokenListEntry> {
  return z
    .object({
      address: fields.address,
      chainId: chainId === 0 ? fields.chainId : fields.chainId.default(chainId),
      name: fields.name,
      symbol: fields.symbol,
      decimals: fields.decimals,
      logoURI: fields.logo,
    })
    .transform(({ logoURI, ...entry }) => ({ ...entry, logo: logoURI }));
}

const publishedTokenList: ListFormat<TokenListEntry> = {
  name: 'token list',
  matches: (content) => isTokenList(content) && isArrayOf(content.tokens, tokenItem),
  items: (content) => (isTokenList(content) ? content.tokens : []),
  chainId: 0,
  entry: tokenEntry,
};

function isTokenList(content: unknown): content is { tokens: readonly unknown[] } {
  return z.looseObject({ tokens: z.array(z.unknown()) }).safeParse(content).success;
}

const tokenArray: ListFormat<TokenListEntry> = {
  name: 'token array',
  matches: (content) => isArrayOf(content, tokenItem),
  items: listedItems,
  chainId: 0,
  entry: tokenEntry,
};

/** contract-map.json of Ethereum mainnet. Its logos are file names. */
const contractMap: ListFormat<TokenListEntry> = {
  name: 'MetaMask contract map',
  matches: (content) => isRecordOf(content, ADDRESS_KEY, z.looseObject({ name: z.string(), logo: z.string() })),
  items: (content) => Object.entries(Object(content)).map(([address, facts]) => ({ ...Object(facts), address })),
  chainId: 1,
  entry: (chainId) =>
    z
      .object({
        address: fields.address,
        erc20: z.literal(true, { error: 'not an ERC-20 token' }),
        name: fields.name,
        symbol: fields.symbol,
        decimals: fields.decimals,
        logo: fields.logo,
      })
      .transform(({ erc20: _erc20, ...entry }) => ({ ...entry, chainId })),
};

const explorerTokens: ListFormat<TokenListEntry> = {
  name: 'explorer tokens (CSV)',
  matches: (content) => isCsvWith(content, 'contract address', 'token name'),
  items: listedItems,
  chainId: null,
  entry: (chainId) =>
    z.object({ 'contract address': fields.address, 'token name': fields.name }).transform((row) => {
      const parts = /^(.*\S)\s*\(([^()]+)\)$/.exec(row['token name'] ?? '');
      return {
        address: row['contract address'],
        chainId,
        name: parts?.[1] ?? row['token name'],
        symbol: parts?.[2] ?? null,
        decimals: null,
        logo: null,
      };
    }),
};

export const tokenListFormats: readonly ListFormat<TokenListEntry>[] = [
  publishedTokenList,
  tokenArray,
  contractMap,
  explorerTokens,
];
