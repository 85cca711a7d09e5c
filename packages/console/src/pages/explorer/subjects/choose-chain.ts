import { type AptosNetwork, networkOfChain } from '@chainstead/aptos';
import type { Chain, ChainRegistry } from '@chainstead/chains';
import { InvalidParameterError } from '@chainstead/http';
import { html } from 'hono/html';
import { cut, type Html, NOTHING } from '../../../layout/html.ts';
import type { CellPlace } from '../tables/cells.ts';

/** The available chains. */
export interface ChainChoice {
  readonly registry: ChainRegistry;
  /** Those that are indexed here. */
  readonly chains: readonly Chain[];
}

/** Returns the chain with that name, alias or id, if it is indexed here. @throws InvalidParameterError */
export function chainNamed({ registry, chains }: ChainChoice, name: string): Chain {
  const id = registry.find(name)?.id;
  const chain = chains.find((one) => one.id === id);
  if (chain === undefined)
    throw new InvalidParameterError({ parameter: 'chain', given: cut(name), allowed: 'a chain that is indexed here' });
  return chain;
}

/** Returns the requested chain, or all. @throws InvalidParameterError */
export function chainsRequested(choice: ChainChoice, name: string | undefined): readonly Chain[] {
  return name === undefined || name === '' ? choice.chains : [chainNamed(choice, name)];
}

/** @throws InvalidParameterError */
export function networkNamed(networks: readonly AptosNetwork[], name: string): AptosNetwork {
  const network = networkOfChain(name);
  if (network === null || !networks.includes(network))
    throw new InvalidParameterError({
      parameter: 'chain',
      given: cut(name),
      allowed: 'a network that is indexed here',
    });
  return network;
}

/** Returns the link context for cells of a chain's rows. */
export function placeOn({ key, native, wrappedNative }: Chain): CellPlace {
  return { chain: key, coin: { symbol: native.symbol, decimals: native.decimals, wrapped: wrappedNative } };
}

/**
 * Returns links to the same page for one chain, or for all.
 * @param found chains with data; the others are one click further
 */
export function chainLinks(
  address: string,
  {
    chosen,
    found,
    all,
  }: { readonly chosen: string | null; readonly found: readonly string[]; readonly all: readonly string[] },
): Html {
  const link = (name: string | null): Html => {
    const target = name === null ? address : `${address}?chain=${encodeURIComponent(name)}`;
    return html`<li><a href="${target}" ${chosen === name ? html`aria-current="true"` : NOTHING}>${name ?? 'All chains with data'}</a></li>`;
  };
  const others = all.filter((name) => !found.includes(name));
  return html`<nav aria-label="Chains" class="chains"><ul>${[null, ...found].map(link)}</ul>
${others.length === 0 ? NOTHING : html`<details><summary>Other chains</summary><ul>${others.map(link)}</ul></details>`}</nav>`;
}
