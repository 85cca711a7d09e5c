import type { ConfiguredUpstream } from './upstream-row.ts';

/** A node as in stored statistics: by its name on a chain. */
export interface NamedNode {
  readonly chain: string;
  readonly upstream: string;
}

/** Returns the display name of a node: with its scheme if it is in this process's configuration, otherwise its name. */
export type NodeAddress = (node: NamedNode) => string;

export function nodeAddresses(configured: readonly ConfiguredUpstream[]): NodeAddress {
  const keyOf = ({ chain, upstream }: NamedNode): string => JSON.stringify([chain, upstream]);
  const addresses = new Map(
    configured.map(({ chain, name, address }) => [keyOf({ chain, upstream: name }), address] as const),
  );
  return (node) => addresses.get(keyOf(node)) ?? node.upstream;
}
