import { readCollectionFields } from '@chainstead/nft';
import { z } from 'zod';
import { type CollectionListEntry, fields } from './list-entry.ts';
import { type ChainNamed, isArrayOf, type ListFormat } from './list-format.ts';

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
