import { z } from 'zod';
import {
  fields,
  isArrayOf,
  isCsvWith,
  isRecordOf,
  type ListFormat,
  listedItems,
  type SpamEntry,
  type TokenListEntry,
} from './list-entry.ts';

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

const entryOf = (chainId: number): z.ZodType<SpamEntry> =>
  z.object({ address: fields.address, reason: fields.label }).transform((entry) => ({ ...entry, chainId }));

/** Scammers use one account on every chain. */
const EVERY_CHAIN = 0;

const addressArray: ListFormat<SpamEntry> = {
  name: 'address array',
  matches: (content) => isArrayOf(content, z.string()),
  items: (content) => (Array.isArray(content) ? content.map((address) => ({ address })) : []),
  chainId: EVERY_CHAIN,
  entry: entryOf,
};

/** `{ domains: [...], address: ["0x…"] }` */
const dailyArchive: ListFormat<SpamEntry> = {
  name: 'ScamSniffer archive day',
  matches: (content) => day.safeParse(content).success,
  items: (content) => (day.safeParse(content).data?.address ?? []).map((address) => ({ address })),
  chainId: EVERY_CHAIN,
  entry: entryOf,
};

const day = z.looseObject({ domains: z.array(z.unknown()), address: z.array(z.unknown()) });

const byDomain: ListFormat<SpamEntry> = {
  name: 'addresses by domain',
  matches: (content) => isRecordOf(content, /[.]/, z.array(z.string())),
  items: (content) =>
    Object.entries(Object(content)).flatMap(([domain, addresses]) =>
      (Array.isArray(addresses) ? addresses : []).map((address: unknown) => ({ address, reason: domain })),
    ),
  chainId: EVERY_CHAIN,
  entry: entryOf,
};

/** Forta's names for address and reason. */
const ADDRESS_COLUMNS = ['banned_address', 'contract_address', 'address'];
const REASON_COLUMNS = ['wallet_tag', 'contract_tag', 'etherscan_tag', 'reason', 'notes'];

const labelledTable: ListFormat<SpamEntry> = {
  name: 'labelled addresses (CSV)',
  matches: (content) => ADDRESS_COLUMNS.some((column) => isCsvWith(content, column)),
  items: (content) =>
    (Array.isArray(content) ? content : []).map((row: Readonly<Record<string, string>>) => ({
      address: ADDRESS_COLUMNS.map((column) => row[column]).find((text) => text !== undefined),
      reason: REASON_COLUMNS.map((column) => row[column]).find((text) => text !== undefined && text !== ''),
    })),
  chainId: EVERY_CHAIN,
  entry: entryOf,
};

export const spamFormats: readonly ListFormat<SpamEntry>[] = [
  addressArray,
  dailyArchive,
  byDomain,
  labelledTable,
];
