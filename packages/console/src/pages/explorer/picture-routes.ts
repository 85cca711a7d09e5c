import { isAddress, parseAddress } from '@chainstead/core';
import { NotFoundError } from '@chainstead/http';
import type { ConsoleRoutes, ConsoleServices, FileAnswer, PageRequest } from '../../console-page.ts';
import { chainNamed } from './subjects/choose-chain.ts';
import { readTokenId } from './subjects/read-subject.ts';

/** A picture that is opened directly executes nothing; only the browser caches it, and its type is not sniffed. */
const PICTURE_HEADERS = {
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, max-age=3600',
};

/** Serves pictures of NFTs and logos. Only URIs from indexed metadata are read: a request never contains one. */
export function addPictureRoutes(routes: ConsoleRoutes, { explorer, registry }: ConsoleServices): void {
  const answer = async ({ parameter }: PageRequest, id: string | null): Promise<FileAnswer> => {
    const chain = chainNamed({ registry, chains: explorer.chains }, parameter('chain'));
    const tokenId = id === null ? null : readTokenId(id);
    if (!isAddress(parameter('address')) || (id !== null && tokenId === null))
      throw new NotFoundError('There is no such picture');
    const token = parseAddress(parameter('address'));
    const { bytes, type } = await explorer.pictures.read(explorer.reads, chain, { token, tokenId });
    return { content: bytes, type, headers: PICTURE_HEADERS };
  };
  routes.view('/look-up/picture/:chain/:address', (request) => answer(request, null));
  routes.view('/look-up/picture/:chain/:address/:token', (request) => answer(request, request.parameter('token')));
}
