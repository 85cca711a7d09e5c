import type { Chain } from '@chainstead/chains';
import { type Html, NOTHING } from '../../../layout/html.ts';
import { rpcCurlLine } from './curl-line.ts';
import { curlView } from './table-view.ts';

/** Returns the line that calls a chain's nodes through the gateway; empty if the gateway does not serve the chain. */
export function rpcCurlView({ gatewaySlug }: Chain, origin: string, method: string, params: readonly unknown[]): Html {
  if (gatewaySlug === null) return NOTHING;
  return curlView(rpcCurlLine(`${origin}/${gatewaySlug}/`, method, params), 'JSON-RPC request');
}
