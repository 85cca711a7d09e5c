import type { ChainRegistry } from '@chainstead/chains';
import type { GlobalSettings } from './global-keys.ts';

export function offeredNames(
  { CHAINS = [], GATEWAY_CHAINS = CHAINS }: GlobalSettings,
  known: ChainRegistry,
): readonly string[] {
  if (GATEWAY_CHAINS !== 'all') return GATEWAY_CHAINS;
  const indexed = new Set(CHAINS.map((name) => known.find(name)?.key));
  const others = known.all().filter(({ key, gatewaySlug }) => gatewaySlug !== null && !indexed.has(key));
  return [...CHAINS, ...others.map(({ key }) => key)];
}
