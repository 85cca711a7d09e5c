import { type Address, type Hex, ZERO_ADDRESS } from '@chainstead/core';
import { addressAt, returnedWord } from '@chainstead/events/abi';
import type { ContractCalls } from '@chainstead/node-reads';
import { decodeRawText } from '@chainstead/tokens/abi-text';

export type NftStandard = 'erc721' | 'erc1155';

const SOMEBODY = wordOf('1');
const PROBES = {
  /** No function has this selector: a result shows a fallback that accepts any call. */
  nothing: '0xffffffff',
  decimals: '0x313ce567',
  balanceOf: `0x70a08231${SOMEBODY}`,
  ownerOf: ['0', '1', '2'].map((id): Hex => `0x6352211e${wordOf(id)}`),
  balanceOfId: `0x00fdd58e${SOMEBODY}${wordOf('0')}`,
  uri: ['0', '1'].map((id): Hex => `0x0e89341c${wordOf(id)}`),
} as const satisfies Record<string, Hex | readonly Hex[]>;
const URI_START_BYTES = 256;

/** Some NFTs are older than ERC-165. Null: like an ERC-20, or accepts any call. */
export async function probeBehaviour(
  { call }: ContractCalls,
  to: Address,
  signal: AbortSignal,
): Promise<NftStandard | null> {
  const probe = (data: Hex): Promise<Hex | null> => call(to, data, signal);
  const [nothing, decimals, balance, owners, balanceOfId, uris] = await Promise.all([
    probe(PROBES.nothing),
    probe(PROBES.decimals),
    probe(PROBES.balanceOf),
    Promise.all(PROBES.ownerOf.map(probe)),
    probe(PROBES.balanceOfId),
    Promise.all(PROBES.uri.map(probe)),
  ]);
  if (nothing !== null || decimals !== null) return null;
  const hasOwner = owners.some((owner) => {
    const address = addressAt(returnedWord(owner) ?? undefined);
    return address !== null && address !== ZERO_ADDRESS;
  });
  if (returnedWord(balance) !== null && hasOwner) return 'erc721';
  const hasUri = uris.some((uri) => uri !== null && decodeRawText(uri, URI_START_BYTES) !== null);
  return returnedWord(balanceOfId) !== null && hasUri ? 'erc1155' : null;
}

export function wordOf(decimal: string): string {
  return BigInt(decimal).toString(16).padStart(64, '0');
}
