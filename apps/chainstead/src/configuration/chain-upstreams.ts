import type { Chain } from '@chainstead/chains';
import type { UpstreamConfig } from '@chainstead/rpc';
import type { ChainSettings } from './chain-keys.ts';

export function upstreamsOf(chain: Chain, own: ChainSettings): UpstreamConfig[] {
  const limits = {
    ...(own.RPC_RATE === undefined ? {} : { requestsPerSecond: own.RPC_RATE }),
    ...(own.RPC_CONCURRENCY === undefined ? {} : { concurrency: own.RPC_CONCURRENCY }),
  };
  const urls = usesPublicUpstreams(own) ? chain.rpcUrls : (own.RPC_URLS ?? []);
  return [
    ...urls.map((url) => ({ url, ...limits })),
    ...(own.RPC_PRIVATE_URLS ?? []).map((url) => ({ url, ...limits, isPrivate: true })),
  ];
}

export function usesPublicUpstreams(own: ChainSettings): boolean {
  return own.RPC_URLS === undefined && own.RPC_PRIVATE_URLS === undefined && !hasNoNodes(own);
}

/** Era files need no node: public lists prove their blocks. */
export function hasNoNodes(own: ChainSettings): boolean {
  const { HISTORY = [], RPC_URLS, RPC_PRIVATE_URLS } = own;
  const isEraOnly = HISTORY.length > 0 && HISTORY.every(({ kind }) => kind === 'era');
  return isEraOnly && RPC_URLS === undefined && RPC_PRIVATE_URLS === undefined;
}

/** Upstreams in use: those over HTTP; private ones only without others. */
export function countRequested(upstreams: readonly UpstreamConfig[]): number {
  const http = upstreams.filter(({ url }) => url.startsWith('http'));
  return http.filter(({ isPrivate }) => isPrivate !== true).length || http.length;
}
