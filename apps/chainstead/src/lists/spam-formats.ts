import { z } from 'zod';
import { fields, type SpamEntry } from './list-entry.ts';
import { isArrayOf, isCsvWith, isRecordOf, type ListFormat } from './list-format.ts';

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
