import type { Chain } from '@chainstead/chains';
import { type Html, NOTHING } from '../../../layout/html.ts';
import { rpcCurlLine } from './curl-line.ts';
import { curlView } from './table-view.ts';

/** The line that asks a chain's nodes, through the gateway; nothing where that does not offer the chain. */
export function rpcCurlView({ gatewaySlug }: Chain, origin: string, method: string, params: readonly unknown[]): Html {
  if (gatewaySlug === null) return NOTHING;
  return curlView(rpcCurlLine(`${origin}/${gatewaySlug}/`, method, params), 'What the nodes say of it');
}
