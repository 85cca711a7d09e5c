import { z } from 'zod';
import { fields, type LabelListEntry } from './list-entry.ts';
import { isArrayOf, isCsvWith, isRecordOf, type ListFormat, listedItems } from './list-format.ts';

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
