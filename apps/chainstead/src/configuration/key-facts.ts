import { z } from 'zod';
import { allowedTexts } from './values.ts';

/** Description of a setting for `.env.example`, docs/reference/settings.md, error messages and `config print`. */
export interface KeyFacts {
  readonly group: KeyGroup;
  /** Meaning, in one or more sentences. Starts with a capital letter, without a full stop at the end. */
  readonly description: string;
  /** Accepted values, as text after "Values:" or "allowed:". */
  readonly allowed: string;
  readonly example: string;
  /** Value if the setting is absent, as it would be written. Absent: no plain default. */
  readonly default?: string;
  /** Behavior without the setting, as text after "Default:" or "If not set:", if there is no plain default. */
  readonly whenAbsent?: string;
  readonly isSecret?: boolean;
  /** A URL or a list of URLs that may contain credentials. Only the host is shown. */
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

/** Returns the facts of a schema declared by {@link keysOf}. */
export function factsOf(schema: z.core.$ZodType): KeyFacts {
  const facts = keyFacts.get(schema);
  if (facts === undefined) throw new TypeError('A configuration key was declared without facts');
  return facts;
}

/** Facts of a setting in its group. Some schemas have a text of their accepted values. */
type DeclaredFacts = Omit<KeyFacts, 'group' | 'allowed' | 'default'> & Partial<Pick<KeyFacts, 'allowed'>>;

/** Returns functions that declare settings of a group. The latter parses `facts.default` if the setting is absent. */
export function keysOf(group: KeyGroup) {
  const allowedBy = (schema: z.core.$ZodType, { allowed = allowedTexts.get(schema)?.allowed }: DeclaredFacts) => {
    if (allowed === undefined) throw new TypeError('A configuration key was declared without its accepted values');
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
