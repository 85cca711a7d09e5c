import type { Hex } from '@chainstead/core';

/** EIP-165, EIP-721, EIP-1155, and the ID that no contract may support (EIP-165). */
export const INTERFACES = {
  erc165: '0x01ffc9a7',
  erc721: '0x80ac58cd',
  erc1155: '0xd9b67a26',
  nobody: '0xffffffff',
} as const satisfies Record<string, Hex>;

export function supportsInterface(id: Hex): Hex {
  return `0x01ffc9a7${id.slice(2).padEnd(64, '0')}`;
}
