import { describe, expect, it } from 'vitest';
import { environmentSource, parseConfiguration } from './index.ts';

const parse = (variables: Record<string, string>) => parseConfiguration([environmentSource(variables)]);
const chainsOf = (variables: Record<string, string>) =>
  parse(variables).configuration.names.chains.map(({ chain, upstreams }) => [
    chain.key,
    upstreams?.map(({ url }) => url) ?? null,
  ]);

describe('names', () => {
  it('are read from no chain unless it is indexed, or the gateway has chosen nodes of it', () => {
    expect(chainsOf({})).toEqual([]);
    expect(chainsOf({ CHAINS: 'arbitrum' })).toEqual([]);
    expect(chainsOf({ CHAINS: 'eth' })).toEqual([['eth', null]]);
    expect(chainsOf({ CHAINS: 'eth', HISTORY_ETH: 'era:/era' })).toEqual([]);
    const nodes = { RPC_URLS_ETH: 'https://a.example,https://b.example', RPC_URLS_BASE: 'http://c.example' };
    const served = { ...nodes, GATEWAY_CHAINS: 'eth,base,polygon,arbitrum' };
    expect(chainsOf(served)).toEqual([
      ['eth', ['https://a.example', 'https://b.example']],
      ['base', ['http://c.example']],
    ]);
    expect(chainsOf({ ...served, CHAINS: 'eth,polygon' })).toEqual([
      ['eth', null],
      ['polygon', null],
      ['base', ['http://c.example']],
    ]);
  });

  it('are read from no gateway of contracts by default', () => {
    expect(parse({}).configuration.names.asksGateways).toBe(false);
    expect(parse({ ENS_GATEWAYS: 'on' }).configuration.names.asksGateways).toBe(true);
    expect(() => parse({ ENS_GATEWAYS: 'maybe' })).toThrow('ENS_GATEWAYS');
  });
});
