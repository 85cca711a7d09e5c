import type { Egress } from '@chainstead/egress';
import { createNameReader, type NameNodes } from '@chainstead/names';
import type { StateReader } from '@chainstead/state';
import { openPool, startPool } from '../upstream-pools.ts';
import type { RoleContext } from './role.ts';

/** What reads names, and the nodes that are there for names alone. */
export interface OpenedNameReader {
  readonly reader: StateReader;
  /** Of chains that are not indexed. */
  readonly unindexed: readonly NameNodes[];
  close(): Promise<void>;
}

/** @param indexed the chains whose pools are open anyway */
export function openNameReader(
  context: RoleContext,
  {
    indexed,
    egress,
    signal,
  }: { readonly indexed: readonly NameNodes[]; readonly egress: Egress; readonly signal: AbortSignal },
): OpenedNameReader {
  const { names } = context.configuration;
  const own = names.chains.flatMap(({ chain, upstreams }): NameNodes[] =>
    upstreams === null ? [] : [{ chain, pool: openPool({ chain, upstreams }, context) }],
  );
  const starts = own.map(({ chain, pool }) => startPool(pool, { ...context, chain, signal }));
  const isAmong = (nodes: readonly NameNodes[], { chain }: Pick<NameNodes, 'chain'>): boolean =>
    nodes.some((other) => other.chain.id === chain.id);
  const shared = indexed.filter(
    (nodes) => names.chains.some(({ chain }) => chain.id === nodes.chain.id) && !isAmong(own, nodes),
  );
  const { universalResolver } = names;
  return {
    reader: createNameReader({
      nodes: [...own, ...shared],
      gateways: names.asksGateways ? egress : null,
      contracts: { universalResolver },
    }),
    unindexed: own.filter((nodes) => !isAmong(indexed, nodes)),
    async close() {
      await Promise.all(starts);
      await Promise.all(own.map(({ pool }) => pool.close()));
    },
  };
}
