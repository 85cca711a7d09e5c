import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, test } from 'vitest';
import {
  type AnsweredStream,
  clientOf,
  exampleServices,
  exampleStreamApi,
  MINIMAL,
} from './testing/example-stream-api.ts';

const scratch = scratchOfFile();

/** Ethereum nodes offer traces, Base nodes don't. */
function tracedServices() {
  return { ...exampleServices(), offersTraces: async ({ key }: { readonly key: string }) => key !== 'base' };
}

const REFUSED = {
  message: 'Validation Failed',
  details: {
    'requestBody.includeInternalTxs': {
      message: 'no node of base gives traces (debug_traceBlockByHash or trace_block)',
      value: true,
    },
  },
};

describe('internal transactions of a chain whose nodes give no traces', () => {
  test('are refused when a stream is created, before its webhook is tested', async () => {
    const services = tracedServices();
    const ask = clientOf(await exampleStreamApi(scratch.database, services));
    const stream = { ...MINIMAL, chainIds: ['0x1', '0x2105'], includeInternalTxs: true };
    expect(await ask('PUT', '/streams/evm', stream)).toMatchObject({ status: 400, body: REFUSED });
    expect(services.tested).toEqual([]);
    expect((await ask('PUT', '/streams/evm', { ...stream, chainIds: ['0x1'] })).status).toBe(200);
  });

  test('are refused when a stream is changed to them, or to the chain', async () => {
    const ask = clientOf(await exampleStreamApi(scratch.database, tracedServices()));
    const onBase = { ...MINIMAL, description: 'on Base', chainIds: ['0x2105'] };
    const { body: other } = await ask<AnsweredStream>('PUT', '/streams/evm', onBase);
    const change = await ask('POST', `/streams/evm/${other.id}`, { includeInternalTxs: true });
    expect(change).toMatchObject({ status: 400, body: REFUSED });
    const traced = { ...MINIMAL, description: 'traced', includeInternalTxs: true };
    const { body: stream } = await ask<AnsweredStream>('PUT', '/streams/evm', traced);
    const move = await ask('POST', `/streams/evm/${stream.id}`, { chainIds: ['0x2105'] });
    expect(move).toMatchObject({ status: 400, body: REFUSED });
  });
});
