import { chainSuffix } from './chain-keys.ts';
import type { ConfigurationSource } from './sources.ts';
import { keySuggestions } from './suggestion.ts';

export interface ConfigurationWarning {
  readonly key: string;
  readonly message: string;
}

export interface KnownKeys {
  readonly accepted: readonly string[];
  readonly perChain: readonly string[];
  readonly configuredChains: readonly string[];
}

const READ_ELSEWHERE = ['CHAINSTEAD_CONFIG'];
const OWN_PREFIX = 'CHAINSTEAD_';

/** All keys of a file; from the environment, those that look like ours. */
export function warnOfUnknownKeys(
  sources: readonly ConfigurationSource[],
  known: KnownKeys,
): ConfigurationWarning[] {
  const accepted = new Set([...known.accepted, ...READ_ELSEWHERE]);
  const suggest = { accepted: keySuggestions(known.accepted), perChain: keySuggestions(known.perChain) };
  return sources.flatMap((source) =>
    Object.keys(source.variables)
      .filter((key) => !accepted.has(key))
      .flatMap((key) => {
        const reason = unknownKeyReason(key, source, known, suggest);
        return reason === null ? [] : [{ key, message: `${key} (${source.origin}) has no effect: ${reason}` }];
      }),
  );
}

function unknownKeyReason(
  key: string,
  { isOwn }: ConfigurationSource,
  known: KnownKeys,
  suggest: Readonly<Record<'accepted' | 'perChain', (given: string) => string | null>>,
): string | null {
  const suggestion = suggest.accepted(key);
  if (suggestion !== null) return `did you mean ${suggestion}?`;
  const ofChains = known.perChain.find((name) => name === key) ?? suggest.perChain(key);
  if (ofChains !== null) {
    const [first = 'eth'] = known.configuredChains;
    return `set it for each chain: ${ofChains}_${chainSuffix(first)}`;
  }
  const family = known.perChain.find((name) => key.startsWith(`${name}_`));
  if (family !== undefined) {
    const chain = key
      .slice(family.length + 1)
      .toLowerCase()
      .replaceAll('_', '-');
    return `${chain} is not in CHAINS (${known.configuredChains.join(',') || 'empty'})`;
  }
  return isOwn || key.startsWith(OWN_PREFIX) ? 'unknown setting' : null;
}
