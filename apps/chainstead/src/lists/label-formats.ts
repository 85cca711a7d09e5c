import { readCollectionFields } from '@chainstead/nft';
import { z } from 'zod';
import {
  type ChainNamed,
  type CollectionListEntry,
  fields,
  isArrayOf,
  isCsvWith,
  isRecordOf,
  type LabelListEntry,
  type ListFormat,
  listedItems,
} from './list-entry.ts';

const ADDRESS_KEY = /^0x[0-9a-f]{40}$/i;
const NO_LABEL = 'neither label nor entity';

const named = ({ label, entity }: LabelListEntry): boolean => label !== null || entity !== null;

/** `[{ address, label, entity, entity_logo, chain_id }]`, only the address required. */
const labelArray: ListFormat<LabelListEntry> = {
  name: 'label array',
  matches: (content) =>
    isArrayOf(
      content,
      z.union([
        z.looseObject({ address: z.string(), label: z.string() }),
        z.looseObject({ address: z.string(), entity: z.string() }),
      ]),
    ),
  items: listedItems,
  chainId: null,
  entry: (chainId) =>
    z
      .object({
        address: fields.address,
        label: fields.label,
        entity: fields.label,
        entity_logo: fields.logo,
        chain_id: fields.chainId.optional(),
      })
      .transform(({ entity_logo, chain_id, ...entry }) => ({
        ...entry,
        entityLogo: entity_logo,
        chainId: chain_id ?? chainId,
      }))
      .refine(named, { error: NO_LABEL }),
};

const labelTable: ListFormat<LabelListEntry> = {
  name: 'labels (CSV)',
  matches: (content) => isCsvWith(content, 'address', 'label'),
  items: listedItems,
  chainId: null,
  entry: (chainId) =>
    z
      .object({ address: fields.address, label: fields.label, entity: fields.label, entity_logo: fields.logo })
      .transform(({ entity_logo, ...entry }) => ({ ...entry, entityLogo: entity_logo, chainId }))
      .refine(named, { error: NO_LABEL }),
};

const explorerLabels: ListFormat<LabelListEntry> = {
  name: 'etherscan-labels',
  matches: (content) =>
    isRecordOf(content, ADDRESS_KEY, z.looseObject({ name: z.string(), labels: z.array(z.string()) })),
  items: (content) => Object.entries(Object(content)).map(([address, facts]) => ({ ...Object(facts), address })),
  chainId: null,
  entry: (chainId) =>
    z
      .object({ address: fields.address, name: fields.label, labels: z.array(z.string()) })
      .transform(({ address, name, labels }) => ({
        address,
        chainId,
        label: name,
        entity: name === null ? null : entityOf(name, labels),
        entityLogo: null,
      }))
      .refine(named, { error: NO_LABEL }),
};

const explorerAccounts: ListFormat<LabelListEntry> = {
  name: 'explorer accounts (CSV)',
  matches: (content) => isCsvWith(content, 'address', 'name tag'),
  items: listedItems,
  chainId: null,
  entry: (chainId) =>
    z
      .object({ address: fields.address, 'name tag': fields.label })
      .transform((row) => ({
        address: row.address,
        chainId,
        label: row['name tag'],
        entity: entityOf(row['name tag'] ?? '', []),
        entityLogo: null,
      }))
      .refine(named, { error: NO_LABEL }),
};

/** `0x: Exchange Proxy` → `0x`; `Binance 10` labeled `binance` → `Binance`. Null: neither. */
export function entityOf(name: string, labels: readonly string[]): string | null {
  const colon = /^([^:]*[^:\s])\s*:\s/.exec(name)?.[1];
  if (colon !== undefined) return colon;
  const slugs = new Set(labels.map(slugOf));
  const words = name.split(' ');
  for (let count = words.length; count > 0; count--) {
    const start = words.slice(0, count).join(' ');
    if (slugs.has(slugOf(start))) return start;
  }
  return null;
}

function slugOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

export const labelFormats: readonly ListFormat<LabelListEntry>[] = [
  labelArray,
  explorerLabels,
  labelTable,
  explorerAccounts,
];

const ADDRESS_KEYS = ['address', 'token_address', 'contract_address', 'contract'];
const CHAIN_KEYS = ['chain_id', 'chainId', 'chain', 'chain_identifier', 'blockchain'];
const OPENSEA_CHAINS: Readonly<Record<string, string>> = { ethereum: 'eth', matic: 'polygon', avax: 'avalanche' };
const SAFELISTED = new Set(['verified', 'approved']);

const item = z.looseObject({});

/** Fields of the API or OpenSea, in JSON or CSV; an item may name several contracts. */
const collectionList: ListFormat<CollectionListEntry> = {
  name: 'collections',
  matches: (content) => isArrayOf(listOf(content), item) && itemsOf(content).next().done === false,
  items: itemsOf,
  chainId: 0,
  entry,
};

function listOf(content: unknown): unknown {
  return Array.isArray(content) ? content : Object(content).collections;
}

function* itemsOf(content: unknown): Generator<unknown> {
  const list = listOf(content);
  for (const collection of Array.isArray(list) ? list : []) {
    const { contracts, primary_asset_contracts, ...shared } = Object(collection);
    const several = [contracts, primary_asset_contracts].find((each) => Array.isArray(each) && each.length > 0);
    if (several === undefined) {
      if (ADDRESS_KEYS.some((key) => key in shared)) yield shared;
      continue;
    }
    for (const contract of several) {
      const { symbol, ...own } = typeof contract === 'string' ? { address: contract } : Object(contract);
      yield { ...own, ...shared, symbol: symbol ?? shared.symbol, ...addressOf(own) };
    }
  }
}

function addressOf(contract: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...ADDRESS_KEYS, ...CHAIN_KEYS].flatMap((key) => (key in contract ? [[key, contract[key]]] : [])),
  );
}

function entry(chainId: number, chainNamed: ChainNamed): z.ZodType<CollectionListEntry> {
  return item.transform((given, ctx): CollectionListEntry => {
    const address = fields.address.safeParse(firstOf(given, ADDRESS_KEYS));
    if (!address.success) {
      ctx.addIssue({ code: 'custom', message: 'address is not 0x and 40 hexadecimal digits' });
      return z.NEVER;
    }
    const named = firstOf(given, CHAIN_KEYS);
    const name = String(named).trim();
    const chain = named === undefined ? chainId : chainNamed(OPENSEA_CHAINS[name.toLowerCase()] ?? name);
    if (chain === null || chain === 0) {
      const message =
        chain === null ? `chain ${String(named).slice(0, 40)} is unknown here` : 'it names no chain';
      ctx.addIssue({ code: 'custom', message });
      return z.NEVER;
    }
    return {
      address: address.data,
      chainId: chain,
      ...readCollectionFields(given),
      verified: flagOf(given, ['verified', 'verified_collection', 'is_verified']) ?? safelisted(given),
      possibleSpam: flagOf(given, ['possible_spam', 'is_spam', 'spam']),
    };
  });
}

function firstOf(given: Readonly<Record<string, unknown>>, keys: readonly string[]): unknown {
  return keys.map((key) => given[key]).find((value) => value !== undefined && value !== null && value !== '');
}

function flagOf(given: Readonly<Record<string, unknown>>, keys: readonly string[]): boolean | null {
  const value = firstOf(given, keys);
  if (typeof value === 'boolean') return value;
  const text = String(value).toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : null;
}

function safelisted(given: Readonly<Record<string, unknown>>): boolean | null {
  const status = firstOf(given, ['safelist_status', 'safelist_request_status']);
  return typeof status === 'string' ? SAFELISTED.has(status.toLowerCase()) : null;
}

export const collectionFormats: readonly ListFormat<CollectionListEntry>[] = [collectionList];
