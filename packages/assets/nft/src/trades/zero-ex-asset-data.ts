import { type Hex, MAX_UINT256 } from '@chainstead/core';
import { decodeAbi } from '@chainstead/events/abi';
import { parseAbiParameters } from 'abitype';
import type { TradedItem } from './marketplace.ts';
import { tradedItem, tradedItems } from './traded-item.ts';

export type OrderAsset =
  | { readonly kind: 'erc20'; readonly token: Hex }
  | { readonly kind: 'nfts'; readonly items: readonly TradedItem[] };

/** First four bytes of asset data (0x protocol 3.0 specification). */
const PROXIES = {
  erc20: '0xf47261b0',
  erc721: '0x02571792',
  erc1155: '0xa7cb5fb7',
  multiAsset: '0x94cfcdd7',
  erc20Bridge: '0xdc1600f3',
} as const;

const PROXY_LENGTH = 10;

const ERC20 = parseAbiParameters('address token');
const ERC721 = parseAbiParameters('address token, uint256 tokenId');
const ERC1155 = parseAbiParameters('address token, uint256[] tokenIds, uint256[] values, bytes callbackData');
const MULTI_ASSET = parseAbiParameters('uint256[] amounts, bytes[] nestedAssetData');

/** Null if it is neither one ERC-20 token nor NFTs only. */
export function readAssetData(data: Hex, filled: bigint): OrderAsset | null {
  const encoded = `0x${data.slice(PROXY_LENGTH)}` as const;
  try {
    switch (data.slice(0, PROXY_LENGTH)) {
      case PROXIES.erc20:
      case PROXIES.erc20Bridge:
        return { kind: 'erc20', token: decodeAbi(ERC20, encoded)[0] };
      case PROXIES.erc721: {
        const [token, tokenId] = decodeAbi(ERC721, encoded);
        return { kind: 'nfts', items: [tradedItem(token, tokenId)] };
      }
      case PROXIES.erc1155: {
        const [token, ids, values] = decodeAbi(ERC1155, encoded);
        const amounts = values.map((value) => value * filled);
        const items = amounts.some((amount) => amount > MAX_UINT256) ? null : tradedItems(token, ids, amounts);
        return items === null ? null : { kind: 'nfts', items };
      }
      case PROXIES.multiAsset:
        return readBasket(encoded, filled);
      default:
        return null;
    }
  } catch {
    return null;
  }
}

function readBasket(encoded: Hex, filled: bigint): OrderAsset | null {
  const [amounts, nested] = decodeAbi(MULTI_ASSET, encoded);
  if (nested.length === 0 || nested.length !== amounts.length) return null;
  const items: TradedItem[] = [];
  for (const [index, data] of nested.entries()) {
    const asset = data.startsWith(PROXIES.multiAsset)
      ? null
      : readAssetData(data, (amounts[index] ?? 0n) * filled);
    if (asset?.kind !== 'nfts') return null;
    items.push(...asset.items);
  }
  return { kind: 'nfts', items };
}
