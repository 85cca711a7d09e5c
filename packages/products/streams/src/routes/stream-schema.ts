import type { Chain } from '@chainstead/chains';
import { type ChainId, isObject } from '@chainstead/core';
import { NotIndexedError } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { SELECTOR_TYPES, TRIGGER_TYPES } from '../item-types.ts';
import type { AbiItem, AdvancedOption, NativeBalanceSelector, StreamFilter, StreamTrigger } from '../stream.ts';
import type { StreamServices } from '../stream-services.ts';
import { isStorableJson, isStorableText } from './json-text.ts';

/** Postgres limits the size of index entries. Bytes. */
const URL_BYTES_MAX = 2_000;
const TEXT_LENGTH_MAX = 4_000;
const ITEMS_MAX = 1_000;
const NAMES_MAX = 100;
const NAME_LENGTH_MAX = 100;
const HEXADECIMAL_ID = /^0x[0-9a-f]{1,13}$/i;

function text(lengthMax = TEXT_LENGTH_MAX) {
  return z
    .string()
    .max(lengthMax)
    .refine(isStorableText, { error: 'must not contain NUL characters or lone surrogates' });
}

const json = z.unknown().refine((value) => isStorableJson(value), { error: 'must not be nested deeper than 20' });

const parameterMembers = {
  name: text(),
  type: text(),
  components: z.array(json).max(ITEMS_MAX).optional(),
  internalType: text().optional(),
};
const abiInput = z.strictObject({ ...parameterMembers, indexed: z.boolean().optional() });
const abiOutput = z.strictObject(parameterMembers);

export const abiItemSchema: z.ZodType<AbiItem> = z
  .strictObject({
    type: text(),
    name: text().optional(),
    anonymous: z.boolean().optional(),
    constant: z.boolean().optional(),
    payable: z.boolean().optional(),
    stateMutability: text().optional(),
    gas: z.number().optional(),
    inputs: z.array(abiInput).max(ITEMS_MAX).optional(),
    outputs: z.array(abiOutput).max(ITEMS_MAX).optional(),
  })
  .openapi('AbiItem');

const filterSchema: z.ZodType<StreamFilter> = z
  .record(z.string(), z.array(json))
  .openapi({ type: 'object', example: { and: [{ eq: ['to', '0x…'] }, { gt: ['value', '1000000'] }] } });

export const advancedOptionSchema: z.ZodType<AdvancedOption> = z
  .strictObject({ topic0: text(), filter: filterSchema.optional(), includeNativeTxs: z.boolean().optional() })
  .openapi('AdvancedOption');

export const nativeBalanceSchema: z.ZodType<NativeBalanceSelector> = z
  .strictObject({ selectors: z.array(text()).max(ITEMS_MAX), type: z.enum(SELECTOR_TYPES) })
  .openapi('NativeBalanceSelector');

export const triggerSchema: z.ZodType<StreamTrigger> = z
  .strictObject({
    type: z.enum(TRIGGER_TYPES),
    contractAddress: text(),
    functionAbi: abiItemSchema,
    inputs: z
      .array(z.union([text(), z.array(text()).max(ITEMS_MAX)], { error: 'must be text or an array of texts' }))
      .max(ITEMS_MAX)
      .optional(),
    topic0: text().optional(),
    callFrom: text().optional(),
  })
  .openapi('StreamTrigger');

/** Unchanged: webhooks show the owner's key order, which the schema would change. Null clears. */
function asGiven<Item>(items: z.ZodType, component: string) {
  const short = z.array(z.unknown()).max(ITEMS_MAX);
  const list = z.array(items);
  const reference = { $ref: `#/components/schemas/${component}` };
  return z
    .unknown()
    .transform((given, ctx): readonly Item[] | null => {
      if (given === null) return null;
      const wrapped: readonly unknown[] = isObject(given) ? [given] : Object(given);
      const counted = short.safeParse(isObject(given) ? wrapped : given);
      const parsed = counted.success ? list.safeParse(counted.data) : counted;
      if (parsed.success) return wrapped as readonly Item[];
      for (const issue of parsed.error.issues) ctx.addIssue({ ...issue });
      return z.NEVER;
    })
    .optional()
    .openapi({ anyOf: [{ type: 'array', items: reference }, reference, { type: 'null' }] });
}

