import { type AptosNetwork, networkOfChain } from '@chainstead/aptos';
import type { Chain, ChainRegistry } from '@chainstead/chains';
import { InvalidParameterError } from '@chainstead/http';
import { html } from 'hono/html';
import { cut, type Html } from '../../../layout/html.ts';
import type { CellPlace } from '../tables/cells.ts';

export interface ChainChoice {
  readonly registry: ChainRegistry;
  readonly chains: readonly Chain[];
}

export function chainNamed({ registry, chains }: ChainChoice, name: string): Chain {
  const id = registry.find(name)?.id;
  const chain = chains.find((indexed) => indexed.id === id);
  if (chain === undefined)
    throw new InvalidParameterError({ parameter: 'chain', given: cut(name), allowed: 'a chain that is indexed here' });
  return chain;
}

export function chainsRequested(choice: ChainChoice, name: string | undefined): readonly Chain[] {
  return name === undefined || name === '' ? choice.chains : [chainNamed(choice, name)];
}

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

export function placeOn({ key, native, wrappedNative }: Chain): CellPlace {
  return { chain: key, coin: { symbol: native.symbol, decimals: native.decimals, wrapped: wrappedNative } };
}

export function chainLinks(
  address: string,
  links: { readonly chosen: string | null; readonly found: readonly string[]; readonly all: readonly string[] },
): Html {
  const { chosen, found, all } = links;
  const link = (name: string | null): Html => {
    const target = name === null ? address : `${address}?chain=${encodeURIComponent(name)}`;
    return html`<li><a href="${target}" ${chosen === name && html`aria-current="true"`}>${name ?? 'All chains with data'}</a></li>`;
  };
  const others = all.filter((name) => !found.includes(name));
  return html`<nav aria-label="Chains" class="chains"><ul>${[null, ...found].map(link)}</ul>
${others.length > 0 && html`<details><summary>Other chains</summary><ul>${others.map(link)}</ul></details>`}</nav>`;
}
