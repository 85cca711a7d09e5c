import type { ChainRegistry } from '@chainstead/chains';
import { type Address, type ChainId, isAddress, parseAddress } from '@chainstead/core';

export interface NamedContract {
  readonly address: Address;
  readonly chainId: ChainId;
}

export interface ContractNaming {
  readonly chains: Pick<ChainRegistry, 'find'>;
  readonly chainId?: ChainId | undefined;
  readonly address?: Address | undefined;
}

/** A text is the reason for none. @param document parsed JSON, untrusted */
export function contractsOf(
  path: string,
  document: unknown,
  naming: ContractNaming,
): readonly NamedContract[] | string {
  const { address, networks }: { address?: unknown; networks?: unknown } = Object(document);
  if (naming.address !== undefined) return onChain(naming.address, undefined, naming);
  if (isAddress(address)) return onChain(parseAddress(address), undefined, naming);
  const deployed = Object.entries(Object(networks)).flatMap(([id, network]) => {
    const { address: place }: { address?: unknown } = Object(network);
    return isAddress(place) ? onKnownChain(parseAddress(place), id, naming) : [];
  });
  if (deployed.length > 0) return deployed;
  return inPath(path, naming);
}

const ADDRESS_IN_NAME = /(?:^|[^0-9a-z])(0x[0-9a-f]{40})(?![0-9a-f])/i;

function inPath(path: string, naming: ContractNaming): readonly NamedContract[] | string {
  const names = path.split(/[\\/]/);
  const place = names.findLastIndex((name) => ADDRESS_IN_NAME.test(name));
  const [, found] = ADDRESS_IN_NAME.exec(names[place] ?? '') ?? [];
  if (found === undefined) return 'a file without a contract address';
  return onChain(parseAddress(found), names[place - 1], naming);
}

function onChain(
  address: Address,
  folder: string | undefined,
  naming: ContractNaming,
): readonly NamedContract[] | string {
  if (folder !== undefined && /^[1-9]\d*$/.test(folder)) {
    const known = onKnownChain(address, folder, naming);
    return known.length > 0 ? known : `chain ${folder.slice(0, 40)} is unknown here`;
  }
  return naming.chainId === undefined ? 'a file without a chain' : [{ address, chainId: naming.chainId }];
}

function onKnownChain(address: Address, id: string, { chains }: ContractNaming): NamedContract[] {
  const chain = chains.find(id);
  return chain === null ? [] : [{ address, chainId: chain.id }];
}
