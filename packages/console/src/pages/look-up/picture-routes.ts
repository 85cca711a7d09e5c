import { isAddress, parseAddress } from '@chainstead/core';
import { NotFoundError } from '@chainstead/http';
import type { ConsoleRoutes, ConsoleServices, FileAnswer, PageRequest } from '../../console-page.ts';
import { chainNamed } from './subjects/choose-chain.ts';
import { readTokenId } from './subjects/read-subject.ts';

/** Opened by itself, a picture may do nothing; no other site gets it; the browser keeps it for itself, and takes it for nothing else. */
const PICTURE_HEADERS = {
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, max-age=3600',
};

/**
 * Pictures of NFTs and logos of collections, so that no browser asks strangers' servers. Only what indexed metadata names is read: a request says whose picture,
 * never from where.
 */
export function addPictureRoutes(routes: ConsoleRoutes, { lookUp, registry }: ConsoleServices): void {
  const answer = async ({ parameter }: PageRequest, id: string | null): Promise<FileAnswer> => {
    const chain = chainNamed({ registry, chains: lookUp.chains }, parameter('chain'));
    const tokenId = id === null ? null : readTokenId(id);
    if (!isAddress(parameter('address')) || (id !== null && tokenId === null))
      throw new NotFoundError('There is no such picture');
    const token = parseAddress(parameter('address'));
    const { bytes, type } = await lookUp.pictures.read(lookUp.reads, chain, { token, tokenId });
    return { content: bytes, type, headers: PICTURE_HEADERS };
  };
  routes.view('/look-up/picture/:chain/:address', (request) => answer(request, null));
  routes.view('/look-up/picture/:chain/:address/:token', (request) => answer(request, request.parameter('token')));
}
