import type { Chain, ChainRegistry } from '@chainstead/chains';
import { closest } from './configuration/index.ts';

export interface UnofferedChainOptions {
  readonly registry: Pick<ChainRegistry, 'find' | 'all'>;
  /** The gateway's chains. */
  readonly offered: readonly { readonly slug: string; readonly chain: Pick<Chain, 'key'> }[];
  /** The configuration key that names them. */
  readonly key: string;
}

/** A name may be repeated; a key that stands in its place may not. */
const NAME = /^[A-Za-z0-9_%.-]{1,31}$/;
const EDITS_MAX = 2;

/** Says of a path segment that the gateway has no chain under what to do: ask elsewhere, configure it, or spell it right. */
export function createUnofferedChainText({ registry, offered, key }: UnofferedChainOptions): (slug: string) => string {
  return (slug) => {
    const name = NAME.test(slug) ? slug : '…';
    const known = registry.find(slug.replaceAll('%20', ' '));
    if (known === null) {
      const names = registry.all().flatMap((chain) => [chain.key, ...chain.apiNames, chain.gatewaySlug ?? chain.key]);
      const near = closest(slug.toLowerCase().slice(0, 64), names, slug.length < 5 ? 1 : EDITS_MAX);
      if (near !== null) return `There is no chain ${name}; did you mean ${near}?`;
      const slugs = offered.map((one) => one.slug).join(', ');
      return `There is no chain ${name}: ${slugs === '' ? 'none is offered here' : `offered here are ${slugs}`}`;
    }
    const elsewhere = offered.find(({ chain }) => chain.key === known.key);
    if (elsewhere !== undefined) return `Chain ${known.key} is at /${elsewhere.slug}/{apiKey} here, not at /${name}`;
    if (known.gatewaySlug === null) return `Chain ${known.key} has no JSON-RPC here`;
    return `Chain ${known.key} is not offered here: add it to ${key} (${key}=${known.key},…) and restart`;
  };
}
