import type { Chain } from '@chainstead/chains';
import { apiActorOf, errorResponses, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { createStreamStore } from '../records/stream-store.ts';
import type { StreamServices } from '../stream-services.ts';
import { checkStream } from './check-stream.ts';
import { createRequireContracts } from './contract-check.ts';
import { addressList, givenAddresses } from './given-addresses.ts';
import { idParameter } from './list-parameters.ts';
import { previewConfig } from './stream-config.ts';
import { notFound, StreamChainError } from './stream-errors.ts';
import { ADDRESSES_BOUNDS, answer, jsonBody } from './stream-response.ts';
import { existing, streamChains } from './stream-routes.ts';
import { findChain, previewMembers, type StreamChains } from './stream-schema.ts';
import { refuseInvalid } from './validation-failed.ts';

const TAGS = ['Streams'];

/** docs/api/streams-reference.md#stream-routes */
export function blockPreviewRoute(services: StreamServices): RouteModule {
  return (app, dependencies) => {
    const chains = streamChains(dependencies, services.chains);
    const requireContracts = createRequireContracts(dependencies.database);
    app.openapi(
      preview(chains),
      async (c) => {
        const { chainId: chain, blockNumber } = c.req.valid('param');
        const { addresses = [], ...given } = c.req.valid('json');
        const config = previewConfig(given, [chain.id]);
        checkStream(config, () => chain);
        await requireContracts(config, (id) => dependencies.chains.find(String(id)));
        const watched = givenAddresses(addresses, 'addresses');
        const shown = await services.previewBlock({ chain, blockNumber, config, addresses: watched });
        if (!shown.found) throw notFound('Block');
        return c.json(shown.body, 200);
      },
      refuseInvalid,
    );
  };
}

export function blockToWebhookRoute(services: StreamServices): RouteModule {
  return (app, dependencies) => {
    const store = createStreamStore(dependencies.database);
    const chains = streamChains(dependencies, services.chains);
    app.openapi(
      blockToWebhook(chains),
      async (c) => {
        const { chainId: chain, blockNumber, streamId } = c.req.valid('param');
        const stream = existing(await store.get(streamId));
        if (!stream.chainIds.includes(chain.id)) throw new StreamChainError(chain.key);
        if (!(await services.sendBlock({ chain, blockNumber, stream, by: apiActorOf(c) }))) throw notFound('Block');
        return c.json(null, 200);
      },
      refuseInvalid,
    );
  };
}

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

function preview(chains: StreamChains) {
  return createRoute({
    method: 'post',
    path: '/streams/evm/{chainId}/block/{blockNumber}',
    operationId: 'GetStreamBlockDataByNumber',
    tags: TAGS,
    summary: 'Preview the webhook of a block for a configuration',
    description: 'Nothing is sent or stored. Returns null if the block does not match.',
    request: {
      params: z.object({ chainId: chainMember(chains), blockNumber: blockNumberParameter }),
      body: jsonBody(
        z
          .strictObject({ ...previewMembers(), addresses: addressList.optional() })
          .openapi({ example: { addresses: ['0xd8da6bf26964af9d7eed9e03e53415d37aa96045'], includeNativeTxs: true } }),
      ),
    },
    ...ADDRESSES_BOUNDS,
    responses: {
      200: answer('The webhook', z.record(z.string(), z.unknown()).readonly().nullable()),
      ...errorResponses(400, 401, 404, 413, 500, 503),
    },
  });
}

function blockToWebhook(chains: StreamChains) {
  return createRoute({
    method: 'post',
    path: '/streams/evm/{chainId}/block-to-webhook/{blockNumber}/{streamId}',
    operationId: 'GetStreamBlockDataToWebhookByNumber',
    tags: TAGS,
    summary: 'Send the webhook of a block to a stream',
    request: {
      params: z.object({ chainId: chainMember(chains), blockNumber: blockNumberParameter, streamId: idParameter() }),
    },
    responses: { 200: answer('Accepted', z.null()), ...errorResponses(400, 401, 404, 429, 500, 503) },
  });
}
