import { z } from 'zod';

/** Description of a setting for `.env.example`, docs/reference/settings.md, error messages and `config print`. */
export interface KeyFacts {
  /** Heading in `.env.example`. */
  readonly group: KeyGroup;
  /** Meaning, in one or more sentences. Starts with a capital letter, without a full stop at the end. */
  readonly description: string;
  /** Accepted values, as text after "Values:" or "allowed:". */
  readonly allowed: string;
  /** One accepted value. */
  readonly example: string;
  /** Value if the setting is absent, as it would be written. Absent: no plain default. */
  readonly default?: string;
  /** Behavior without the setting, as text after "Default:" or "If not set:", if there is no plain default. */
  readonly whenAbsent?: string;
  /** Always shown as `[redacted]`. */
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

/** Facts of each setting's schema: the source for messages, `.env.example`, the settings page and printing. */
export const keyFacts = z.registry<KeyFacts>();

/** Returns the facts of a schema declared with `optional` or `withDefault`. */
export function factsOf(schema: z.core.$ZodType): KeyFacts {
  const facts = keyFacts.get(schema);
  if (facts === undefined) throw new TypeError('A configuration key was declared without facts');
  return facts;
}

/** Declares an optional setting. */
export function optional<Output>(
  schema: z.ZodType<Output, string>,
  facts: Omit<KeyFacts, 'default'>,
): z.ZodType<Output | undefined, string | undefined> {
  return schema.optional().register(keyFacts, facts);
}

/** Declares a setting that parses `facts.default` if it is absent. */
export function withDefault<Output>(
  schema: z.ZodType<Output, string>,
  facts: KeyFacts & { readonly default: string },
): z.ZodType<Output, string | undefined> {
  return schema.prefault(facts.default).register(keyFacts, facts);
}