export interface StreamChains {
  /** By hexadecimal id; null: unknown. */
  find(id: string): Chain | null;
  isFollowed(chain: Chain): boolean;
}

export function streamChains({ registry, chains }: Pick<StreamServices, 'registry' | 'chains'>): StreamChains {
  const ids = new Set<number>(chains.map(({ id }) => id));
  return { find: (id) => registry.find(id), isFollowed: ({ id }) => ids.has(id) };
}

const UNKNOWN_CHAIN = 'is not the hexadecimal id of a known chain, such as 0x1';

export function streamMembers(chains: StreamChains) {
  return {
    webhookUrl: webhookUrl(),
    description: text(),
    tag: text().optional(),
    chainIds: z
      .array(z.string())
      .min(1)
      .max(ITEMS_MAX)
      .transform((ids, ctx): readonly ChainId[] => {
        const chainIds = new Set<ChainId>();
        for (const [index, id] of ids.entries()) {
          const chain = findChain(chains, id);
          if (typeof chain === 'string') ctx.addIssue({ code: 'custom', message: chain, path: [index] });
          else chainIds.add(chain.id);
        }
        return [...chainIds];
      })
      .openapi({ type: 'array', items: { type: 'string' }, example: ['0x1', '0x2105'] }),
    topic0: z.array(text()).max(ITEMS_MAX).nullable().optional(),
    ...switches(),
    abi: asGiven<AbiItem>(abiItemSchema, 'AbiItem'),
    advancedOptions: asGiven<AdvancedOption>(advancedOptionSchema, 'AdvancedOption'),
    getNativeBalances: asGiven<NativeBalanceSelector>(nativeBalanceSchema, 'NativeBalanceSelector'),
    triggers: asGiven<StreamTrigger>(triggerSchema, 'StreamTrigger'),
    demo: z.boolean().optional(),
    sendRemoved: z.boolean().optional().openapi({
      description: 'Chainstead extension: also sends webhooks for blocks removed by a reorg. Default: false.',
    }),
    contracts: contractNames(),
  };
}

/** docs/api/streams-reference.md#stream-routes */
export function previewMembers() {
  return {
    tag: text().optional(),
    topic0: z.array(text()).max(ITEMS_MAX).nullable().optional(),
    ...switches(),
    abi: asGiven<AbiItem>(abiItemSchema, 'AbiItem'),
    advancedOptions: asGiven<AdvancedOption>(advancedOptionSchema, 'AdvancedOption'),
    contracts: contractNames(),
  };
}

function contractNames() {
  return z
    .array(text(NAME_LENGTH_MAX))
    .max(NAMES_MAX)
    .nullable()
    .optional()
    .openapi({
      description:
        'Chainstead extension: logs of contracts that the operator added match, by name (`vault`) or by name and event (`vault.Deposit`). Includes children of factories.',
      example: ['vault.Deposit'],
    });
}

function switches() {
  return {
    allAddresses: z.boolean().optional(),
    includeNativeTxs: z.boolean().optional(),
    includeContractLogs: z.boolean().optional(),
    includeInternalTxs: z.boolean().optional(),
    includeAllTxLogs: z.boolean().optional(),
    filterPossibleSpamAddresses: z.boolean().optional(),
  };
}

export function findChain(chains: StreamChains, id: string): Chain | string {
  const chain = HEXADECIMAL_ID.test(id) ? chains.find(id) : null;
  if (chain === null) return UNKNOWN_CHAIN;
  return chains.isFollowed(chain) ? chain : NotIndexedError.ofChain(chain).message;
}

function webhookUrl() {
  return text()
    .refine((url) => Buffer.byteLength(url) <= URL_BYTES_MAX, {
      error: `must not be longer than ${URL_BYTES_MAX} bytes`,
    })
    .refine((url) => /^https?:$/.test(URL.parse(url)?.protocol ?? ''), { error: 'must be an http or https URL' })
    .openapi({ type: 'string', format: 'uri', example: 'https://example.com/webhook' });
}
