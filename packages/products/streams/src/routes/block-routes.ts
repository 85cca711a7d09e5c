import type { Chain } from '@chainstead/chains';
import { apiActorOf } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { createStreamStore } from '../records/stream-store.ts';
import { checkStream } from './check-stream.ts';
import { defineStreamRoute, idParameter } from './define-stream-route.ts';
import { previewConfig } from './stream-checks.ts';
import { addressList, existing, givenAddresses, notFound, StreamChainError } from './stream-errors.ts';
import { ADDRESSES_BOUNDS } from './stream-response.ts';
import { findChain, previewMembers, type StreamChains } from './stream-schema.ts';

const blockPreviewRoute = (chains: StreamChains) =>
  defineStreamRoute({
    path: '/streams/evm/{chainId}/block/{blockNumber}',
    operationId: 'GetStreamBlockDataByNumber',
    tag: 'Streams',
    summary: 'Preview the webhook of a block for a configuration',
    description:
      'Nothing is sent or stored. Returns null if the block does not match. Four previews of a key run concurrently per process, and their node calls count against the key.',
    params: [{ chainId: chainMember(chains), blockNumber: blockNumberParameter }],
    body: z.strictObject({ ...previewMembers(), addresses: addressList.optional() }).openapi({
      example: { addresses: ['0xd8da6bf26964af9d7eed9e03e53415d37aa96045'], includeNativeTxs: true },
    }),
    bodyBounds: ADDRESSES_BOUNDS,
    response: { description: 'The webhook', schema: z.record(z.string(), z.unknown()).readonly().nullable() },
    errors: [404, 413, 429],
    async answer({ database, services, requester, chainId: chain, blockNumber, body }) {
      const { addresses = [], ...given } = body;
      const config = previewConfig(given, [chain.id]);
      checkStream(config, () => chain);
      await services.checks.requireContracts(database, config);
      const watched = givenAddresses(addresses, 'addresses');
      const shown = await services.blocksToShow.run(requester, () =>
        services.previewBlock({ chain, blockNumber, config, addresses: watched }),
      );
      if (!shown.found) throw notFound('Block');
      return shown.body;
    },
  });

const blockToWebhookRoute = (chains: StreamChains) =>
  defineStreamRoute({
    method: 'post',
    path: '/streams/evm/{chainId}/block-to-webhook/{blockNumber}/{streamId}',
    operationId: 'GetStreamBlockDataToWebhookByNumber',
    tag: 'Streams',
    summary: 'Send the webhook of a block to a stream',
    params: [{ chainId: chainMember(chains), blockNumber: blockNumberParameter, streamId: idParameter() }],
    response: { description: 'Accepted', schema: z.null() },
    errors: [404, 429],
    async answer({ database, services, requester, chainId: chain, blockNumber, streamId, c }) {
      const stream = existing(await createStreamStore(database).get(streamId));
      if (!stream.chainIds.includes(chain.id)) throw new StreamChainError(chain.key);
      const isSent = await services.blocksToSend.run(requester, () =>
        services.sendBlock({ chain, blockNumber, stream, by: apiActorOf(c) }),
      );
      if (!isSent) throw notFound('Block');
      return null;
    },
  });

/** docs/api/streams-reference.md#stream-routes */
export const blockRoutes = (chains: StreamChains) => [blockPreviewRoute(chains), blockToWebhookRoute(chains)];

export function chainMember(chains: StreamChains) {
  return z
    .string()
    .transform((id, ctx): Chain => {
      const chain = findChain(chains, id);
      if (typeof chain !== 'string') return chain;
      ctx.addIssue({ code: 'custom', message: chain });
      return z.NEVER;
    })
    .openapi({ type: 'string', example: '0x1' });
}

const blockNumberParameter = z
  .string()
  .transform((text, ctx): number => {
    const block = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(block)) return block;
    ctx.addIssue({ code: 'custom', message: 'invalid integer number' });
    return z.NEVER;
  })
  .openapi({ type: 'integer', minimum: 0, example: 20000000 });
