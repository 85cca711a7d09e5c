import type { ConfiguredUpstream } from './upstream-row.ts';

/** A node as it is kept of what it did: by its name on a chain. */
export interface NamedNode {
  readonly chain: string;
  readonly upstream: string;
}

/** What a node is called on pages: with its scheme where the configuration of this process has it; else its name. */
export type NodeAddress = (node: NamedNode) => string;

export function nodeAddresses(configured: readonly ConfiguredUpstream[]): NodeAddress {
  const keyOf = ({ chain, upstream }: NamedNode): string => JSON.stringify([chain, upstream]);
  const addresses = new Map(
    configured.map(({ chain, name, address }) => [keyOf({ chain, upstream: name }), address] as const),
  );
  return (node) => addresses.get(keyOf(node)) ?? node.upstream;
}
