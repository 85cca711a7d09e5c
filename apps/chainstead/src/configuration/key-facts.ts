import { z } from 'zod';
import { allowedTexts } from './values.ts';

/** For `.env.example`, docs/reference/settings.md, error messages and `config print`. */
export interface KeyFacts {
  readonly group: KeyGroup;
  /** Sentences with a capital letter, and no full stop at the end. */
  readonly description: string;
  /** Text after "Values:" or "allowed:". */
  readonly allowed: string;
  readonly example: string;
  /** Value if absent, as it would be written. Undefined: no plain default. */
  readonly default?: string;
  /** Text after "Default:" or "If not set:", if there is no plain default. */
  readonly whenAbsent?: string;
  readonly isSecret?: boolean;
  /** May contain credentials: only hosts are shown. */
  readonly isUrl?: boolean;
}

export const KEY_GROUPS = [
  'Process',
  'Storage',
  'API',
  'Chains',
  'Verification',
  'Limits',
  'On demand',
  'Prices',
  'Names',
  'Webhooks',
  'Gateway',
  'Aptos',
] as const;
export type KeyGroup = (typeof KEY_GROUPS)[number];

export const keyFacts = z.registry<KeyFacts>();

export function factsOf(schema: z.core.$ZodType): KeyFacts {
  const facts = keyFacts.get(schema);
  if (facts === undefined) throw new TypeError('A configuration key was declared without facts');
  return facts;
}

type DeclaredFacts = Omit<KeyFacts, 'group' | 'allowed' | 'default'> & Partial<Pick<KeyFacts, 'allowed'>>;

export function keysOf(group: KeyGroup) {
  const allowedBy = (schema: z.core.$ZodType, { allowed = allowedTexts.get(schema)?.allowed }: DeclaredFacts) => {
    if (allowed === undefined)
      throw new TypeError('A configuration key was declared without its accepted values');
    return { group, allowed };
  };
  return {
    optional<Output>(
      schema: z.ZodType<Output, string>,
      facts: DeclaredFacts,
    ): z.ZodType<Output | undefined, string | undefined> {
      return schema.optional().register(keyFacts, { ...facts, ...allowedBy(schema, facts) });
    },
    withDefault<Output>(
      schema: z.ZodType<Output, string>,
      facts: DeclaredFacts & { readonly default: string },
    ): z.ZodType<Output, string | undefined> {
      return schema.prefault(facts.default).register(keyFacts, { ...facts, ...allowedBy(schema, facts) });
    },
  };
}
