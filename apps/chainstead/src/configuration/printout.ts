import { chainKeys, chainSuffix } from './chain-keys.ts';
import { globalKeys } from './global-keys.ts';
import { factsOf, type KeyFacts } from './key-facts.ts';
import { redactValue } from './redaction.ts';
import type { ConfigurationSource } from './sources.ts';

interface PrintedKey {
  readonly key: string;
  /** Redacted; null: absent, without a default. */
  readonly value: string | null;
  /** `environment`, the path of a file, or `default`. */
  readonly origin: string;
}

export function printConfiguration(
  sources: readonly ConfigurationSource[],
  chainNames: readonly string[],
): PrintedKey[] {
  const global = Object.entries(globalKeys.shape).map(([key, schema]) => printKey(key, factsOf(schema), sources));
  const chains = chainNames.flatMap((name) =>
    Object.entries(chainKeys.shape).map(([key, schema]) =>
      printKey(`${key}_${chainSuffix(name)}`, factsOf(schema), sources),
    ),
  );
  return [...global, ...chains];
}

function printKey(key: string, facts: KeyFacts, sources: readonly ConfigurationSource[]): PrintedKey {
  for (const source of sources) {
    const value = source.variables[key];
    if (value !== undefined) return { key, value: redactValue(value, facts), origin: source.origin };
  }
  return { key, value: facts.default ?? null, origin: 'default' };
}
