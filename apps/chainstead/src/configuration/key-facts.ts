import { z } from 'zod';

/** What is told about a configuration key, in `.env.example`, in error messages and in `config print`. */
export interface KeyFacts {
  /** Heading under which `.env.example` lists it. */
  readonly group: KeyGroup;
  /** What it is for, one or more sentences. Starts with a capital, no full stop at the end. */
  readonly description: string;
  /** Which values are accepted, to be read after "allowed:". */
  readonly allowed: string;
  /** One value that is accepted. */
  readonly example: string;
  /** The value taken when the key is absent, as it would be written; absent: none. */
  readonly default?: string;
  /** What happens without the key, where there is no plain default value. */
  readonly whenAbsent?: string;
  /** Shown as `[redacted]` everywhere. */
  readonly isSecret?: boolean;
  /** A URL (or a list of them) that may hold credentials: shown with its host only. */
  readonly isUrl?: boolean;
}

export const KEY_GROUPS = [
  'Process',
  'Storage',
  'API',
  'Chains',
  'Proof',
  'Limits',
  'On demand',
  'Names',
  'Webhooks',
  'Gateway',
  'Aptos',
] as const;
export type KeyGroup = (typeof KEY_GROUPS)[number];

/** The facts of each key's schema: one source for parsing, messages, `.env.example` and printing. */
export const keyFacts = z.registry<KeyFacts>();

/** The facts of a schema that was declared with `optional` or `withDefault`. */
export function factsOf(schema: z.core.$ZodType): KeyFacts {
  const facts = keyFacts.get(schema);
  if (facts === undefined) throw new TypeError('A configuration key was declared without facts');
  return facts;
}

/** A key that may be absent. */
export function optional<Output>(
  schema: z.ZodType<Output, string>,
  facts: Omit<KeyFacts, 'default'>,
): z.ZodType<Output | undefined, string | undefined> {
  return schema.optional().register(keyFacts, facts);
}

/** A key that takes `facts.default`, parsed as if it had been given, when it is absent. */
export function withDefault<Output>(
  schema: z.ZodType<Output, string>,
  facts: KeyFacts & { readonly default: string },
): z.ZodType<Output, string | undefined> {
  return schema.prefault(facts.default).register(keyFacts, facts);
}
